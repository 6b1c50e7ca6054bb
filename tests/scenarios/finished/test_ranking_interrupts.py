"""An interrupt while a ranking starts a process waits until the process has all that it needs, and then ends it."""

import signal
from multiprocessing import Pipe

import pytest

from scenarios.finished import ranking
from scenarios.finished.ranking import Ranking


class Interrupted:
    """A process during whose start Ctrl-C is pressed; it stands for the module that makes pipes and processes, too."""

    Pipe = staticmethod(Pipe)
    exitcode = None

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

    def join(self):
        self.calls.append("join")

    def close(self):
        self.calls.append("close")


@pytest.fixture(autouse=True)
def hears_interrupts():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("fault", "calls"),
    [(None, ["start", "started", "kill", "join", "close"]), (BrokenPipeError("the server is gone"), ["start"])],
)
def test_an_interrupted_start_is_completed_and_its_process_ended(fault, calls, monkeypatch):
    context = Interrupted(fault)
    monkeypatch.setattr(ranking, "worker_context", lambda: context)
    with pytest.raises(KeyboardInterrupt):
        list(Ranking(None, None, 2)._in_processes([(0, None), (1, None)]))
    assert context.calls == calls
