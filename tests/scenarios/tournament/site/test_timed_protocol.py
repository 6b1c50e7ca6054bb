"""Slow clients: each is disconnected after its time, and holds up nobody else."""

import socket
import threading
import time
from contextlib import contextmanager
from datetime import timedelta

import pytest
import uvicorn
from load_tools import upload_request
from run_tools import PATIENCE, wait_until
from site_tools import Served
from tournament_tools import DAY, START

from scenarios.tournament.site import posted_form, timed_protocol
from scenarios.tournament.site.application import server_config
from scenarios.tournament.site.pages.answers import static_content
from scenarios.tournament.site.timed_protocol import TimedProtocol, TimeLimits

pytestmark = pytest.mark.waits

SHORT = TimeLimits(header=0.4, body=0.4, stalled=0.4)
NEVER = 10.0 * PATIENCE
"""A limit in seconds that no test reaches."""


class Running:
    """A site on a port of this machine."""

    def __init__(self, folder, limits, connections=None, by_hand=False):
        self.site = Served(folder).site
        config = server_config(self.site)
        self.asked, self.looks = 0, 0

        def look(connection):
            if by_hand and self.looks == self.asked:
                connection._look = connection.loop.call_later(0.01, connection._check)
            else:
                TimedProtocol._check(connection)
                self.looks += 1

        config.http = type("ShortProtocol", (TimedProtocol,), {"limits": limits, "_check": look})
        config.limit_concurrency = connections or config.limit_concurrency
        self.server = uvicorn.Server(config)
        listening = socket.socket()
        # Small buffers of the system, so that unread responses wait in the server.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        listening.bind(("127.0.0.1", 0))
        self.address = listening.getsockname()
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [listening]})

    def look(self):
        """Let the server look at its connection; whether it has one."""
        self.asked += 1
        wait_until(lambda: self.looks == self.asked or not self.server.server_state.connections)
        return self.looks == self.asked

    def connect(self, data=b""):
        one = socket.socket()
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.settimeout(PATIENCE)
        one.connect(self.address)
        one.sendall(data)
        return one

    def get(self, path="/health"):
        """Status line of an answer."""
        with self.connect(f"GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n".encode()) as one:
            return received(one).split(b"\r\n")[0]


@pytest.fixture
def running(first_phase, tmp_path):
    """Starts the site with limits; it stops after the test."""
    import shutil

    folder = shutil.copytree(first_phase, tmp_path / "cup")

    @contextmanager
    def start(limits=SHORT, **options):
        one = Running(folder, limits, **options)
        one.thread.start()
        try:
            wait_until(lambda: one.server.started)
            yield one
        finally:
            one.server.should_exit = True
            one.thread.join(PATIENCE)

    return start


def received(connection):
    """All that a server sends until it ends the connection."""
    data = b""
    try:
        while more := connection.recv(65536):
            data += more
    except ConnectionResetError:
        pass
    return data


def drip(connection, data, pause=0.02):
    """Send a byte at a time; whether the server ended the connection before all were sent."""
    connection.setblocking(False)
    for byte in data:
        time.sleep(pause)
        try:
            connection.send(bytes([byte]))
            if connection.recv(65536) == b"":
                return True
        except BlockingIOError:
            pass
        except OSError:
            return True
    return False


HEADER = b"GET /health HTTP/1.1\r\nHost: test\r\nX-Slow: " + b"s" * 1000


@pytest.mark.thorough
def test_a_header_that_arrives_byte_by_byte(running):
    """Twenty seconds at fifty bytes a second; the limit is 0.4 s."""
    with running() as site, site.connect() as slow:
        assert drip(slow, HEADER)
        assert site.get() == b"HTTP/1.1 200 OK"


@pytest.mark.thorough
def test_a_slow_header_within_its_time(running):
    """Looks that come before the time is over leave the connection as it is."""
    limits = TimeLimits(header=NEVER, body=NEVER, stalled=SHORT.stalled)
    with running(limits, by_hand=True) as site, site.connect(HEADER) as slow:
        wait_until(lambda: site.server.server_state.connections)
        assert all(site.look() for _ in range(6))
        slow.sendall(b"\r\nConnection: close\r\n\r\n")
        assert received(slow).startswith(b"HTTP/1.1 200")


@pytest.mark.thorough
def test_a_connection_that_sends_nothing(running):
    with running() as site, site.connect() as silent:
        assert received(silent) == b""


@pytest.mark.thorough
def test_a_second_header_that_arrives_byte_by_byte(running):
    """The first request on a connection buys no time for the second."""
    with running() as site, site.connect(b"GET /health HTTP/1.1\r\nHost: test\r\n\r\n") as slow:
        assert slow.recv(65536).startswith(b"HTTP/1.1 200")
        assert drip(slow, HEADER)


