"""Starting the server of a tournament's site."""

from __future__ import annotations

import ipaddress
import os
import resource
import shutil
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.util import get_temp_dir
from pathlib import Path

import uvicorn

from metrics.columns import refuse
from scenarios.running.workers.interrupts import Terminated, terminable
from scenarios.tournament.rules.folder import SITE_LOCK
from scenarios.tournament.rules.log import locked_file
from scenarios.tournament.site.application import application
from scenarios.tournament.site.journal import LiveUpdates
from scenarios.tournament.site.site import Site
from scenarios.tournament.site.timed_protocol import TimedProtocol
from scenarios.tournament.site.workers import BackgroundScoring

# Addresses at which a site may listen.


def parsed_address(text: str) -> tuple[str, int]:
    """Host and port of an address such as ``127.0.0.1:8000`` or ``[::1]:8000``.

    Raises
    ------
    ValueError
        If it is no such address.
    """
    host, colon, port = text.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    refuse(
        not colon or not port.isdecimal() or int(port) > 65535 or not host or (":" in host and not bracketed),
        f"--address must be HOST:PORT such as 127.0.0.1:8000 or [::1]:8000, got {text!r}",
    )
    return host.removeprefix("[").removesuffix("]"), int(port)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host name or address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_exposure(host: str, *, proxy: str | None, certificate: Path | None, key: Path | None) -> None:
    """Refuse an address that others can reach unless visitors come by TLS.

    Raises
    ------
    ValueError
        If passwords would cross the network without encryption, or the files for TLS do not fit.
    """
    refuse((certificate is None) != (key is None), "TLS needs both --tls-certificate and --tls-key")
    refuse(
        certificate is not None and proxy is not None,
        "use either --trust-proxy, if a proxy does TLS, or --tls-certificate with --tls-key",
    )
    refuse(
        certificate is None and proxy is None and not is_loopback(host),
        f"{host} can be reached by others, and passwords would cross the network unencrypted; use --tls-certificate "
        "with --tls-key, or --trust-proxy behind a proxy that does TLS, or 127.0.0.1",
    )
    if certificate is not None and key is not None:
        try:
            ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key)
        except (OSError, ssl.SSLError) as error:
            raise ValueError(f"{certificate} and {key}: cannot be used for TLS ({error})") from None


# The folder of a server's sockets, which a killed server leaves behind and the next one removes.

_LONGEST = 4096
"""Longest name in bytes."""
_PREFIX = "pymp-"
"""How Python begins the name of such a folder."""


@contextmanager
def temporary_folder_named(handle: int) -> Iterator[None]:
    """Name the folder in a file while the server runs; remove the one that the file names still.

    Parameters
    ----------
    handle : int
        Descriptor of the file, which no other server may use meanwhile.
    """
    _remove(os.pread(handle, _LONGEST, 0))
    os.ftruncate(handle, 0)
    os.pwrite(handle, os.fsencode(get_temp_dir()), 0)
    try:
        yield
    finally:
        # Python removes the folder itself when it ends in order.
        os.ftruncate(handle, 0)


def _remove(name: bytes) -> None:
    folder = Path(os.fsdecode(name))
    if folder.is_absolute() and folder.name.startswith(_PREFIX) and not folder.is_symlink():
        shutil.rmtree(folder, ignore_errors=True)


# Server of a tournament's site.


class SiteServer(uvicorn.Server):
    """Server of a site that ends live connections when it stops; uvicorn waits for them and then cuts them off.

    Parameters
    ----------
    config : uvicorn.Config
        Configuration of the server.
    updates : LiveUpdates
        The live connections of the site.
    """

    def __init__(self, config: uvicorn.Config, updates: LiveUpdates) -> None:
        super().__init__(config)
        self._updates = updates

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End all connections and stop."""
        self._updates.stop()
        await super().shutdown(sockets)


_GRACE = 5
"""Seconds that open connections have to end when the server stops."""
_CONNECTIONS = 4096
"""Largest number of open connections; an open board takes one, and its page another one for a moment."""
_OTHER_FILES = 256
"""Files that the server opens besides connections."""


def serve(
    folder: Path,
    address: str,
    *,
    proxy: str | None = None,
    certificate: Path | None = None,
    key: Path | None = None,
    processes: int = 2,
    scoring: BackgroundScoring | None = None,
    announce: Callable[[int], None] = lambda _: None,
) -> None:
    """Serve the site of a tournament until the process is interrupted; SIGTERM ends it without an error.

    Parameters
    ----------
    folder : Path
        The tournament's folder.
    address : str
        Host and port.
    proxy : str, optional
        Addresses, with commas between them, of the proxies whose ``X-Forwarded-For`` and ``X-Forwarded-Proto`` hold.
    certificate, key : Path, optional
        Files for TLS.
    processes : int
        Number of worker processes.
    scoring : BackgroundScoring, optional
        Scores in the background; by default nothing does.
    announce : callable, optional
        Called with the port once the address is ours; for port 0, the system has chosen one.

    Raises
    ------
    ValueError
        If the address is unsafe or taken, or another server serves this tournament.
    """
    host, port = parsed_address(address)
    check_exposure(host, proxy=proxy, certificate=certificate, key=key)
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise ValueError(f"{address}: cannot be used ({error.strerror})") from None
    with listening, served_once(folder):
        secure = proxy is not None or certificate is not None
        site = Site(folder, processes=processes, secure=secure, scoring=scoring)
        config = server_config(site, proxy=proxy, certificate=certificate, key=key)
        announce(listening.getsockname()[1])
        # The server raises a signal again once it has stopped. Python must end by itself even so, since a process that
        # dies of SIGTERM leaves the semaphores of its workers behind.
        with suppress(Terminated), terminable():
            SiteServer(config, site.updates).run(sockets=[listening])


def server_config(
    site: Site, *, proxy: str | None = None, certificate: Path | None = None, key: Path | None = None
) -> uvicorn.Config:
    """Configuration of the server of a site; see `serve`."""
    return uvicorn.Config(
        application(site),
        http=TimedProtocol,
        limit_concurrency=_connections(),
        # Addresses hold the tokens of invitations.
        access_log=False,
        log_level="warning",
        server_header=False,
        proxy_headers=proxy is not None,
        forwarded_allow_ips=proxy or [],
        ssl_certfile=certificate,
        ssl_keyfile=key,
        timeout_graceful_shutdown=_GRACE,
    )


def _connections() -> int:
    """Largest number of connections, after this process may open as many files as the system permits."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _CONNECTIONS + _OTHER_FILES
    limit = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    if now != resource.RLIM_INFINITY and now < limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, most))
    return max(limit - _OTHER_FILES, limit // 2)


@contextmanager
def served_once(folder: Path) -> Iterator[None]:
    """Hold the lock of a tournament's site, so that no second server runs; it ends with this process at the latest.

    Raises
    ------
    ValueError
        If another server holds it, or there is no tournament.
    """
    path = folder / "host" / SITE_LOCK
    with ExitStack() as held:
        try:
            handle = held.enter_context(locked_file(path, wait=False))
        except BlockingIOError:
            raise ValueError(f"{folder}: is served already by another process") from None
        except (FileNotFoundError, NotADirectoryError):
            raise ValueError(f"{folder}: is no tournament; `tokumei tournament init {folder}` makes one") from None
        except OSError as error:
            raise ValueError(f"{path}: cannot be written ({error.strerror}); the server needs to write there") from None
        with temporary_folder_named(handle):
            yield
