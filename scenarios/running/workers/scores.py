"""Checks of a game's scores and measures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from metrics.score import Scores

# A mean of ones may exceed 1 by this much through rounding.
_SLACK = 1e-9


def checked_game_scores(scores: Any) -> Scores:
    """Check an attack's scores and return them with measures as floats.

    Raises
    ------
    TypeError
        If a game's `score` returned something other than `Scores`, or a measure is not a number.
    ValueError
        If a measure is not finite; the message names it.
    """
    if not isinstance(scores, Scores):
        raise TypeError(f"a game's score must be Scores, got {type(scores).__name__}")
    return Scores(scores.goals, checked_measures(scores.measures))


def checked_measures(measures: Any) -> dict[str, float | None]:
    """Check measures and return them as floats.

    Parameters
    ----------
    measures : mapping of str to float or None
        Result of a game's `utility`, or the measures of its scores.

    Raises
    ------
    TypeError
        If `measures` is not a mapping of names to numbers.
    ValueError
        If a number is not finite, or a component of utility lies outside [0, 1]; the message names it.
    """
    if not isinstance(measures, Mapping):
        raise TypeError(f"measures must be a mapping of names to numbers, got {type(measures).__name__}")
    numbers = {_name(name): _number(name, value) for name, value in measures.items()}
    for name, value in numbers.items():
        component = name == "utility" or name.startswith("utility_")
        if component and value is not None and not -_SLACK <= value <= 1 + _SLACK:
            raise ValueError(f"{name} must lie between 0 and 1, got {value:g}")
    return numbers


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise TypeError(f"measures must have names, got {type(name).__name__} {name!r}")
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
