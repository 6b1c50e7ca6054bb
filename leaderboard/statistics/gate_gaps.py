"""What a gate could not check: failed trials, goals that nobody measured, and what plays do not show."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from leaderboard.pages.number_text import counted, exact, number
from leaderboard.results.goals import goal_words
from leaderboard.results.result import Result
from leaderboard.statistics.board import rank
from leaderboard.statistics.gate import GateBounds, GateCheck, unmeasured_goals
from leaderboard.statistics.met_words import IF_PLAYS_VARY, to_be_sure

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


def not_sure_note(checks: Sequence[GateCheck]) -> str:
    """How many bounds of the advantage are met in these plays and not for sure; empty if there is none.

    Examples
    --------
    >>> from leaderboard import gate_checks
    >>> from metrics import Score
    >>> common = {"scenario": "bank", "defense": "Constant", "attack": "Homer"}
    >>> scores = {"membership": Score("membership", rate=0.5, chance=0.5, trials=10_000)}
    >>> trials = [Result(key=f"{play}", play=play, scores=scores, **common) for play in range(5)]
    >>> not_sure_note(gate_checks(trials, GateBounds(max_advantage={None: 0.05})))
    '1 bound of the advantage is met in these plays, if plays vary as they did here; to be sure takes at least 59 plays'
    >>> not_sure_note(gate_checks(trials, GateBounds(max_advantage={None: 0.5})))
    ''
    """
    open_checks = [check for check in checks if check.passed and check.sure is False]
    if not open_checks:
        return ""
    verb = "is" if len(open_checks) == 1 else "are"
    plays = [check.clean_plays for check in open_checks]
    needed = None if None in plays else max(count for count in plays if count is not None)
    bounds = counted(len(open_checks), "bound")
    return f"{bounds} of the advantage {verb} met in these plays, {IF_PLAYS_VARY}; {to_be_sure(needed)}"
