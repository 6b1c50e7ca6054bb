"""Conditions on one column, and predicates that join them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metrics.cells import SUPPRESSED, read_cells, unescape
from metrics.domains import Domain, NumericDomain


@dataclass(frozen=True)
class AtomicPredicate(ABC):
    """A condition on one column of original records.

    Attributes
    ----------
    column : str
        Its name.
    """

    column: str

    @abstractmethod
    def holds(self, values: pd.Series[Any]) -> NDArray[np.bool_]:
        """Whether each original value meets the condition, shape (n,)."""


@dataclass(frozen=True)
class AtMost(AtomicPredicate):
    """A number of at most `bound`."""

    bound: float

    def holds(self, values: pd.Series[Any]) -> NDArray[np.bool_]:
        """Compare."""
        return np.asarray(values.to_numpy(dtype=float, na_value=np.nan) <= self.bound)


@dataclass(frozen=True)
class AtLeast(AtomicPredicate):
    """A number of at least `bound`."""

    bound: float

    def holds(self, values: pd.Series[Any]) -> NDArray[np.bool_]:
        """Compare."""
        return np.asarray(values.to_numpy(dtype=float, na_value=np.nan) >= self.bound)


@dataclass(frozen=True)
class Covered(AtomicPredicate):
    """A value that a released cell covers: the value itself, one inside its interval or of its set; or none at all.

    Parameters
    ----------
    column : str
        Its name.
    cell : object
        The released cell; missing for "no value".
    domain : Domain
        What the original values may be.
    """

    cell: Any
    domain: Domain

    def holds(self, values: pd.Series[Any]) -> NDArray[np.bool_]:
        """Read the cell and compare."""
        if not pd.isna(self.cell) and not str(self.cell).startswith(("[", "{", SUPPRESSED)):
            plain = float(self.cell) if isinstance(self.domain, NumericDomain) else unescape(str(self.cell))
            return np.asarray(values.to_numpy() == plain)
        codes, distinct = pd.factorize(values, use_na_sentinel=False)
        if len(distinct) == 0:
            return np.zeros(0, dtype=bool)
        cells = read_cells(pd.Series([self.cell], name=self.column), self.domain)
        return np.asarray(cells.contains(np.asarray(distinct))[0][codes])


@dataclass(frozen=True)
class Conjunction:
    """A predicate on records: all of some conditions."""

    predicates: tuple[AtomicPredicate, ...]

    def __call__(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        """Whether each record, shape (n, columns), meets all conditions, shape (n,)."""
        met = np.ones(len(frame), dtype=bool)
        for predicate in self.predicates:
            met &= predicate.holds(frame[predicate.column])
        return met
