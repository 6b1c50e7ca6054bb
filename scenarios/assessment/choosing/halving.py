"""Successive halving: which settings are played on, and how many fresh plays confirm the best ones.

Each round plays fewer settings more often (Karnin, Koren and Somekh 2013, Almost optimal exploration in multi-armed
bandits). A setting is dropped if its advantage is clearly above the bound, or if enough others keep more utility.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.statistics.exposure import Exposure, meets
from leaderboard.statistics.play_bounds import level_of_each
from leaderboard.statistics.success import widening
from scenarios.assessment.choosing.confirmation import ERROR

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
    """Whether a setting's worst advantage exceeds a bound by more than the half-width of its interval."""
    worst = exposure.overall
    return worst is not None and 2 * worst.advantage - worst.upper > bound


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

    Settings that a report would refuse only fill places that are left.
    """
    within = [
        one for one in survivors(exposures, bound, len(exposures)) if one.overall and one.overall.advantage < bound
    ]
    return sorted(within, key=refused)[:FINALISTS]


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
    m times `leaderboard.statistics.success.widening` of n, and at least `plays`.
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
