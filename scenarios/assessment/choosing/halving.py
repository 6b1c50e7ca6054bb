"""Successive halving: which settings are played on, and how many fresh plays confirm the best ones.

Each round plays fewer settings more often (Karnin, Koren and Somekh 2013, Almost optimal exploration in multi-armed
bandits). A setting is dropped if its advantage is clearly above the bound, or if enough others keep more utility.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from leaderboard import Result, Success, canonical, matrix
from leaderboard.statistics.exposure import Exposure, meets
from leaderboard.statistics.pairs import judged, widening
from leaderboard.statistics.play_bounds import level_of_each, sure_upper, upper_advantage

# Upper bounds that confirm a setting on fresh plays: those that hold however plays vary, and those of these plays.

ERROR = 0.05
"""Probability at most that some setting is said to meet a bound and does not."""


def confirmed_bounds(results: Sequence[Result], settings: int) -> dict[tuple[str, str], float]:
    """The largest sure upper bound among the attacks on each setting, by its name and canonical parameters.

    Parameters
    ----------
    results : sequence of Result
        Fresh plays, on people who were drawn independently of the choice.
    settings : int
        Number of settings that are confirmed together, at least 1.

    Returns
    -------
    dict of (str, str) to float
        Bounds by setting. Attacks with fewer than `leaderboard.statistics.pairs.FEWEST_TRIALS` trials are not judged,
        and no bound is about them.

    Notes
    -----
    The bounds hold however plays vary (`leaderboard.statistics.play_bounds.sure_upper`). A setting meets a bound b if
    the upper bounds of all its attacks do, each of level 1 - `ERROR` / settings. Suppose that some attack has an
    advantage above b. Its own upper bound is then at most b with probability at most `ERROR` / settings. This holds
    however many attacks there are. Over all settings the probabilities add up to `ERROR`.

    References
    ----------
    Berger (1982), Multiparameter hypothesis testing and acceptance sampling, for this intersection-union test.
    """
    level = level_of_each(settings, 1 - ERROR)
    return _largest(results, lambda success: sure_upper(success, level))


def bounds_in_plays(results: Sequence[Result], settings: int) -> dict[tuple[str, str], float]:
    """The same bounds if plays vary as they did in these (`leaderboard.statistics.play_bounds.upper_advantage`).

    They do not allow for a release that gives much away in one of many plays if none of these showed it. The bound is 1
    if some attack was judged on one play only, which does not show how much plays differ.
    """
    level = level_of_each(settings, 1 - ERROR)
    return _largest(results, lambda success: upper_advantage(success, level) if len(success.rates) > 1 else 1.0)


def _largest(results: Sequence[Result], upper: Callable[[Success], float]) -> dict[tuple[str, str], float]:
    """The largest bound among the judged attacks on each setting."""
    bounds: dict[tuple[str, str], float] = defaultdict(lambda: 0.0)
    for pair in matrix(results):
        key = pair.defense, canonical(pair.parameters)
        for success in pair.successes.values():
            if judged(success):
                bounds[key] = max(bounds[key], upper(success))
    return dict(bounds)


FINALISTS = 3
"""Settings that are confirmed on fresh plays."""


@dataclass(frozen=True)
class Round:
    """One round of the choice.

    Attributes
    ----------
    settings : int
        Most settings that are played; 0 for all.
    plays : int
        Plays of each, those of earlier rounds included.
    every_attack : bool
        Whether all attacks are played, or only the cheap ones.
    """

    settings: int
    plays: int
    every_attack: bool


ROUNDS = (Round(0, 1, False), Round(20, 2, False), Round(10, 2, True), Round(6, 4, True))


def clearly_over(exposure: Exposure, bound: float) -> bool:
    """Whether the lower bound of a setting's worst advantage exceeds a bound."""
    worst = exposure.overall
    return worst is not None and worst.lower > bound


def never(exposure: Exposure) -> bool:
    """Refuse no setting."""
    return False


