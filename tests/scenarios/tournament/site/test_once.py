"""Forms that are sent again: their outcomes are remembered, in bounded memory."""

import asyncio

import pytest

from scenarios.tournament.site.site import FormKey, Once


def key(number, content="same"):
    return FormKey("kyoto", str(number), "/team/kyoto/upload", content)


@pytest.fixture
def run():
    """Run a form's action in one event loop for all forms; a loop for each would take most of the time."""

    def in_loop(once, number, outcome, content="same"):
        async def action():
            return outcome

        return runner.run(once.run(key(number, content), action))

    with asyncio.Runner() as runner:
        yield in_loop


def test_an_accepted_form_runs_once_and_a_refused_one_again(run):
    once = Once()
    assert run(once, 1, {"done": True, "message": "first"})["message"] == "first"
    assert run(once, 1, {"done": True, "message": "second"})["message"] == "first"
    assert run(once, 1, {"done": False, "message": "other"}, "changed")["message"] == "other"
    assert once.seen("kyoto", "1")["message"] == "other"
    assert run(once, 1, {"done": True, "message": "third"}, "changed")["message"] == "third"
    assert once.seen("osaka", "1") is None


@pytest.mark.thorough
def test_memory_is_bounded_in_bytes_and_the_oldest_is_forgotten(run):
    once = Once(most_bytes=100_000)
    for number in range(200):
        run(once, number, {"done": number % 2 == 0, "problems": ["x" * 5000]})
    assert once.seen("kyoto", "0") is None
    assert once.seen("kyoto", "199")
    assert sum(map(len, once._kept.values())) <= 100_000
    # Many small ones count, too, and one that is larger than all the room is remembered until the next.
    for number in range(200, 2000):
        run(once, number, {"done": True})
    assert len(once._kept) <= 100
    run(once, 2000, {"done": False, "problems": ["x" * 200_000]})
    assert once.seen("kyoto", "2000")
    run(once, 2001, {"done": False})
    assert (once.seen("kyoto", "2000"), once.seen("kyoto", "2001")) == (None, {"done": False})
