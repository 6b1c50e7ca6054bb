"""Utility left at risk: the best that each family of defenses keeps within a bound of the worst advantage."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.statistics.exposure import Exposure

BOUNDS = (0.05, 0.1, 0.25, 0.5)
"""Bounds of the worst advantage, fixed before any result was seen."""


def utility_left(exposures: Sequence[Exposure], bound: float, goal: str | None = None) -> dict[str, Exposure | None]:
    """The most useful setting of each family whose worst advantage is at most a bound, by family.

    A setting meets the bound if the upper end of the interval of its worst advantage does, and nothing that was played
    against it failed. Only measured settings count; nothing is interpolated between them.

    Parameters
    ----------
    exposures : sequence of Exposure
        Settings in one scenario and variant.
    bound : float
        Bound of the advantage, in (0, 1).
    goal : str, optional
        Goal in which the bound must hold; all of them by default.

    Returns
    -------
    dict of str to Exposure or None
        None for a family without such a setting.

    Examples
    --------
    >>> from leaderboard import Result, exposures, utility_left
    >>> from metrics import Score
    >>> def played(k, utility, rate):
    ...     common = {"scenario": "bank", "defense": "Mondrian", "parameters": {"k": k}, "play": 0}
    ...     scores = {"membership": Score("membership", rate, chance=0.5, trials=10_000)}
    ...     return [
    ...         Result(key=f"r{k}", values={"marginals": utility}, **common),
    ...         Result(key=f"t{k}", attack="Homer", scores=scores, **common),
    ...     ]
    >>> settings = exposures(played(2, 0.9, 0.9) + played(5, 0.6, 0.6) + played(9, 0.3, 0.5))
    >>> {bound: utility_left(settings, bound)["Mondrian"].parameters["k"] for bound in (0.1, 0.25)}
    {0.1: 9, 0.25: 5}
    """
    best: dict[str, Exposure | None] = {}
    for exposure in exposures:
        current = best.setdefault(exposure.defense, None)
        if not meets(exposure, bound, goal):
            continue
        if current is None or _useful(exposure) > _useful(current):
            best[exposure.defense] = exposure
    return best


def meets(exposure: Exposure, bound: float, goal: str | None = None) -> bool:
    """Whether a setting's worst advantage is at most a bound, at the upper end of its interval."""
    worst = exposure.worst(goal)
    return exposure.utility is not None and worst is not None and not exposure.failures and worst.upper <= bound


def _useful(exposure: Exposure) -> float:
    return -1.0 if exposure.utility is None else exposure.utility.value
