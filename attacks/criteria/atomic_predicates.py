"""Atomic predicates on one column, and their conjunctions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from metrics.columns import SUPPRESSED, Booleans, Domain, NumericDomain, format_number, read_cells, unescape


@dataclass(frozen=True)
class AtomicPredicate(ABC):
    """Predicate on one column of original records.

    Attributes
    ----------
    column : str
        Name of the column.
    """

    column: str

    @abstractmethod
    def holds(self, values: pd.Series[Any]) -> Booleans:
        """Evaluate the predicate on original values; booleans of shape (n,)."""

    @abstractmethod
    def words(self, write: Callable[[Any], str] = str) -> str:
        """The predicate in words, with cells of the column as `write` writes them."""


@dataclass(frozen=True)
class AtMost(AtomicPredicate):
    """Holds for numbers of at most `bound`."""

    bound: float

    def holds(self, values: pd.Series[Any]) -> Booleans:
        """Compare each value with the bound; booleans of shape (n,)."""
        return np.asarray(values.to_numpy(dtype=float, na_value=np.nan) <= self.bound)

    def words(self, write: Callable[[Any], str] = str) -> str:
        """The predicate in words."""
        return f"{self.column} at most {write(format_number(self.bound))}"


@dataclass(frozen=True)
class AtLeast(AtomicPredicate):
    """Holds for numbers of at least `bound`."""

    bound: float

    def holds(self, values: pd.Series[Any]) -> Booleans:
        """Compare each value with the bound; booleans of shape (n,)."""
        return np.asarray(values.to_numpy(dtype=float, na_value=np.nan) >= self.bound)

    def words(self, write: Callable[[Any], str] = str) -> str:
        """The predicate in words."""
        return f"{self.column} at least {write(format_number(self.bound))}"


@dataclass(frozen=True)
class Covered(AtomicPredicate):
    """Holds for values that a released cell covers: its value, interval or set, or the missing value.

    Parameters
    ----------
    column : str
        Name of the column.
    cell : object
        The released cell; a missing cell covers missing values.
    domain : Domain
        Domain of the original values.
    """

    cell: Any
    domain: Domain

    def holds(self, values: pd.Series[Any]) -> Booleans:
        """Read the cell and test each value; booleans of shape (n,)."""
        if not pd.isna(self.cell) and not str(self.cell).startswith(("[", "{", SUPPRESSED)):
            plain = float(self.cell) if isinstance(self.domain, NumericDomain) else unescape(str(self.cell))
            return np.asarray(values.to_numpy() == plain)
        codes, distinct = pd.factorize(values, use_na_sentinel=False)
        if len(distinct) == 0:
            return np.zeros(0, dtype=bool)
        cells = read_cells(pd.Series([self.cell], name=self.column), self.domain)
        return np.asarray(cells.contains(np.asarray(distinct))[0][codes])

    def words(self, write: Callable[[Any], str] = str) -> str:
        """The predicate in words."""
        return f"{self.column} {write(self.cell)}"


@dataclass(frozen=True)
class Conjunction:
    """Predicate on records: the conjunction of atomic predicates."""

    predicates: tuple[AtomicPredicate, ...]

    def __call__(self, frame: pd.DataFrame) -> Booleans:
        """Evaluate on records of shape (n, columns); booleans of shape (n,)."""
        return self.evaluated(frame, {})

    def evaluated(self, frame: pd.DataFrame, results: dict[int, Booleans]) -> Booleans:
        """Evaluate on records, with results that several conjunctions share.

        Parameters
        ----------
        frame : DataFrame, shape (n, columns)
            The records.
        results : dict of int to ndarray of bool
            Results of atomic predicates on these records by the predicates' identity; missing ones are added.

        Returns
        -------
        ndarray of bool, shape (n,)
        """
        met = np.ones(len(frame), dtype=bool)
        for predicate in self.predicates:
            if id(predicate) not in results:
                results[id(predicate)] = predicate.holds(frame[predicate.column])
            met &= results[id(predicate)]
        return met


def records_met(predicates: Sequence[Callable[[pd.DataFrame], Booleans]], frame: pd.DataFrame) -> list[int]:
    """Number of records for which each predicate holds; an atomic predicate that several share is evaluated once.

    Parameters
    ----------
    predicates : sequence of callable
        Each maps a frame of records, shape (n, columns), to booleans, shape (n,).
    frame : DataFrame, shape (n, columns)
        The records.
    """
    results: dict[int, Booleans] = {}
    return [
        int((predicate.evaluated(frame, results) if isinstance(predicate, Conjunction) else predicate(frame)).sum())
        for predicate in predicates
    ]