def test_many_slow_clients_do_not_hold_all_connections(running):
    """Of eight places, slow clients take all; a guest gets one at once, at the expense of the oldest."""
    with running(TimeLimits(header=NEVER, body=NEVER, stalled=NEVER), connections=8) as site:
        slow = [site.connect(HEADER) for _ in range(12)]
        for _ in range(10):
            assert site.get() == b"HTTP/1.1 200 OK"
        assert received(slow[0]) == b""
        wait_until(lambda: len(site.server.server_state.connections) <= 8)
        for one in slow:
            one.close()


@pytest.mark.thorough
def test_a_body_that_stalls(running, monkeypatch):
    """The site says so and ends the connection; nothing of the upload is left."""
    monkeypatch.setattr(posted_form, "SECONDS", 0.3)
    head = b"POST /log-in HTTP/1.1\r\nHost: test\r\nContent-Type: multipart/form-data; boundary=b\r\n"
    with running() as site, site.connect(head + b"Content-Length: 1000\r\n\r\n--b\r\n") as stalled:
        answer = received(stalled)
        assert answer.startswith(b"HTTP/1.1 408")
        assert b"took longer" in answer
        assert not list(site.site.uploads.iterdir())


@pytest.mark.thorough
def test_a_body_that_nobody_reads(running):
    """The upload is refused by its header; the rest of its body may not keep the connection."""
    head = b"POST /team/kyoto/upload HTTP/1.1\r\nHost: test\r\nAccept: application/json\r\n"
    with running() as site, site.connect(head + b"Content-Length: 100000\r\n\r\n") as slow:
        assert slow.recv(65536).startswith(b"HTTP/1.1 401")
        assert drip(slow, b"b" * 1000)


@pytest.fixture
def without_kernel(monkeypatch):
    """The system itself ends no connection, so that the site must."""
    monkeypatch.setattr(timed_protocol, "_end_without_acknowledgement", lambda transport, seconds: None)


REQUEST = b"GET /static/site.css HTTP/1.1\r\nHost: test\r\n\r\n"
MANY, FEWER = 40, 16


@pytest.mark.thorough
def test_a_client_that_reads_nothing(running, without_kernel):
    """The responses do not stay in memory for longer than the limit."""
    with running() as site, site.connect(REQUEST * MANY) as deaf:
        connections = site.server.server_state.connections
        wait_until(lambda: any(one.transport.get_write_buffer_size() for one in connections))
        wait_until(lambda: not connections)
        assert received(deaf).count(b"HTTP/1.1 200") < MANY


@pytest.mark.thorough
def test_a_client_that_reads_slowly(running, without_kernel):
    """Something is read before each look, and there are twice as many as the limit has: all responses arrive."""
    last = REQUEST.replace(b"Host", b"Connection: close\r\nHost")
    with running(by_hand=True) as site, site.connect(REQUEST * FEWER + last) as slow:
        data = b""
        while more := slow.recv(4096):
            data += more
            site.look()
        assert data.count(b"HTTP/1.1 200") == FEWER + 1
        assert data.endswith(static_content("site.css"))
        assert site.looks > 2 * SHORT.stalled / SHORT.every


@pytest.mark.thorough
def test_an_open_board_stays_open(running):
    """Viewers who wait for events are neither late nor stalled."""
    with running() as site, site.connect(b"GET /live HTTP/1.1\r\nHost: test\r\n\r\n") as viewer:
        wait_until(lambda: site.site.updates.listeners == 1)
        time.sleep(4 * SHORT.header)
        assert site.site.updates.listeners == 1
        (site.site.folder / "public" / "standings.csv").write_text("rank,team,utility,worst_success\n")
        data = b""
        while data.count(b"event: changed") < 1:
            data += viewer.recv(65536)
        viewer.close()
        wait_until(lambda: site.site.updates.listeners == 0)


def answer(connection):
    """JSON of an answer, which may come in parts."""
    data = b""
    while not data.endswith(b"}"):
        data += connection.recv(65536)
    return data


@pytest.mark.thorough
def test_an_upload_counts_from_its_last_byte(running):
    """A file that arrived before the deadline is accepted, even if the server is busy until after it."""
    with running(TimeLimits()) as one:
        site, end = one.site, START + DAY
        token = site.accounts.sessions.start("kyoto", end)
        whole = upload_request(token, "kyoto", [("kyoto_anonymized.csv", b"no,table\n")])
        real, asked, goes_on = site.accounts.user, threading.Event(), threading.Event()

        def busy(*given):
            asked.set()
            assert goes_on.wait(PATIENCE)
            return real(*given)

        site.accounts.user = busy
        # The time at which both uploads are handled.
        site.clock.now = end + timedelta(seconds=0.5)
        with one.connect(whole) as early:
            assert asked.wait(PATIENCE)
            time.sleep(1.0)
            goes_on.set()
            assert b"ended at" not in answer(early)
        asked.clear()
        goes_on.clear()
        # So long after the end that no delay of this machine makes the upload early.
        site.clock.now = end + timedelta(seconds=PATIENCE)
        with one.connect(whole[:-10]) as late:
            assert asked.wait(PATIENCE)
            late.sendall(whole[-10:])
            goes_on.set()
            assert b"ended at" in answer(late)
