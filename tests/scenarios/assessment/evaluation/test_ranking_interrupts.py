"""An interrupt while a ranking starts a process waits until the process has all that it needs, and then ends it."""

import pytest
from interrupted_process import InterruptedProcess

from scenarios.assessment.evaluation import ranking
from scenarios.assessment.evaluation.ranking import Ranking

pytestmark = pytest.mark.usefixtures("hears_interrupts")


@pytest.mark.parametrize(
    ("fault", "calls"),
    [(None, ["start", "started", "kill", "join", "close"]), (BrokenPipeError("the server is gone"), ["start"])],
)
def test_an_interrupted_start_is_completed_and_its_process_ended(fault, calls, monkeypatch):
    context = InterruptedProcess(fault)
    monkeypatch.setattr(ranking, "worker_context", lambda: context)
    with pytest.raises(KeyboardInterrupt):
        list(Ranking(None, None, 2)._in_processes([(0, None), (1, None)]))
    assert context.calls == calls
