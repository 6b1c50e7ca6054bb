"""Load on a tournament's site: a server in a process of its own, and clients that cost little themselves.

The clients are coroutines over plain sockets, without a library for HTTP, since they share the cores with the server.
"""

import asyncio
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import psutil

from scenarios.tournament.rules.folder import Tournament, csv_bytes
from scenarios.tournament.site.account_store import form_token, host_name
from scenarios.tournament.site.accounts import Accounts

LINE = b"\r\n"
LATEST = 2.0
"""Seconds within which the page's script loads the page after an event."""


class SiteProcess:
    """`tokumei tournament serve` on loopback, and the memory of all its processes."""

    def __init__(self, folder, *options):
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.port = one.getsockname()[1]
        self.folder = folder
        accounts = Accounts(folder / "host", Tournament(folder).settings.teams)
        teams = Tournament(folder).settings.teams
        self.tokens = {name: accounts.sessions.start(name, datetime.now(UTC)) for name in (*teams, host_name(teams))}
        program = "from tokumei import main; main()"
        address = ["--address", f"127.0.0.1:{self.port}"]
        command = [sys.executable, "-c", program, "tournament", "serve", str(folder), *address, *options]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
        self.child = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        self.largest = 0
        self._stopping = threading.Event()
        self._watching = threading.Thread(target=self._watch)
        self._watching.start()
        self._await_health()

    def _await_health(self):
        for _ in range(300):
            if self.child.poll() is not None:
                raise RuntimeError(f"the server ended with {self.child.returncode}")
            with suppress(OSError):
                asyncio.run(Client(self.port).send(request("GET", "/health")))
                return
            time.sleep(0.1)
        raise RuntimeError("the server does not answer")

    def memory(self):
        """Bytes of all processes of the server; pages that they share count once (proportional set size)."""
        total = 0
        with suppress(psutil.Error):
            for one in (psutil.Process(self.child.pid), *psutil.Process(self.child.pid).children(recursive=True)):
                with suppress(OSError):
                    text = Path(f"/proc/{one.pid}/smaps_rollup").read_text()
                    total += 1024 * int(text.partition("\nPss:")[2].split()[0])
        return total

    def processor_seconds(self):
        """Time of the main process on processors, in seconds."""
        return sum(psutil.Process(self.child.pid).cpu_times()[:2])

    def _watch(self):
        while not self._stopping.wait(0.5):
            self.largest = max(self.largest, self.memory())

    def stop(self):
        self._stopping.set()
        self._watching.join()
        self.child.send_signal(signal.SIGINT)
        self.child.wait(300)

    def decision(self, action, **fields):
        """A request by which the host decides."""
        token = self.tokens[host_name(Tournament(self.folder).settings.teams)]
        body = urlencode({"form_token": form_token(token), **fields}).encode()
        kind = b"Content-Type: application/x-www-form-urlencoded"
        cookie = b"Cookie: tokumei-session=" + token.encode()
        return request("POST", f"/host/{action}", b"Accept: application/json", cookie, kind, body=body)

    def upload(self, team, files):
        """A request that uploads files, by name and content."""
        return upload_request(self.tokens[team], team, files)


@contextmanager
def serving(folder, *options):
    """A running server."""
    site = SiteProcess(folder, *options)
    try:
        yield site
    finally:
        site.stop()


def upload_request(token, team, files):
    """A request that uploads files of a team, by name and content, in the session of a token."""
    boundary = b"----" + os.urandom(12).hex().encode()
    parts = [
        b'--%b\r\nContent-Disposition: form-data; name="form_token"\r\n\r\n%b\r\n'
        % (boundary, form_token(token).encode())
    ]
    parts += [
        b'--%b\r\nContent-Disposition: form-data; name="file"; filename="%b"\r\n\r\n%b\r\n'
        % (boundary, name.encode(), content)
        for name, content in files
    ]
    body = b"".join(parts) + b"--" + boundary + b"--\r\n"
    kind = b"Content-Type: multipart/form-data; boundary=" + boundary
    cookie = b"Cookie: tokumei-session=" + token.encode()
    return request("POST", f"/team/{team}/upload", b"Accept: application/json", cookie, kind, body=body)


def request(method, path, *headers, body=None):
    length = () if body is None else (b"Content-Length: %d" % len(body),)
    lines = (f"{method} {path} HTTP/1.1".encode(), b"Host: 127.0.0.1", *headers, *length)
    return LINE.join(lines) + 2 * LINE + (body or b"")


