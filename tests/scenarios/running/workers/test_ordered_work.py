"""Work in several processes that comes back in order, as if this process had done it."""

import os
import warnings
from multiprocessing import parent_process

import pytest

from scenarios.running.workers.ordered_work import in_order


def work(task):
    """Do what a task asks for; each task says whether the owner of the processes did it."""
    here = parent_process() is None
    if task == "warn":
        warnings.warn("be careful", UserWarning, stacklevel=1)
    if task == "fail":
        raise ValueError("this task fails")
    if task == "die elsewhere" and not here:
        os._exit(3)
    if task == "cannot be pickled":
        return task, lambda: None
    return task, here


@pytest.mark.thorough
def test_outcomes_come_in_the_order_of_the_tasks_from_other_processes():
    tasks = iter(range(20))
    found = in_order(work, tasks, processes=2)
    assert next(found) == (0, False)
    # Only some tasks are taken before their turn.
    assert 0 < next(tasks) < 10
    found.close()
    assert list(in_order(work, range(5), processes=3)) == [(task, False) for task in range(5)]
    assert list(in_order(work, [], processes=2)) == []


@pytest.mark.thorough
def test_what_fails_elsewhere_is_done_here_with_its_error_and_its_warnings():
    outcomes = in_order(work, ["die elsewhere", "cannot be pickled", 1, "warn", "fail", 2], processes=1)
    assert next(outcomes) == ("die elsewhere", True)
    assert next(outcomes)[0] == "cannot be pickled"
    assert next(outcomes) == (1, False)
    with pytest.warns(UserWarning, match="be careful") as caught:
        assert next(outcomes) == ("warn", False)
    assert caught[0].filename == __file__
    with pytest.raises(ValueError, match="this task fails") as raised:
        next(outcomes)
    assert raised.traceback[-1].name == "work"
