"""A process that is interrupted while it starts."""

import signal
from multiprocessing import Pipe


class InterruptedProcess:
    """A process during whose start Ctrl-C is pressed; it stands for the module that makes pipes and processes, too."""

    Pipe = staticmethod(Pipe)
    exitcode = sentinel = -signal.SIGKILL
    # No process has such a number.
    pid = 1 << 30

    def __init__(self, fault=None):
        self.fault, self.calls = fault, []

    def Process(self, **_):  # noqa: N802 (the name in multiprocessing)
        return self

    def start(self):
        self.calls.append("start")
        signal.raise_signal(signal.SIGINT)
        if self.fault:
            raise self.fault
        self.calls.append("started")

    def kill(self):
        self.calls.append("kill")

    def join(self, timeout=None):
        self.calls.append("join")

    def close(self):
        self.calls.append("close")
