"""Base class of defenses, attacks and games: objects that their keyword parameters describe fully."""

from __future__ import annotations

import inspect
import sys
from typing import Any, Self

GREATEST = sys.float_info.max
"""Largest finite float; larger integers are not valid real parameters either."""


class Parametrized:
    """Base class of objects that the keyword arguments of their constructor describe fully.

    A constructor takes keyword-only arguments and stores each unchanged under its own name. It checks whatever does not
    depend on records, and raises `ValueError` naming the parameter.
    """

    @classmethod
    def parameter_names(cls) -> tuple[str, ...]:
        """Names of the constructor's parameters, in their order."""
        if cls.__init__ is object.__init__:
            return ()
        return tuple(name for name in inspect.signature(cls).parameters)

    @classmethod
    def example(cls) -> Self:
        """An example instance; subclasses override it where a parameter has no default."""
        return cls()

    def get_params(self) -> dict[str, Any]:
        """Return the constructor's arguments as stored."""
        return {name: getattr(self, name) for name in self.parameter_names()}

    def set_params(self, **changes: Any) -> Self:
        """Change parameters, with the checks of the constructor.

        Raises
        ------
        ValueError
            If a parameter is unknown or a value is refused; the object is then unchanged.
        """
        unknown = sorted(set(changes) - set(self.parameter_names()))
        if unknown:
            names = ", ".join(self.parameter_names()) or "none"
            raise ValueError(f"{type(self).__name__} has no parameter {unknown[0]!r}; it has {names}")
        fresh = type(self)(**{**self.get_params(), **changes})
        self.__dict__.clear()
        self.__dict__.update(fresh.__dict__)
        return self

    def clone(self) -> Self:
        """Return a new object with the same parameters."""
        return type(self)(**self.get_params())

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"{type(self).__name__}({arguments})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Parametrized) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


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
