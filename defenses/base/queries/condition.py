"""Conditions by which queries select records."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from defenses.base.microdata import Microdata
from defenses.base.queries.columns import as_numbers, coded
from metrics.columns import Booleans, refuse, require, require_column, texts_of


@dataclass(frozen=True)
class Condition:
    """Condition that a column takes one of some values, or lies in a closed interval.

    Parameters
    ----------
    column : str
        The column.
    values : tuple, optional
        Allowed values: texts, finite numbers and booleans. A text is compared with the column's value as text. A number
        is compared with it as a number, also where the column holds text that reads as a number. True counts as 1.
    interval : tuple of float, optional
        ``(low, high)``, both included; an infinite end leaves that side open.

    Raises
    ------
    ValueError
        If not exactly one of `values` and `interval` is given, a value is refused, or the interval's ends are not two
        numbers in ascending order.
    """

    column: str
    values: tuple[Any, ...] | None = None
    interval: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        require((self.values is None) != (self.interval is None), "a condition needs either values or an interval")
        if self.values is not None:
            refuse(isinstance(self.values, str), f"values must be a list, got the text {self.values!r}")
            object.__setattr__(self, "values", tuple(_checked(value) for value in self.values))
        if self.interval is not None:
            try:
                low, high = (float(end) for end in self.interval)
            except (TypeError, ValueError, OverflowError):
                raise ValueError("interval must be two numbers, (low, high)") from None
            require(low <= high, f"interval must ascend, got [{low:g}, {high:g}]")
            object.__setattr__(self, "interval", (low, high))

    def holds(self, records: Microdata) -> Booleans:
        """Return for each record whether the condition holds, shape (n,).

        Raises ValueError if the records lack the column.
        """
        require_column(records.frame.columns, self.column)
        column = records.frame[self.column]
        if self.interval is not None:
            numbers = as_numbers(column)
            return (numbers >= self.interval[0]) & (numbers <= self.interval[1])
        assert self.values is not None  # noqa: S101 (one of the two is given)
        texts = {value for value in self.values if isinstance(value, str)}
        result = np.zeros(len(records), dtype=bool)
        if texts:
            codes, distinct = coded(column)
            result = np.array([*(not texts.isdisjoint(texts_of(value)) for value in distinct), False])[codes]
        allowed = [float(value) for value in self.values if not isinstance(value, str)]
        if allowed:
            result = result | np.isin(as_numbers(column), allowed)
        return np.asarray(result, dtype=bool)


def _checked(value: Any) -> str | float | bool:
    """Return a value as a plain text, number or boolean.

    Raises ValueError if it is anything else, or not finite.
    """
    plain = value.item() if isinstance(value, np.bool_ | np.integer | np.floating) else value
    if isinstance(plain, str | bool):
        return plain
    if isinstance(plain, int | float):
        # An integer above the largest float would be equal to no number.
        refuse(
            (isinstance(plain, float) and not math.isfinite(plain)) or abs(plain) > sys.float_info.max,
            "values must be texts, finite numbers or booleans, got a number that is not finite",
        )
        return plain
    raise ValueError(f"values must be texts, finite numbers or booleans, got {type(value).__name__}")