class Client:
    """One connection, which is opened again when the server has ended it."""

    def __init__(self, port):
        self._port, self._streams = port, None

    async def send(self, data):
        """Status and body of the answer to a request."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        writer.write(data)
        head = await reader.readuntil(2 * LINE)
        length = head.lower().partition(b"content-length:")[2].split(LINE)[0]
        body = await reader.readexactly(int(length or 0))
        return int(head.split(b" ", 2)[1]), body

    def close(self):
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def at_once(port, clients, calls):
    """Send requests by so many clients, each one after another; status, body, begin and end of each, in order."""
    waiting, answers = iter(range(len(calls))), [None] * len(calls)

    async def work():
        client = Client(port)
        for number in waiting:
            began = time.time()
            status, body = await client.send(calls[number])
            answers[number] = status, body, began, time.time()
        client.close()

    await asyncio.gather(*(work() for _ in range(clients)))
    return answers


async def one_by_one(port, calls, starts):
    """Send each request by a client of its own at its moment; status, body, begin and end of each, in order."""

    async def send(call, start):
        await asyncio.sleep(start - time.time())
        client, began = Client(port), time.time()
        status, body = await client.send(call)
        client.close()
        return status, body, began, time.time()

    return await asyncio.gather(*map(send, calls, starts))


class Viewer(asyncio.Protocol):
    """An open board: it receives events, and loads the page as the page's script does, and every so many seconds."""

    PAGE = request("GET", "/", b"Accept: text/html", b"Accept-Encoding: gzip", b"Connection: close")
    EVENTS = request("GET", "/live")

    def __init__(self, crowd):
        self._crowd, self.events, self._waiting = crowd, 0, False

    def connection_made(self, transport):
        self.transport = transport
        transport.write(self.EVENTS)

    def data_received(self, data):
        changes = data.count(b"event: changed")
        self.events += changes
        if changes and not self._waiting:
            self._waiting = True
            asyncio.get_running_loop().call_later(random.uniform(0.2, LATEST), self._load)

    def connection_lost(self, error):
        self._crowd.lost += not self._crowd.leaving

    def _load(self):
        self._waiting = False
        self._crowd.spawn(self.load())

    async def load(self):
        client, began = Client(self._crowd.port), time.perf_counter()
        status, body = await client.send(self.PAGE)
        self._crowd.seconds.append(time.perf_counter() - began)
        self._crowd.bytes = len(body)
        client.close()
        assert status == 200


class Crowd:
    """Viewers of the board."""

    def __init__(self, port, count, every):
        self.port, self._count, self._every = port, count, every
        self.seconds, self.viewers, self._tasks = [], [], set()
        self.lost, self.leaving, self.bytes = 0, False, 0

    def spawn(self, work):
        task = asyncio.ensure_future(work)
        self._tasks.add(task)

    async def _visit(self):
        await asyncio.sleep(random.uniform(0, 2))
        loop = asyncio.get_running_loop()
        _, viewer = await loop.create_connection(lambda: Viewer(self), "127.0.0.1", self.port)
        self.viewers.append(viewer)
        await asyncio.sleep(random.uniform(0, self._every))
        while not self.leaving:
            await viewer.load()
            await asyncio.sleep(self._every)

    async def __aenter__(self):
        for _ in range(self._count):
            self.spawn(self._visit())
        while len(self.viewers) < self._count:
            await asyncio.sleep(0.1)
        return self

    async def __aexit__(self, *error):
        self.leaving = True
        for task in self._tasks:
            task.cancel() if not task.done() else None
        failures = [one.exception() for one in self._tasks if one.done() and not one.cancelled() and one.exception()]
        for viewer in self.viewers:
            viewer.transport.abort()
        if failures and error[0] is None:
            raise failures[0]


def figures(seconds):
    """Median, 95th percentile and largest of some times, in words."""
    median, late, largest = np.percentile(seconds, [50, 95, 100])
    return f"median {median:.3f} s, 95th percentile {late:.3f} s, longest {largest:.3f} s"


def tables(cup, team, count):
    """Valid tables of a team that all differ: rotated rows."""
    frame = cup.frame(team)
    return [csv_bytes(frame.iloc[np.roll(np.arange(len(frame)), number)]) for number in range(count)]


def answers_of(body):
    return json.loads(body)["files"]
