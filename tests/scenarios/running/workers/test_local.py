"""Results of worker processes are gathered in batches, and none is lost."""

import queue

import pytest

from leaderboard import Result
from scenarios.running.workers.isolation import BATCH, LINGER, _gathered


def result(number):
    return Result(key=str(number), scenario="small", defense="Identity", play=number)


def queued(*items):
    ended = queue.SimpleQueue()
    for item in items:
        ended.put(item)
    return ended


def test_results_that_come_close_together_are_one_batch():
    ended = queued([result(0)], [result(1), result(2)], None, [result(3)], None)
    (batch,) = _gathered(ended, 2)
    assert [one.play for one in batch] == [0, 1, 2, 3]


class SlowQueue(queue.SimpleQueue):
    """Notes how long each item was waited for, and has none where a wait has an end."""

    def __init__(self):
        super().__init__()
        self.waits = []

    def get(self, block=True, timeout=None):
        self.waits.append(timeout)
        if timeout is not None:
            raise queue.Empty
        return super().get(block)


def test_a_batch_does_not_wait_for_long():
    ended = SlowQueue()
    for item in ([result(0)], [result(1)], None):
        ended.put(item)
    assert [[one.play for one in batch] for batch in _gathered(ended, 1)] == [[0], [1]]
    first, second, third, fourth, last = ended.waits
    assert first is third is last is None
    assert 0 <= second <= LINGER
    assert 0 <= fourth <= LINGER


def test_a_batch_has_an_end():
    ended = queued(*([result(number)] for number in range(BATCH + 1)), None)
    assert [len(batch) for batch in _gathered(ended, 1)] == [BATCH, 1]


class InterruptedQueue(queue.SimpleQueue):
    """Raises an interrupt where a batch waits for more."""

    def get(self, block=True, timeout=None):
        if timeout is not None and not self.empty():
            raise KeyboardInterrupt
        return super().get(block, timeout)


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError("disk")])
def test_an_interrupt_or_an_error_loses_no_result_that_has_ended(error):
    if error is KeyboardInterrupt:
        ended = InterruptedQueue()
        for item in ([result(0)], [result(1)], [result(2)]):
            ended.put(item)
    else:
        ended = queued([result(0)], error, [result(1)], [result(2)])
    played = []

    def store_all():
        for batch in _gathered(ended, 1):
            played.extend(one.play for one in batch)

    with pytest.raises((KeyboardInterrupt, OSError)):
        store_all()
    assert played == [0, 1, 2]
