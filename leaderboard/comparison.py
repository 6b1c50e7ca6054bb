"""Two sets of results compared: what changed in utility, success and time, and whether that may be chance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from leaderboard.goals import in_order
from leaderboard.pairs import variant_name
from leaderboard.result import FAILURES, Result, canonical
from leaderboard.utility import headlines_without, jackknife_deviation, pooled_utility
from metrics.arrays import Floats

RELEASE = 4
"""Parts of a release's identity: scenario, variant, defense, parameters; a trial's has two more."""
COMPARABLE = 3
"""Fewer defenses than these do not tell what they have in common."""
FIRM, LOOSE = 0.05, 0.5
"""Slowing down that is let pass by default, as a share: where the machine's pace is known, and where it is not."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """How one measure of one defense, or of one attack on it, changed.

    Parameters
    ----------
    scenario, variant : str
        The scenario and the variant of its game. Utility and time of a release belong to every variant, whose name is
        then empty.
    defense, attack : str
        Class names; no attack where the measure is the release's.
    parameters, attack_parameters : dict
        Their parameters.
    measure : str
        ``utility``, ``time``, ``failures``, or the goal of which it is the success rate.
    base, head : float
        Before and after: a mean over plays, of time the median in seconds, of failures their number.
    change, low, high : float
        Head minus base with its interval across plays at the level of the comparison, of time head / base - 1.
    p : float
        Probability of so large a change, in either direction, between two runs of equal methods.
    plays : int
        Plays that both have.
    worse : bool
        Whether the change is for the worse.
    significant : bool
        Whether it is more than the tolerance at the level of the comparison, corrected for all that was compared.
    """

    scenario: str
    variant: str
    defense: str
    parameters: dict[str, Any]
    attack: str | None = None
    attack_parameters: dict[str, Any]
    measure: str
    base: float
    head: float
    change: float
    low: float
    high: float
    p: float
    plays: int
    worse: bool
    significant: bool = False

    @property
    def alarm(self) -> bool:
        """Whether it is a significant worsening."""
        return self.worse and self.significant


@dataclass(frozen=True)
class Tolerance:
    """Changes that are let pass: in utility and success (in their own unit), and in time (as a share).

    Time depends on what else the machine does; unless it is given, `FIRM` of it is let pass where `pace` tells how fast
    the machine was, and `LOOSE` where nothing does.
    """

    utility: float = 0.0
    success: float = 0.0
    time: float | None = None


def compare(
    base: Sequence[Result], head: Sequence[Result], *, tolerance: Tolerance | None = None, level: float = 0.01
) -> list[Change]:
    r"""Compare every defense, and every attack on it, that both sides have played.

    Plays are compared one by one, play i of the base with play i of the head: with one seed both drew the same people,
    and their differences vary little; with two seeds the pairs are independent, which is as valid. A difference of
    rates is tested by Student's t across plays, of utility by Student's t with the jackknife's variance (its
    classifier's part is pooled over plays), of time by Wilcoxon's signed rank of the logarithms' differences. Since n
    plays can be sign-flipped in 2ⁿ ways, no p is taken to be below 2¹⁻ⁿ, however equal the differences are. Each test
    is against the tolerance, not against zero. Holm's correction holds the chance of any false alarm among all
    measures to `level`. Time is compared of what both sides have played anew, after `pace` is divided out, since a busy
    machine slows all defenses alike.

    A trial that ended in the base and fails in the head is a worsening, whatever the level.

    Parameters
    ----------
    base, head : sequence of Result
        At most one per release and trial each.
    tolerance : Tolerance, optional
        What is let pass.
    level : float
        Chance of any false alarm, in (0, 1).

    Returns
    -------
    list of Change
        In order of scenario, defense, attack and measure; empty where nothing can be compared.

    Raises
    ------
    ValueError
        If `level` or a tolerance is out of range.

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure. Hodges and Lehmann (1963), Estimates of
    location based on rank tests.
    """
    allowed = tolerance or Tolerance()
    if not 0 < level < 1:
        raise ValueError(f"level must lie in (0, 1), got {level}")
    for name in ("utility", "success", "time"):
        given = getattr(allowed, name)
        if given is not None and not 0 <= given < np.inf:
            raise ValueError(f"tolerance of {name} must be a finite number of at least 0, got {given}")
    before, after = _groups(base), _groups(head)
    both = pace(base, head)
    if allowed.time is None:
        allowed = replace(allowed, time=LOOSE if both is None else FIRM)
    changes = [
        change
        for identity in sorted(set(before) & set(after), key=str)
        for change in _changes(before[identity], after[identity], allowed, level, both or 1.0)
    ]
    return _corrected(changes, level)


def pace(base: Sequence[Result], head: Sequence[Result]) -> float | None:
    """How many times as long the head took for the same work; None where that cannot be told from a change.

    It is the median over the releases of at least three defenses, else over the trials of at least three pairs of
    defense and attack, which are timed apart from the release. What all have in common is the machine, or code that all
    of them use: it is told, and not held against one of them. Only what both sides have played anew says anything; a
    result that a run knew from an earlier one was timed then.
    """
    before, after = _groups(base), _groups(head)
    shifts: dict[bool, list[float]] = {True: [], False: []}
    for identity in set(before) & set(after):
        pairs = _ended(before[identity], after[identity])
        ratios = _log_ratios([pair for pair in pairs if _anew(*pair)])
        if ratios.size:
            shifts[len(identity) == RELEASE].append(float(np.median(ratios)))
    for found in (shifts[True], shifts[False]):
        if len(found) >= COMPARABLE:
            return float(np.exp(np.median(found)))
    return None


def _anew(base: Result, head: Result) -> bool:
    """Whether two results are of two plays, and not one that both runs know."""
    return (base.key, base.created, base.seconds) != (head.key, head.created, head.seconds)


def _groups(results: Sequence[Result]) -> Mapping[tuple[str, ...], dict[int, Result]]:
    """Results by what they are of, then by play."""
    groups: dict[tuple[str, ...], dict[int, Result]] = defaultdict(dict)
    for result in results:
        attack = () if result.attack is None else (result.attack, canonical(result.attack_parameters))
        place = (result.scenario, "" if result.attack is None else variant_name(result.game))
        groups[(*place, result.defense, canonical(result.parameters), *attack)][result.play] = result
    return groups


def _ended(base: Mapping[int, Result], head: Mapping[int, Result]) -> list[tuple[Result, Result]]:
    """Both sides of every play that ended on both."""
    pairs = [(base[play], head[play]) for play in sorted(set(base) & set(head))]
    return [pair for pair in pairs if pair[0].status == pair[1].status == "ok"]


def _log_ratios(pairs: Sequence[tuple[Result, Result]]) -> Floats:
    seconds = np.array([(one.seconds, other.seconds) for one, other in pairs], dtype=float).reshape(-1, 2)
    seconds = seconds[(seconds > 0).all(axis=1)]
    ratios: Floats = np.log(seconds[:, 1] / seconds[:, 0])
    return ratios


def _changes(
    base: Mapping[int, Result], head: Mapping[int, Result], allowed: Tolerance, level: float, both: float
) -> list[Change]:
    """Changes of one release or one trial in all its measures."""
    found = [*_failures([(base[play], head[play]) for play in sorted(set(base) & set(head))])]
    ended = _ended(base, head)
    if len(ended) > 1:
        if ended[0][0].attack is None:
            timed = [pair for pair in ended if _anew(*pair)]
            found += [*_utility(ended, allowed.utility, level), *_time(timed, allowed.time or 0.0, level, both)]
        else:
            found += _successes(ended, allowed.success, level)
    return found


def _failures(pairs: Sequence[tuple[Result, Result]]) -> list[Change]:
    before, after = (sum(pair[side].status in FAILURES for pair in pairs) for side in (0, 1))
    if before == after:
        return []
    moved = float(after - before)
    change = _change(pairs, "failures", (before, after), (moved, moved, moved), 0.0, worse=after > before)
    return [replace(change, significant=True)]


def _successes(pairs: Sequence[tuple[Result, Result]], allowed: float, level: float) -> list[Change]:
    changes = []
    for goal in in_order(set().union(*(set(one.scores) & set(other.scores) for one, other in pairs))):
        both = [
            (one.scores[goal].rate, other.scores[goal].rate)
            for one, other in pairs
            if goal in one.scores and goal in other.scores
        ]
        rates = np.array(both, dtype=float)
        rates = rates[~np.isnan(rates).any(axis=1)]
        if len(rates) < 2:
            continue
        moves = rates[:, 1] - rates[:, 0]
        mean, deviation = float(moves.mean()), float(moves.std(ddof=1) / np.sqrt(len(moves)))
        interval, p = _student(mean, deviation, len(moves), allowed, level)
        ends = (float(rates[:, 0].mean()), float(rates[:, 1].mean()))
        changes.append(_change(pairs, goal, ends, interval, p, worse=mean > 0))
    return changes


def _utility(pairs: Sequence[tuple[Result, Result]], allowed: float, level: float) -> list[Change]:
    sides = [[pair[side].values for pair in pairs] for side in (0, 1)]
    whole = [pooled_utility(side) for side in sides]
    if whole[0] is None or whole[1] is None:
        return []
    ends = (whole[0].headline.value, whole[1].headline.value)
    n = len(pairs)
    moves = headlines_without(sides[1]) - headlines_without(sides[0])
    if np.isnan(moves).any():
        return []
    deviation = jackknife_deviation(moves)
    interval, p = _student(ends[1] - ends[0], deviation, n, allowed, level)
    return [_change(pairs, "utility", ends, interval, p, worse=ends[1] < ends[0])]


def _time(pairs: Sequence[tuple[Result, Result]], allowed: float, level: float, both: float) -> list[Change]:
    """Change of a release's time: median of the pairwise means of log ratios (Hodges and Lehmann) and its interval."""
    from scipy.stats import norm, wilcoxon

    ratios = _log_ratios(pairs) - np.log(both)
    n = ratios.size
    if n < 2:
        return []
    first, second = np.triu_indices(n)
    walsh = np.sort((ratios[first] + ratios[second]) / 2)
    location = float(np.median(walsh))
    spread = norm.ppf(1 - level / 2) * np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    rank = int(np.clip(np.floor(n * (n + 1) / 4 - spread), 0, (walsh.size - 1) // 2))
    beyond = np.sign(location) * max(abs(location) - np.log1p(allowed), 0.0)
    p = 1.0
    if beyond != 0:
        moved = ratios - (location - beyond)
        p = max(float(wilcoxon(moved).pvalue), 2.0 ** (1 - n)) if moved.any() else 1.0
    interval = tuple(float(np.expm1(value)) for value in (location, walsh[rank], walsh[walsh.size - 1 - rank]))
    ends = (
        float(np.median([one.seconds for one, _ in pairs])),
        float(np.median([other.seconds for _, other in pairs])),
    )
    return [_change(pairs, "time", ends, (interval[0], interval[1], interval[2]), p, worse=location > 0)]


def _student(
    mean: float, deviation: float, n: int, allowed: float, level: float
) -> tuple[tuple[float, float, float], float]:
    """Change with its interval, and p that it is more than what is allowed."""
    from scipy.special import stdtr, stdtrit

    half = float(stdtrit(n - 1, 1 - level / 2)) * deviation
    beyond = max(abs(mean) - allowed, 0.0)
    p = 1.0
    if beyond > 0:
        p = 2 * float(stdtr(n - 1, -beyond / deviation)) if deviation > 0 else 0.0
    return (mean, mean - half, mean + half), max(p, 2.0 ** (1 - n))


def _change(
    pairs: Sequence[tuple[Result, Result]],
    measure: str,
    ends: tuple[float, float],
    interval: tuple[float, float, float],
    p: float,
    *,
    worse: bool,
) -> Change:
    one = pairs[0][1]
    return Change(
        scenario=one.scenario,
        variant="" if one.attack is None else variant_name(one.game),
        defense=one.defense,
        parameters=one.parameters,
        attack=one.attack,
        attack_parameters=one.attack_parameters,
        measure=measure,
        base=ends[0],
        head=ends[1],
        change=interval[0],
        low=interval[1],
        high=interval[2],
        p=p,
        plays=len(pairs),
        worse=worse,
    )


def _corrected(changes: Sequence[Change], level: float) -> list[Change]:
    """Changes with Holm's verdict; failures are counted, not tested."""
    tested = sorted(
        (number for number, change in enumerate(changes) if change.measure != "failures"),
        key=lambda number: changes[number].p,
    )
    told = set()
    for step, number in enumerate(tested):
        if changes[number].p > level / (len(tested) - step):
            break
        told.add(number)
    return [replace(change, significant=True) if number in told else change for number, change in enumerate(changes)]
