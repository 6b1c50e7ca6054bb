"""Queries that count records, in total or by several columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from defenses.base.microdata import Microdata
from defenses.base.queries.columns import codes, labels
from defenses.base.queries.query import Query
from metrics.columns import Floats, Integers, refuse


@dataclass(frozen=True, eq=False)
class Count(Query):
    """Number of selected records."""

    def exact(self, records: Microdata) -> float:
        """Return the count."""
        return float(np.count_nonzero(self.selected(records)))


@dataclass(frozen=True, eq=False)
class ContingencyTable(Query):
    """Number of selected records in each combination of categories or public bins of some columns."""

    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse(
            isinstance(self.columns, str) or not self.columns or len(set(self.columns)) < len(self.columns),
            f"columns must be a list of column names, each once, got {self.columns!r}",
        )
        object.__setattr__(self, "columns", tuple(self.columns))

    @property
    def subjects(self) -> tuple[str, ...]:
        """The columns."""
        return self.columns

    def exact(self, records: Microdata) -> Floats:
        """Return the counts, shape (categories of the first column, ... of the last)."""
        sizes = tuple(len(labels(records, name)) for name in self.columns)
        selected = self.selected(records)
        return counted([codes(records, name)[selected] for name in self.columns], sizes)


def counted(codes: Sequence[Integers], shape: tuple[int, ...]) -> Floats:
    """Number of rows in each combination of values, one axis for each column; rows with a negative code do not count.

    Codes are arrays of shape (n,) for each column, and the shape is the number of values of each column.
    """
    valid = np.all([code >= 0 for code in codes], axis=0)
    flat = np.ravel_multi_index(tuple(code[valid] for code in codes), shape)
    return np.bincount(flat, minlength=math.prod(shape)).astype(float).reshape(shape)
