"""Conditions by which queries select records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from defenses.base.microdata import Microdata
from defenses.base.queries.columns import as_numbers, require_column
from metrics.arrays import Booleans


@dataclass(frozen=True)
class Condition:
    """Condition that a column takes one of some values, or lies in a closed interval.

    Parameters
    ----------
    column : str
        The column.
    values : tuple, optional
        Allowed values. A text is compared with the column's value as text, a number with it as a number.
    interval : tuple of float, optional
        ``(low, high)``, both included; an infinite end leaves that side open.

    Raises
    ------
    ValueError
        If not exactly one of `values` and `interval` is given, or the interval's ends are reversed or NaN.
    """

    column: str
    values: tuple[Any, ...] | None = None
    interval: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if (self.values is None) == (self.interval is None):
            raise ValueError("a condition needs either values or an interval")
        if self.values is not None:
            if isinstance(self.values, str):
                raise ValueError(f"values must be a list, got the text {self.values!r}")
            object.__setattr__(self, "values", tuple(self.values))
        if self.interval is not None:
            low, high = (float(end) for end in self.interval)
            if not low <= high:
                raise ValueError(f"interval must ascend, got [{low:g}, {high:g}]")
            object.__setattr__(self, "interval", (low, high))

    def holds(self, records: Microdata) -> Booleans:
        """Return for each record whether the condition holds, shape (n,).

        Raises
        ------
        ValueError
            If the records lack the column.
        """
        require_column(records, self.column)
        column = records.frame[self.column]
        if self.interval is not None:
            numbers = as_numbers(column)
            return (numbers >= self.interval[0]) & (numbers <= self.interval[1])
        assert self.values is not None  # noqa: S101 (one of the two is given)
        codes, distinct = pd.factorize(column)
        texts = {value for value in self.values if isinstance(value, str)}
        others = [value for value in self.values if not isinstance(value, str)]
        allowed = np.array([str(value) in texts or value in others for value in distinct] + [False])
        return np.asarray(allowed[codes], dtype=bool)
