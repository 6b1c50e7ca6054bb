"""An interrupt while a scoring starts its process waits until the process has all that it needs."""

import pytest
from interrupted_process import InterruptedProcess

from scenarios.running.workers import isolation
from scenarios.running.workers.isolation import IsolatedWorker


@pytest.mark.usefixtures("hears_interrupts")
def test_an_interrupted_start_is_completed_and_its_process_ends(monkeypatch):
    context = InterruptedProcess()
    monkeypatch.setattr(isolation, "worker_context", lambda: context)
    worker = IsolatedWorker(iter)
    with pytest.raises(KeyboardInterrupt):
        next(worker.results(None))
    assert context.calls == ["start", "started", "kill", "join", "close"]
    worker.close()
