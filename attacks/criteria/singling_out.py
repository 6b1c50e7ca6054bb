"""Singling out: predicates on one or several columns that exactly one record meets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base import Attack, Knowledge, Predicates
from defenses.base import MicrodataRelease
from metrics.columns import (
    SUPPRESSED,
    Booleans,
    Cells,
    Domain,
    Floats,
    Integers,
    NumericCells,
    NumericDomain,
    check_integer,
    format_number,
    read_cells,
    require,
    unescape,
)


@dataclass(frozen=True)
class AtomicPredicate(ABC):
    """Predicate on one column of original records."""

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

    A missing cell covers missing values. `domain` is that of the original values.
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
        """Evaluate on n records, shape (n,), with results that several conjunctions share.

        `results` holds those of atomic predicates on these records by the predicates' identity; missing ones are added.
        """
        met = np.ones(len(frame), dtype=bool)
        for predicate in self.predicates:
            if id(predicate) not in results:
                results[id(predicate)] = predicate.holds(frame[predicate.column])
            met &= results[id(predicate)]
        return met


def records_met(predicates: Sequence[Callable[[pd.DataFrame], Booleans]], frame: pd.DataFrame) -> list[int]:
    """Number of records for which each predicate holds; an atomic predicate that several share is evaluated once.

    Predicates map a frame of n records to booleans, shape (n,).
    """
    results: dict[int, Booleans] = {}
    return [
        int((predicate.evaluated(frame, results) if isinstance(predicate, Conjunction) else predicate(frame)).sum())
        for predicate in predicates
    ]


BATCH = 256
"""Number of predicates tried at a time."""


class UnivariateSinglingOut(Attack):
    """Predicates on one column that hold for exactly one released row.

    The predicates of a column are ``column = cell`` for each cell that occurs in one row, and ``column <= smallest``
    and ``column >= largest`` for numbers. If there are more than `predicates`, a random subset is claimed. A release
    without rare cells yields few predicates.

    The attack assumes only the columns' public domains. It is the baseline of `MultivariateSinglingOut`.

    Parameters
    ----------
    predicates : int
        Maximum number of predicates, at least 1.

    References
    ----------
    Giomi, Boenisch, Wehmeyer and Tasnádi (2023), A unified framework for quantifying privacy risk in synthetic data,
    section 4.1; Cohen and Nissim (2020), Towards formalizing the GDPR's notion of singling out.

    Examples
    --------
    ``city = Ely``, each of the three ages, ``age <= 20`` and ``age >= 44`` hold for one row each:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from attacks import Knowledge, UnivariateSinglingOut
    >>> from defenses import Microdata, MicrodataRelease
    >>> table = pd.DataFrame({"city": ["Bath", "Bath", "Ely"], "age": [20, 30, 44]})
    >>> release = MicrodataRelease(table, origin=np.arange(3))
    >>> knowledge = Knowledge(table.iloc[:0], Microdata(pd.DataFrame({"city": ["Bath", "Ely"], "age": [18, 60]})))
    >>> claims = UnivariateSinglingOut().run(release, knowledge, np.random.default_rng(0))
    >>> [int(predicate(table).sum()) for predicate in claims.predicates]
    [1, 1, 1, 1, 1, 1]
    """

    called = ("Univariate singling out", "Anonymeter univariate")

    goal = "singling_out"

    def __init__(self, *, predicates: int = 200) -> None:
        self.predicates = check_integer("predicates", predicates, low=1)

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> Predicates:
        """Collect predicates from unique cells and extreme numbers."""
        columns = released_columns(release, knowledge)
        atoms = [atom for column in columns for atom in (*column.unique(), *column.extremes())]
        selected = rng.permutation(len(atoms))[: self.predicates]
        return Predicates([Conjunction((atoms[position],)) for position in selected])


class MultivariateSinglingOut(Attack):
    """Predicates on several columns that hold for exactly one released row.

    A released row and some columns are drawn. The predicate requires the row's cell in categorical and generalized
    columns. In numeric columns it requires a number at least or at most the row's, away from the column's median. The
    predicate is claimed if no other released row meets it and it was not claimed before. It draws in rounds until so
    many are claimed as are wanted, or a round claims no new one.

    The attack assumes only the columns' public domains. It extends `UnivariateSinglingOut` to conjunctions, which exist
    even where no single column has rare cells.

    Parameters
    ----------
    columns : int
        Number of columns in a predicate, at least 1; all columns if there are fewer.
    predicates : int
        Number of predicates wanted, at least 1.
    tries : int
        Number of draws in a round for each predicate wanted, at least 1.

    References
    ----------
    Giomi, Boenisch, Wehmeyer and Tasnádi (2023), section 4.1.
    """

    called = ("Multivariate singling out", "Anonymeter multivariate")

    goal = "singling_out"

    def __init__(self, *, columns: int = 4, predicates: int = 200, tries: int = 20) -> None:
        self.columns = check_integer("columns", columns, low=1)
        self.predicates = check_integer("predicates", predicates, low=1)
        self.tries = check_integer("tries", tries, low=1)

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> Predicates:
        """Draw predicates until enough hold for exactly one released row."""
        columns = released_columns(release, knowledge)
        rows = len(release.frame)
        if not rows:
            return Predicates([])
        width = min(self.columns, len(columns))
        claimed: dict[Conjunction, None] = {}
        batches, before = -(-self.predicates * self.tries // BATCH), 0
        for batch in count(1):
            row = rng.integers(rows, size=BATCH)
            selected = np.argsort(rng.random((BATCH, len(columns))), axis=1)[:, :width]
            meets = np.ones((BATCH, rows), dtype=bool)
            for number, column in enumerate(columns):
                uses = np.flatnonzero((selected == number).any(axis=1))
                meets[uses] &= column.meeting(row[uses])
            for attempt in np.flatnonzero(meets.sum(axis=1) == 1).tolist():
                predicates = (columns[number].predicate(int(row[attempt])) for number in np.sort(selected[attempt]))
                claimed[Conjunction(tuple(predicates))] = None
            if len(claimed) >= self.predicates:
                break
            if batch % batches == 0:
                if len(claimed) == before:
                    break
                before = len(claimed)
        return Predicates(list(claimed)[: self.predicates])


@dataclass(frozen=True)
class ReleasedColumn:
    """Released column from which predicates are built.

    - domain: Domain of the original values.
    - column, cells: The released cells, as they are and in coded form.
    - numbers, shape (rows,): The numbers, NaN where missing; None unless all cells are plain numbers.
    """

    name: str
    domain: Domain
    column: pd.Series[Any]
    cells: Cells
    numbers: Floats | None
    _predicates: dict[int, AtomicPredicate] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def median(self) -> float:
        """Median of the numbers, 0 if there is none."""
        present = np.zeros(0) if self.numbers is None else self.numbers[~np.isnan(self.numbers)]
        return float(np.median(present)) if present.size else 0.0

    def unique(self) -> list[AtomicPredicate]:
        """Predicates for the cells that occur in exactly one row."""
        codes = self.cells.codes
        rows = np.flatnonzero(np.bincount(codes, minlength=1)[codes] == 1)
        return [self._covered(int(row)) for row in rows if not self.cells.suppressed[codes[row]]]

    def extremes(self) -> list[AtomicPredicate]:
        """Predicates for the smallest and the largest number."""
        if self.numbers is None or np.isnan(self.numbers).all():
            return []
        low, high = float(np.nanmin(self.numbers)), float(np.nanmax(self.numbers))
        return [AtMost(self.name, low), AtLeast(self.name, high)]

    def meeting(self, rows: Integers) -> Booleans:
        """Which released rows meet the predicate built from each of `rows`, shape (len(rows), all rows)."""
        same_cell: Booleans = self.cells.codes[rows, None] == self.cells.codes
        if self.numbers is None:
            return same_cell
        own = self.numbers[rows, None]
        beyond = np.where(own > self.median, self.numbers >= own, self.numbers <= own)
        return np.where(np.isnan(own), same_cell, beyond)

    def predicate(self, row: int) -> AtomicPredicate:
        """The predicate built from a row's cell; rows with equal cells share one."""
        code = int(self.cells.codes[row])
        if code not in self._predicates:
            self._predicates[code] = self._built(row)
        return self._predicates[code]

    def _built(self, row: int) -> AtomicPredicate:
        if self.numbers is None or np.isnan(self.numbers[row]):
            return self._covered(row)
        number = float(self.numbers[row])
        return AtLeast(self.name, number) if number > self.median else AtMost(self.name, number)

    def _covered(self, row: int) -> AtomicPredicate:
        cell = self.column.iloc[row]
        return Covered(self.name, None if pd.isna(cell) else cell, self.domain)


def released_columns(release: MicrodataRelease, knowledge: Knowledge) -> list[ReleasedColumn]:
    """Released columns that the attacker's people have too; a ValueError if there is none."""
    people = knowledge.auxiliary
    names = [str(name) for name in release.frame.columns if name in people.frame.columns]
    require(names, "the release has no column that the attacker's own people have")
    result = []
    for name in names:
        column = release.frame[name]
        domain = people.domain(name)
        cells = read_cells(column, domain)
        numbers = cells.hull()[0][cells.codes] if isinstance(cells, NumericCells) and cells.plain.all() else None
        result.append(ReleasedColumn(name, domain, column, cells, numbers))
    return result
