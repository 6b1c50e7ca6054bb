"""What a gate could not check: failed trials, goals that nobody measured, and what few plays do not show."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from leaderboard.board import rank
from leaderboard.gate import GateBounds, GateCheck, unmeasured_goals
from leaderboard.goals import goal_words
from leaderboard.number_text import counted, exact, number
from leaderboard.result import Result

FEW_PLAYS = 5
"""With fewer plays, a gate says what they do not show."""
RARE = 0.2
"""Share of releases that go wrong, in the example of what few plays do not show."""


def gap_checks(results: Sequence[Result], bounds: GateBounds) -> list[GateCheck]:
    """Failing checks of every defense with failed releases or trials, and of every goal that nobody measured.

    Parameters
    ----------
    results : sequence of Result
        Releases and trials, at most one per release and trial.
    bounds : GateBounds
        The bounds.

    Examples
    --------
    >>> trial = Result(key="1", scenario="bank", defense="Mondrian", attack="Homer", play=0, status="timeout")
    >>> for check in gap_checks([trial], GateBounds(max_advantage={"attribute": 0.1})):
    ...     print(check.reason)
    bank: Mondrian: 1 release or trial failed
    bank: Mondrian: no attack on values was measured by enough trials
    """
    unmeasured = unmeasured_goals(results, bounds)
    checks = []
    for row in rank(results):
        if row.failures:
            count = f"{row.failures} releases and trials" if row.failures > 1 else "1 release or trial"
            checks.append(GateCheck.of(row, "no release or trial fails", False, f"{count} failed"))
        for goal in unmeasured:
            words = goal_words(goal)
            bound = f"advantage on {words} at most {exact(bounds.max_advantage[goal])}"
            checks.append(GateCheck.of(row, bound, False, f"no attack on {words} was measured by enough trials"))
    return checks


def few_plays_note(results: Sequence[Result]) -> str:
    """What the plays of a defense do not show if they are fewer than `FEW_PLAYS`; empty if they are enough.

    Notes
    -----
    Let each release go wrong with probability p. All of n releases are right with probability (1 - p)ⁿ.

    Examples
    --------
    >>> few_plays_note([Result(key=f"{play}", scenario="bank", defense="Mondrian", play=play) for play in range(2)])
    '2 plays miss a defense that goes wrong in .2 of its releases with probability .64: give more --plays'
    """
    plays: dict[tuple[str, str, str], set[int]] = defaultdict(set)
    for result in results:
        if result.status == "ok":
            plays[result.scenario, result.defense, result.parameters_text].add(result.play)
    fewest = min(map(len, plays.values()), default=FEW_PLAYS)
    if fewest >= FEW_PLAYS:
        return ""
    missed = number((1 - RARE) ** fewest)
    verb = "misses" if fewest == 1 else "miss"
    wrong = f"a defense that goes wrong in {exact(RARE)} of its releases"
    return f"{counted(fewest, 'play')} {verb} {wrong} with probability {missed}: give more --plays"
