"""A process with the program's packages loaded, from which tests fork the program as a process of its own.

Run as ``python fork_server.py DESCRIPTOR [LISTENER]``. Each message on that socket is a request, with descriptors:
standard input, output and error of a process, and a socket for its id and its exit status. A request for a server of
workers has the two descriptors of that instead. `forked_process` sends requests. Other processes connect to a listener.
"""

import contextlib
import fcntl
import gc
import importlib
import io
import json
import os
import runpy
import select
import selectors
import signal
import socket
import sys
import tempfile
import time
import types
from multiprocessing import util

PRELOADED = (
    "scenarios.running.workers.preload",
    "scenarios.running.runner",
    "scenarios.commands.cli",
    "scenarios.running.methods.methods",
    "scenarios.datasets",
    "scenarios.tournament.host.scoring_queue",
    "leaderboard.pages.latex",
    "pyarrow.parquet",
    "sqlite3",
)
COMMANDS = ("attack", "board", "choose", "compare", "defend", "list", "rank", "risk", "run", "utility", "validate")
"""Commands that tests run most often as processes; each loads its own modules."""
USED = (
    "scenarios.games.candidate_file",
    "defenses.grouping.mondrian.mondrian",
    "attacks.linkage.nearest_neighbour",
    "scenarios.tournament.rules.scoring",
)
MOST_BYTES = 2**20
"""Largest request."""


def serve(control, listeners):
    """Fork a process for each request.

    Returns
    -------
    dict or None
        In a forked process, its request, after it has got its descriptors; None in the server when tests have ended.
    """
    waiting, connections = {}, {control}
    selector = selectors.DefaultSelector()
    selector.register(control, selectors.EVENT_READ)
    for listener in listeners:
        selector.register(listener, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj in listeners:
                connection, _ = key.fileobj.accept()
                connections.add(connection)
                selector.register(connection, selectors.EVENT_READ)
                continue
            if key.fileobj not in connections:
                selector.unregister(key.fileobj)
                pid, report = waiting.pop(key.fileobj)
                os.close(key.fileobj)
                _, status = os.waitpid(pid, 0)
                # Tests may have dropped a process that they killed.
                with contextlib.suppress(OSError), report:
                    report.send(str(status).encode())
                continue
            message, descriptors, _, _ = socket.recv_fds(key.fileobj, MOST_BYTES, 4)
            if not message and key.fileobj is control:
                return None
            if not message:
                selector.unregister(key.fileobj)
                connections.discard(key.fileobj)
                key.fileobj.close()
                continue
            *streams, last = descriptors
            report = socket.socket(fileno=last)
            request = json.loads(message)
            for name in request.get("modules", ()):
                # The process itself will say what is missing.
                with contextlib.suppress(ImportError):
                    importlib.import_module(name)
            pid = os.fork()
            if pid == 0:
                for watched, (_, other) in waiting.items():
                    os.close(watched)
                    other.close()
                for one in (selector, report, *connections, *listeners):
                    one.close()
                if "workers" in request:
                    return request | {"descriptors": streams}
                for number, stream in enumerate(streams):
                    os.dup2(stream, number)
            for stream in streams:
                os.close(stream)
            if pid == 0:
                return request
            if request.get("has_group"):
                os.setpgid(pid, pid)
            report.send(str(pid).encode())
            watched = os.pidfd_open(pid)
            waiting[watched] = pid, report
            selector.register(watched, selectors.EVENT_READ)


def set_streams(encoding):
    """Open the standard streams as an interpreter does at its start, without what the server may have buffered."""
    binary = [open(number, mode, closefd=False) for number, mode in enumerate(("rb", "wb", "wb"))]  # noqa: SIM115
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(binary[0], encoding)
    sys.stdout = sys.__stdout__ = io.TextIOWrapper(binary[1], encoding, newline="\n")
    errors = {"errors": "backslashreplace", "newline": "\n", "line_buffering": True}
    sys.stderr = sys.__stderr__ = io.TextIOWrapper(binary[2], encoding, **errors)


def fork_workers_server():
    """Have `multiprocessing` take a copy of this process as its server of workers.

    A new interpreter would load the packages again, in two seconds of processor time. The copy is made before the
    program runs, so that it has nothing of what the program loads or reads.
    """
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        ours.close()
        serve_workers(theirs)
        os._exit(0)
    theirs.close()
    start = util.spawnv_passfds

    def use_copy(path, arguments, descriptors):
        if "multiprocessing.forkserver" not in arguments[-1]:
            return start(path, arguments, descriptors)
        # If that server is lost, the next one is a new interpreter.
        util.spawnv_passfds = start
        with ours:
            socket.send_fds(ours, [json.dumps([arguments[-1], descriptors]).encode()], descriptors)
        return pid

    util.spawnv_passfds = use_copy


def serve_workers(control):
    """Run the code of the server of workers, once it comes."""
    # As in that server: Ctrl-C is for the program alone.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    message, descriptors, _, _ = socket.recv_fds(control, MOST_BYTES, 2)
    if not message:
        return
    control.close()
    run_workers_server(*json.loads(message), descriptors)


def run_workers_server(code, numbers, descriptors):
    """Run the code of a server of workers, which names descriptors by their numbers in the program."""
    moved = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, max(numbers) + 1) for descriptor in descriptors]
    for descriptor in descriptors:
        os.close(descriptor)
    for number, descriptor in zip(numbers, moved, strict=True):
        os.dup2(descriptor, number)
        os.close(descriptor)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.modules["__main__"] = types.ModuleType("__main__")
    with contextlib.suppress(SystemExit):
        exec(code)


def become(request):
    """Give this process the folder, environment and streams of a new interpreter, and run its module or script."""
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    tempfile.tempdir = None
    sys.modules["numpy"].random.seed()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    set_streams(sys.__stdout__.encoding)
    program, *sys.argv[1:] = request["command"]
    is_script = program.endswith(".py")
    sys.path[0] = os.path.dirname(os.path.abspath(program)) if is_script else os.getcwd()
    fork_workers_server()
    if is_script:
        sys.argv[0] = program
        runpy.run_path(program, run_name="__main__")
    else:
        runpy.run_module(program, run_name="__main__", alter_sys=True)


def main():
    """Load the packages, then serve."""
    control, *listeners = (socket.socket(fileno=int(descriptor)) for descriptor in sys.argv[1:])
    # Packages are loaded when the first request comes, if there is one.
    select.select([control, *listeners], [], [])
    for name in (*PRELOADED, *(f"scenarios.commands.{name}" for name in COMMANDS)):
        importlib.import_module(name)
    methods = sys.modules["scenarios.running.methods.methods"]
    for kind in ("defenses", "attacks"):
        methods.exported(kind)
    # Runs of most tests read the sources of these; to parse them takes a second.
    sys.modules["scenarios.running.methods.fingerprint"].closure(USED)
    # Most runs play on this table, which every process would read again.
    sys.modules["scenarios.datasets"].load("bank")
    gc.collect()
    gc.freeze()
    request = serve(control, listeners)
    if request and "workers" in request:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        run_workers_server(*request["workers"], request["descriptors"])
    elif request:
        become(request)


if __name__ == "__main__":
    main()
