"""A server that stops ends the live connections of open pages."""

import socket
import threading
import time

from site_tools import Served

from scenarios.tournament.site.application import SiteServer, server_config


def test_a_live_connection_ends_when_the_server_stops(first_phase, caplog):
    site = Served(first_phase).site
    config = server_config(site)
    config.port, config.log_config = 0, None
    config.timeout_graceful_shutdown = 2
    server = SiteServer(config, site.updates)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    address = server.servers[0].sockets[0].getsockname()
    with socket.create_connection(address, 60) as viewer:
        viewer.sendall(b"GET /live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        received = b""
        while b"retry" not in received:
            received += viewer.recv(4096)
        server.should_exit = True
        while chunk := viewer.recv(4096):
            received += chunk
    thread.join(60)
    assert not thread.is_alive()
    # The last chunk of a stream is empty; a connection that is cut off lacks it.
    assert received.endswith(b"0\r\n\r\n")
    assert not [one for one in caplog.records if one.levelname == "ERROR"]
