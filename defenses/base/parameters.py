"""Checks of single parameters: integers, real numbers, choices, truth values and lists."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

GREATEST = sys.float_info.max
"""Largest finite float; larger integers are not valid real parameters either."""


def check_integer(name: str, value: Any, *, low: int) -> None:
    """Raise ValueError naming the parameter unless `value` is an integer of at least `low`."""
    import numpy as np

    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise ValueError(f"{name} must be an integer of at least {low}, got {value!r}")


def check_real(
    name: str,
    value: Any,
    *,
    low: float,
    high: float = float("inf"),
    open_low: bool = False,
    open_high: bool = False,
) -> None:
    """Raise ValueError naming the parameter unless `value` is a finite number in the interval."""
    import numpy as np

    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    inside = number and max(low, -GREATEST) <= value <= min(high, GREATEST)
    if not inside or (open_low and value == low) or (open_high and value == high):
        left, right = "(" if open_low else "[", ")" if open_high or np.isinf(high) else "]"
        raise ValueError(f"{name} must be a finite number in {left}{low:g}, {high:g}{right}, got {value!r}")


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    """Raise ValueError naming the parameter unless `value` is one of the choices."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")


def check_boolean(name: str, value: Any) -> None:
    """Raise ValueError naming the parameter unless `value` is a boolean."""
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be true or false, got {value!r}")


def check_list(name: str, value: Any) -> None:
    """Raise ValueError naming the parameter unless `value` is a list with at least one entry."""
    if isinstance(value, str) or not isinstance(value, Sequence) or not value:
        raise ValueError(f"{name} must be a list with at least one entry, got {value!r}")
