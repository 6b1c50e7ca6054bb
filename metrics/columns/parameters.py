"""Checks of parameters: conditions, rows, integers, real numbers, choices, truth values and lists."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Given = TypeVar("Given")
Wrong = TypeVar("Wrong")

GREATEST = sys.float_info.max
"""Largest finite float; larger integers are not valid real parameters either."""


def require(condition: object, message: str, error: type[Exception] = ValueError) -> None:
    """Raise an error with this message unless the condition holds."""
    if not condition:
        raise error(message)


def refuse(condition: object, message: str, error: type[Exception] = ValueError) -> None:
    """Raise an error with this message if the condition holds."""
    require(not condition, message, error)


def refuse_any(wrong: Iterable[Wrong], message: Callable[[Wrong], str], error: type[Exception] = ValueError) -> None:
    """Raise an error about the first thing that is wrong, if there is one; `message` says what is wrong with it."""
    for one in wrong:
        raise error(message(one))


def refuse_rows(wrong: ArrayLike, message: Callable[[int], str], error: type[Exception] = ValueError) -> None:
    """Raise an error about the first row that is wrong, shape (n,), if there is one.

    `message` says what is wrong with the row at a position.
    """
    import numpy as np

    refuse_any(np.flatnonzero(wrong)[:1].tolist(), message, error)


@contextmanager
def errors_at(place: object, kinds: type[Exception] | tuple[type[Exception], ...] = ValueError) -> Iterator[None]:
    """Name the place in errors of some kinds, which become a ValueError.

    Examples
    --------
    >>> with errors_at("roles.toml"):
    ...     check_integer("k", 0, low=1)
    Traceback (most recent call last):
    ValueError: roles.toml: k must be an integer of at least 1, got 0
    """
    try:
        yield
    except kinds as error:
        raise ValueError(f"{place}: {error}") from None


def check_integer(name: str, value: Given, *, low: int, optional: bool = False) -> Given:
    """Return `value` if it is an integer of at least `low`; otherwise raise ValueError naming the parameter.

    Parameters
    ----------
    name : str
        The parameter.
    value : object
        What was given; true and false are no integers.
    low : int
        Smallest integer allowed.
    optional : bool
        Whether None is right, too.

    Returns
    -------
    object
        The value, so that a constructor can store what it checks.

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

    if optional and value is None:
        return value
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise ValueError(f"{name} must be an integer of at least {low}, got {value!r}")
    return value


def check_real(
    name: str,
    value: Given,
    *,
    low: float,
    high: float = float("inf"),
    open_low: bool = False,
    open_high: bool = False,
    optional: bool = False,
) -> Given:
    """Return `value` if it is a finite number in the interval; otherwise raise ValueError naming the parameter.

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
    optional : bool
        Whether None is right, too.

    Returns
    -------
    object
        The value, so that a constructor can store what it checks.

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

    if optional and value is None:
        return value
    number: Any = value
    inside = (
        isinstance(value, int | float | np.integer | np.floating)
        and not isinstance(value, bool)
        and max(low, -GREATEST) <= number <= min(high, GREATEST)
    )
    if not inside or (open_low and value == low) or (open_high and value == high):
        left, right = "(" if open_low else "[", ")" if open_high or np.isinf(high) else "]"
        raise ValueError(f"{name} must be a finite number in {left}{low:g}, {high:g}{right}, got {value!r}")
    return value


def finite_number(name: str, value: Any, kind: str = "a number") -> float:
    """A finite number, of any type that converts to one; else a TypeError that says the kind, or a ValueError."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be {kind}, got {type(value).__name__}") from None
    require(math.isfinite(number), f"{name} must be finite, got {number}")
    return number


def check_choice(name: str, value: Given, choices: Collection[str]) -> Given:
    """Return `value` if it is one of the choices; otherwise raise ValueError naming the parameter."""
    require(value in choices, f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")
    return value


def check_boolean(name: str, value: Given) -> Given:
    """Return `value` if it is a boolean; otherwise raise ValueError naming the parameter."""
    require(isinstance(value, bool), f"{name} must be true or false, got {value!r}")
    return value


def check_list(name: str, value: Given, check: Callable[..., object] | None = None, **bounds: Any) -> Given:
    """Return `value` if it is a list with an entry, and each is right; otherwise raise ValueError naming the parameter.

    - check: Check of an entry, such as `check_real`.
    - **bounds: What the check allows.
    """
    if isinstance(value, str) or not isinstance(value, Sequence) or not value:
        raise ValueError(f"{name} must be a list with at least one entry, got {value!r}")
    if check is not None:
        for entry in value:
            check(name, entry, **bounds)
    return value
