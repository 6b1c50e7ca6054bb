"""Processes that are forked from a server with the program's packages loaded, in the place of `subprocess.Popen`.

A fork takes a hundredth of the processor time of a new interpreter, which would load the same packages again.
"""

import atexit
import functools
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from multiprocessing import forkserver, util
from pathlib import Path

SERVER = Path(__file__).with_name("fork_server.py")
READ_AT_START = ("PYTHON", "LC_", "LANG", "OMP_", "OPENBLAS_", "MKL_", "MALLOC", "LD_")
"""Beginnings of names of environment variables that a process reads only while it starts."""


def at_start(environment):
    """What a new interpreter would read from the environment before it runs anything."""
    return {name: text for name, text in environment.items() if name.startswith(READ_AT_START)}


class ForkedProcess(subprocess.Popen):
    """A module that runs as a process of its own, as by ``python -m``.

    It starts as a copy of a server that has loaded the packages. All else is as of any other process: descriptors,
    folder, environment, signals, exit code, and the end of the interpreter. The server is its parent, and tells its
    exit status.

    Parameters
    ----------
    command : sequence of str
        The interpreter, "-m", the module and its arguments.
    modules : sequence of str
        Modules that the server loads before it forks.
    options : dict
        Further parameters of `subprocess.Popen`; no `preexec_fn`. A new session is a group of processes of its own.
    """

    def __init__(self, command, *, modules=(), start_new_session=False, **options):
        self._modules = tuple(modules)
        self._has_group = start_new_session
        super().__init__(command, **options)

    def _execute_child(self, args, *options):
        """Let the server fork; streams that are not redirected are this process's own."""
        cwd, environment = options[4], options[5]
        child_streams = options[9], options[12], options[14]
        streams = [own if stream == -1 else stream for own, stream in enumerate(child_streams)]
        self._report, report = socket.socketpair()
        request = {
            "command": [os.fspath(part) for part in args[2:]],
            "modules": self._modules,
            "has_group": self._has_group,
            "folder": os.fspath(cwd or os.getcwd()),
            "environment": dict(os.environ if environment is None else environment),
        }
        server = fork_server(os.getpid(), frozenset(at_start(request["environment"]).items()))
        with report:
            socket.send_fds(server, [json.dumps(request).encode()], [*streams, report.fileno()])
        self._child_created = True
        self.pid = int(self._report.recv(64))
        self._close_pipe_fds(*options[9:15])

    def _internal_poll(self, _deadstate=None, **_):
        """Return the exit code, or None while the process runs."""
        return self._ended_within(0)

    def _wait(self, timeout):
        """Wait for the end of the process."""
        if self._ended_within(timeout) is None:
            raise subprocess.TimeoutExpired(self.args, timeout)
        return self.returncode

    def _ended_within(self, seconds):
        if self.returncode is None and select.select([self._report], [], [], seconds)[0]:
            with self._report:
                self.returncode = os.waitstatus_to_exitcode(int(self._report.recv(64)))
        return self.returncode


@functools.cache
def fork_server(owner, environment):
    """Socket of a server that started with these variables; `owner` is the process whose server it is."""
    if environment == _shared.get("environment"):
        server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        server.connect(_shared["path"])
        return server
    return _started(environment)


def _started(environment, *listeners):
    """Socket of a new server with these variables."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    descriptors = [theirs.fileno(), *(listener.fileno() for listener in listeners)]
    with theirs:
        subprocess.Popen(
            [sys.executable, SERVER, *map(str, descriptors)],
            pass_fds=descriptors,
            stdin=subprocess.DEVNULL,
            cwd=SERVER.parent,
            env={**os.environ, **dict(environment)},
        )
    return ours


_shared = {}
"""Where the server for all processes of tests listens, and the variables that it started with."""


@functools.cache
def shared_server(environment):
    """Start a server to which other processes of tests connect; it ends with this process.

    Returns
    -------
    path : str
        Where it listens.
    """
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = os.path.join(folder, "server")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(path)
        listener.listen()
        _shared["control"] = _started(environment, listener)
    return path


def use_shared_server(path, environment):
    """Let that server fork what this process starts, and this process's server of workers."""
    _shared.update(path=path, environment=environment)
    server, start, spawn = forkserver._forkserver, forkserver.ensure_running, util.spawnv_passfds
    once = threading.Lock()

    def start_once():
        # The server of workers is not a child of this process, which cannot wait for it. Threads may ask at once.
        with once:
            if server._forkserver_pid is None:
                start()

    def spawn_or_fork(executable, arguments, descriptors):
        if "multiprocessing.forkserver" not in arguments[-1]:
            return spawn(executable, arguments, descriptors)
        report, theirs = socket.socketpair()
        request = json.dumps({"workers": [arguments[-1], descriptors]}).encode()
        with report, theirs:
            socket.send_fds(fork_server(os.getpid(), environment), [request], [*descriptors, theirs.fileno()])
            return int(report.recv(64))

    server.ensure_running = forkserver.ensure_running = start_once
    util.spawnv_passfds = spawn_or_fork
