"""What may be stored of a play: names and finite numbers, rates between 0 and 1."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from leaderboard.goals import chance_name, control_name, reported, trials_name

# Rounding of a mean of ones.
_SLACK = 1e-9


def checked(values: Any) -> dict[str, float | None]:
    """The numbers of a play as floats.

    Parameters
    ----------
    values : mapping of str to float or None
        What a game's `score` or `utility` gave.

    Raises
    ------
    TypeError
        If this is no flat mapping of names to numbers.
    ValueError
        If a number is not finite, a rate, a chance or a component of utility lies outside [0, 1], or a number of
        trials is negative; names the number.
    """
    if not isinstance(values, Mapping):
        raise TypeError(f"the scores must be a mapping of names to numbers, got {type(values).__name__}")
    found = {_name(name): _number(name, value) for name, value in values.items()}
    goals = reported(found)
    rates = {name for goal in goals for name in (goal, chance_name(goal))}
    for name, value in found.items():
        if value is None:
            continue
        is_rate = name in rates or name == "utility" or name.startswith("utility_")
        if is_rate and not -_SLACK <= value <= 1 + _SLACK:
            raise ValueError(f"{name} must lie between 0 and 1, got {value:g}")
        is_count = any(name in (trials_name(goal), control_name(goal)) for goal in goals)
        if is_count and value < 0:
            raise ValueError(f"{name} must not be negative, got {value:g}")
    return found


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise TypeError(f"the scores must have names, got {type(name).__name__} {name!r}")
    return name


def _number(name: str, value: Any) -> float | None:
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number or None, got {type(value).__name__}") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {number}")
    return number
