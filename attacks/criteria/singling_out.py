"""Singling out: predicates that hold of exactly one record, read off a release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.base.attack import Attack, Knowledge
from attacks.base.claims import Predicates
from attacks.criteria.atomic_predicates import AtLeast, AtMost, AtomicPredicate, Conjunction, Covered
from defenses.base.parameters import check_integer
from defenses.base.release import MicrodataRelease
from metrics.arrays import Floats
from metrics.cells import Cells, NumericCells, read_cells
from metrics.domains import Domain

BATCH = 256
"""Predicates tried at a time."""


class UnivariateSinglingOut(Attack):
    """Predicates on one column: values that one released row alone has, and the smallest and largest numbers.

    For every column: ``column = cell`` for each cell that stands in one row; ``column <= smallest`` and ``column >=
    largest`` for numbers. Of more than `predicates` some are drawn. A release without rare cells yields few.

    Parameters
    ----------
    predicates : int
        Largest number of predicates, at least 1.

    References
    ----------
    Giomi, Boenisch, Wehmeyer and Tasnádi (2023), A unified framework for quantifying privacy risk in synthetic data,
    section 4.1; Cohen and Nissim (2020), Towards formalizing the GDPR's notion of singling out.
    """

    goal: ClassVar[str] = "singling_out"

    def __init__(self, *, predicates: int = 200) -> None:
        self.predicates = predicates
        check_integer("predicates", predicates, low=1)

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> Predicates:
        """Collect rare cells and ends."""
        found: list[AtomicPredicate] = []
        for column in released_columns(release, knowledge):
            found += column.rare()
            found += column.ends()
        kept = rng.permutation(len(found))[: self.predicates]
        return Predicates([Conjunction((found[position],)) for position in kept])


class MultivariateSinglingOut(Attack):
    """Predicates on several columns that hold of exactly one released row.

    A released row and some columns are drawn; the predicate asks for the row's cell in categorical columns and in
    generalized ones, and for a number of at least or at most the row's, away from the column's median. It is claimed
    if no other released row meets it and it was not claimed before.

    Parameters
    ----------
    columns : int
        Columns of a predicate, at least 1; all where there are fewer.
    predicates : int
        Number of predicates wanted, at least 1.
    tries : int
        How many are tried for each one wanted, at least 1.

    References
    ----------
    Giomi, Boenisch, Wehmeyer and Tasnádi (2023), section 4.1.
    """

    goal: ClassVar[str] = "singling_out"

    def __init__(self, *, columns: int = 4, predicates: int = 200, tries: int = 20) -> None:
        self.columns = columns
        self.predicates = predicates
        self.tries = tries
        check_integer("columns", columns, low=1)
        check_integer("predicates", predicates, low=1)
        check_integer("tries", tries, low=1)

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> Predicates:
        """Draw, try, keep."""
        columns = released_columns(release, knowledge)
        rows = len(release.frame)
        if not rows:
            return Predicates([])
        width = min(self.columns, len(columns))
        found: dict[Conjunction, None] = {}
        for _ in range(-(-self.predicates * self.tries // BATCH)):
            row = rng.integers(rows, size=BATCH)
            chosen = np.argsort(rng.random((BATCH, len(columns))), axis=1)[:, :width]
            meets = np.ones((BATCH, rows), dtype=bool)
            for number, column in enumerate(columns):
                uses = np.flatnonzero((chosen == number).any(axis=1))
                meets[uses] &= column.like(row[uses])
            for attempt in np.flatnonzero(meets.sum(axis=1) == 1).tolist():
                predicates = (columns[number].predicate(int(row[attempt])) for number in np.sort(chosen[attempt]))
                found[Conjunction(tuple(predicates))] = None
            if len(found) >= self.predicates:
                break
        return Predicates(list(found)[: self.predicates])


@dataclass(frozen=True)
class ReleasedColumn:
    """A released column, as predicates are made from it.

    Attributes
    ----------
    name : str
        Its name.
    domain : Domain
        What the original values may be.
    column : Series, shape (rows,)
        Its cells.
    cells : Cells
        The same in coded form.
    numbers : ndarray of float, shape (rows,), or None
        The numbers, NaN where missing, if all cells are plain numbers.
    """

    name: str
    domain: Domain
    column: pd.Series[Any]
    cells: Cells
    numbers: Floats | None

    @property
    def median(self) -> float:
        """Median of the numbers, 0 where there is none."""
        present = np.zeros(0) if self.numbers is None else self.numbers[~np.isnan(self.numbers)]
        return float(np.median(present)) if present.size else 0.0

    def rare(self) -> list[AtomicPredicate]:
        """Cells that one row alone has."""
        codes = self.cells.codes
        rows = np.flatnonzero(np.bincount(codes, minlength=1)[codes] == 1)
        return [self._covered(int(row)) for row in rows if not self.cells.suppressed[codes[row]]]

    def ends(self) -> list[AtomicPredicate]:
        """The smallest and the largest number."""
        if self.numbers is None or np.isnan(self.numbers).all():
            return []
        low, high = float(np.nanmin(self.numbers)), float(np.nanmax(self.numbers))
        return [AtMost(self.name, low), AtLeast(self.name, high)]

    def like(self, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Which released rows meet the condition that each of `rows` gives, shape (len(rows), all rows)."""
        alike: NDArray[np.bool_] = self.cells.codes[rows, None] == self.cells.codes
        if self.numbers is None:
            return alike
        own = self.numbers[rows, None]
        beyond = np.where(own > self.median, self.numbers >= own, self.numbers <= own)
        return np.where(np.isnan(own), alike, beyond)

    def predicate(self, row: int) -> AtomicPredicate:
        """The condition that a row gives."""
        if self.numbers is None or np.isnan(self.numbers[row]):
            return self._covered(row)
        number = float(self.numbers[row])
        return AtLeast(self.name, number) if number > self.median else AtMost(self.name, number)

    def _covered(self, row: int) -> AtomicPredicate:
        cell = self.column.iloc[row]
        return Covered(self.name, None if pd.isna(cell) else cell, self.domain)


def released_columns(release: MicrodataRelease, knowledge: Knowledge) -> list[ReleasedColumn]:
    """Columns of the release about which the public domains say something.

    Raises
    ------
    ValueError
        If there is none.
    """
    people = knowledge.auxiliary
    names = [str(name) for name in release.frame.columns if name in people.frame.columns]
    if not names:
        raise ValueError("the release has no column of which the attacker knows what it means")
    result = []
    for name in names:
        column = release.frame[name]
        domain = people.domains[name] if name in people.domains else people.domain(name)
        cells = read_cells(column, domain)
        numbers = cells.hull()[0][cells.codes] if isinstance(cells, NumericCells) and cells.plain.all() else None
        result.append(ReleasedColumn(name, domain, column, cells, numbers))
    return result
