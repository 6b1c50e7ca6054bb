"""Pages that run something are shared out among the processes that read pages."""

import pytest

pytest.importorskip("sphinx")

from run_directives import RUNNING, spread
from sphinx.util.parallel import make_chunks


def test_every_process_gets_pages_that_run_something():
    running = [f"learn/{number:02}" for number in range(20)]
    others = [f"methods/{number:03}" for number in range(110)]
    pages = spread(running, others)
    assert sorted(pages) == running + others
    counts = [sum(page in running for page in chunk) for chunk in make_chunks(pages, 2)]
    assert len(counts) > 2
    assert max(counts) <= 20 / len(counts) + 1


@pytest.mark.parametrize("count", [0, 1])
def test_few_pages_are_all_kept(count):
    assert spread(["a"][:count], []) == ["a"][:count]
    assert spread([], ["b"][:count]) == ["b"][:count]


@pytest.mark.parametrize(
    ("source", "runs"),
    [("```{run} tokumei\n```", True), ("# A\n\n:::{run-python}\n", True), ("text of {run}", False), ("", False)],
)
def test_pages_that_run_something_are_recognized(source, runs):
    assert bool(RUNNING.search(source)) is runs
