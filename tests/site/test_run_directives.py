"""Pages that run something are shared out among the processes that read pages."""

import pytest

pytest.importorskip("sphinx")

from run_directives import RUNNING, ordered
from sphinx.util.parallel import make_chunks


def test_costly_pages_are_read_first_and_each_by_another_process():
    costs = {f"methods/{number:03}": 0 for number in range(110)} | {
        f"learn/{number}": 20 - number for number in range(20)
    }
    pages = ordered(costs, 2)
    assert sorted(pages) == sorted(costs)
    chunks = make_chunks(pages, 2)
    # Two chunks are read at once, and the others from the last one on.
    firsts = [chunk[0] for chunk in [*chunks[:2], *reversed(chunks[2:])]]
    assert firsts == [f"learn/{number}" for number in range(len(chunks))]
    running = [sum(costs[page] > 0 for page in chunk) for chunk in chunks]
    assert max(running) - min(running) <= 1


@pytest.mark.parametrize("count", [0, 1, 7])
@pytest.mark.parametrize("processes", [1, 2, 9])
def test_all_pages_are_kept(count, processes):
    costs = {str(number): number for number in range(count)}
    assert sorted(ordered(costs, processes)) == sorted(costs)


@pytest.mark.parametrize(
    ("source", "runs"),
    [("```{run} tokumei\n```", True), ("# A\n\n:::{run-python}\n", True), ("text of {run}", False), ("", False)],
)
def test_pages_that_run_something_are_recognized(source, runs):
    assert bool(RUNNING.search(source)) is runs
