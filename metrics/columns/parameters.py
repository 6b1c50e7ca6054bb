"""Checks of parameters: conditions, rows, integers, real numbers, choices, truth values and lists."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

GREATEST = sys.float_info.max
"""Largest finite float; larger integers are not valid real parameters either."""


def require(condition: object, message: str) -> None:
    """Raise ValueError with this message unless the condition holds."""
    if not condition:
        raise ValueError(message)


def refuse(condition: object, message: str) -> None:
    """Raise ValueError with this message if the condition holds."""
    if condition:
        raise ValueError(message)


def refuse_rows(wrong: ArrayLike, message: Callable[[int], str]) -> None:
    """Raise ValueError about the first row that is wrong, if there is one.

    Parameters
    ----------
    wrong : array_like of bool, shape (n,)
        Whether each row is wrong.
    message : callable
        What to say of a row, which is given by its position.

    Raises
    ------
    ValueError
        If a row is wrong.
    """
    import numpy as np

    rows = np.flatnonzero(wrong)
    if rows.size:
        raise ValueError(message(int(rows[0])))


def check_integer(name: str, value: Any, *, low: int) -> None:
    """Raise ValueError naming the parameter unless `value` is an integer of at least `low`.

    Parameters
    ----------
    name : str
        The parameter.
    value : object
        What was given; true and false are no integers.
    low : int
        Smallest integer allowed.

    Raises
    ------
    ValueError
        If it is none; says what is right.

    Examples
    --------
    >>> from defenses import check_integer
    >>> check_integer("base", 0, low=1)
    Traceback (most recent call last):
    ValueError: base must be an integer of at least 1, got 0
    """
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
    """Raise ValueError naming the parameter unless `value` is a finite number in the interval.

    Parameters
    ----------
    name : str
        The parameter.
    value : object
        What was given; true and false are no numbers.
    low, high : float
        Ends of the interval.
    open_low, open_high : bool
        Whether the interval leaves that end out.

    Raises
    ------
    ValueError
        If it is none; says what is right.

    Examples
    --------
    >>> from defenses import check_real
    >>> check_real("smoothing", float("inf"), low=0, open_low=True)
    Traceback (most recent call last):
    ValueError: smoothing must be a finite number in (0, inf), got inf
    """
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