def survivors(
    exposures: Sequence[Exposure], bound: float, count: int, refused: Callable[[Exposure], bool] = never
) -> list[Exposure]:
    """Settings that are played on: the most useful ones that may meet the bound, and the safest one.

    Parameters
    ----------
    exposures : sequence of Exposure
        Settings as measured so far.
    bound : float
        Bound of the worst advantage.
    count : int
        Most settings to return; the safest one is among them.
    refused : callable
        Whether a report would refuse a setting whatever its plays show. Such settings only fill places that are left.

    Returns
    -------
    list of Exposure
        In descending order of utility. Settings without utility, or with failures, are left out; those that no attack
        was judged on stay. The safest one is the most useful that meets the bound already, or else that of the smallest
        upper bound.
    """
    measured = [one for one in exposures if one.utility is not None and not one.failures]
    if not measured:
        return []
    by_utility = sorted(measured, key=_usefulness)
    possible = sorted((one for one in by_utility if not clearly_over(one, bound)), key=refused)
    safe = [one for one in possible if meets(one, bound)]
    safest = safe[0] if safe else min(measured, key=_upper)
    others = [one for one in possible if one is not safest]
    return sorted([safest, *others[: count - 1]], key=_usefulness)


def finalists(
    exposures: Sequence[Exposure], bound: float, refused: Callable[[Exposure], bool] = never
) -> list[Exposure]:
    """The most useful settings whose measured advantage is within the bound, at most `FINALISTS`.

    Settings that a report would refuse are left out: fresh plays of them would confirm what nobody may release.
    """
    within = (
        one for one in survivors(exposures, bound, len(exposures)) if one.overall and one.overall.advantage < bound
    )
    return list(islice((one for one in within if not refused(one)), FINALISTS))


def nearest(
    exposures: Sequence[Exposure], useful: float, refused: Callable[[Exposure], bool] = never
) -> Exposure | None:
    """The setting of the smallest upper bound that keeps a useful utility and that a report would not refuse."""
    kept = (one for one in exposures if one.utility is not None and one.utility.value >= useful and not one.failures)
    by_bound = sorted(kept, key=lambda one: (_upper(one), _usefulness(one)))
    return next((one for one in by_bound if not refused(one)), None)


def fresh_plays(chosen: Sequence[Exposure], plays: int, bound: float, most: int) -> int:
    """Number of fresh plays after which the bounds of all settings are expected to meet the bound.

    Parameters
    ----------
    chosen : sequence of Exposure
        Settings, each measured with advantage a < bound and upper bound u.
    plays : int
        Plays by which they were measured.
    bound : float
        Bound b of the worst advantage.
    most : int
        Largest number to return.

    Notes
    -----
    u - a falls with the square root of the number of plays. The settings were chosen since a is small, partly by luck.
    So a is taken to be a + (u - a)/2. With a known variance between plays, m = plays ((u - a) / (b - (a + u)/2))² fresh
    plays would be enough. The variance is estimated from the n fresh plays. So n is the least number that is at least
    m times `leaderboard.statistics.pairs.widening` of n, and at least `plays`.
    """
    counts = np.arange(2, max(2, most) + 1, dtype=float)
    worth = counts / widening(counts, level_of_each(max(1, len(chosen)), 1 - ERROR))
    needed = plays
    for one in chosen:
        worst = one.overall
        if worst is not None:
            advantage = max(0.0, worst.advantage)
            spread = max(0.0, worst.upper - advantage)
            room = max(bound - advantage - spread / 2, bound / 100)
            needed = max(needed, 2 + int(np.searchsorted(worth, plays * (spread / room) ** 2)))
    return min(most, needed)


def front(exposures: Sequence[Exposure]) -> list[Exposure]:
    """Settings that no other one beats in utility at a smaller upper bound, in ascending order of that bound."""
    best: list[Exposure] = []
    measured = [one for one in exposures if one.utility is not None and one.overall is not None and not one.failures]
    for one in sorted(measured, key=lambda one: (_upper(one), _usefulness(one))):
        if not best or _usefulness(one)[0] < _usefulness(best[-1])[0]:
            best.append(one)
    return best


def _usefulness(exposure: Exposure) -> tuple[float, str, str]:
    """Sorts the most useful setting first, equals by name."""
    value = -1.0 if exposure.utility is None else exposure.utility.value
    return -value, exposure.defense, str(exposure.parameters)


def _upper(exposure: Exposure) -> float:
    return math.inf if exposure.overall is None else exposure.overall.upper
