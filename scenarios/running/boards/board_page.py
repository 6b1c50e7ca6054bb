"""The HTML page of a board, with descriptions of all its methods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import leaderboard as lb
from leaderboard import Earlier, Promise, Result
from leaderboard.results.version import version
from scenarios.running.boards.shown_names import shown_board
from scenarios.running.methods.descriptions import defense_kinds, one_liners


def board_page(results: Sequence[Result], promises: Sequence[Promise] = (), earlier: Sequence[Earlier] = ()) -> str:
    """HTML page of a board, of what the promises cover, and of what the board leaves out.

    Parameters
    ----------
    results : sequence of Result
        Releases and trials; at least one.
    promises : sequence of Promise
        What the defenses promise.
    earlier : sequence of Earlier
        Results of earlier versions of methods, which the board leaves out.
    """
    results, promises = shown_board(results, promises)
    names = {name for result in results for name in _method_names(result)}
    about = {
        "scenario": ", ".join(sorted({result.scenario for result in results})),
        "plays": str(1 + max(result.play for result in results)),
        "version": f"tokumei {version()}",
        "played": max(result.created for result in results)[:10],
    }
    settings = lb.exposures(results)
    return lb.render_page(
        lb.rank(results),
        lb.matrix(results),
        about,
        one_liners(names),
        kinds=defense_kinds(),
        exposures=settings,
        summary=lb.summary_tables(results, settings) if lb.needs_summary(results) else None,
        promises=promises,
        earlier=earlier,
    )


def _method_names(result: Result) -> Iterator[str]:
    """Names of the defense, of the steps of a pipeline, and of the attack."""
    yield result.defense
    if result.attack:
        yield result.attack
    for step in result.parameters.get("steps", []):
        yield step["use"]
