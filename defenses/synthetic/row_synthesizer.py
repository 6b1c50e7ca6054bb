"""Base class of synthesizers that draw rows from a fitted model, and combinations of values that cannot occur."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from defenses.base import Microdata, MicrodataDefense, MicrodataRelease, filled, released_frame
from defenses.synthetic.mixed_column import Drawn, MixedColumn, mixed_column
from metrics.columns import (
    SUPPRESSED,
    Booleans,
    Domain,
    Integers,
    NumericCells,
    NumericDomain,
    UnfitValueError,
    check_integer,
    errors_at,
    format_number,
    read_cells,
    refuse,
    require,
)

Zeros = Sequence[Mapping[str, str]]
"""Declared structural zeros, each as a mapping of columns to cells in the grammar of `metrics.columns.cells`."""


@dataclass(frozen=True)
class StructuralZero:
    """A combination of cells that no row may hold together, such as an age below 15 and a positive income.

    - cells: A released cell for each column: a value, an interval, a set or ``*``.
    """

    cells: Mapping[str, str]
    domains: Mapping[str, Domain]

    def holds(self, drawn: Mapping[str, Any]) -> Booleans:
        """Which rows hold the impossible combination, shape (rows,).

        - drawn of shape (rows,): Numbers, NaN where missing; or codes of categories, the last code where missing. At
          least one column; an absent column holds missing values only.
        """
        rows = len(next(iter(drawn.values())))
        covered = [self._covers(name, drawn.get(name, _missing(self.domains[name], rows))) for name in self.cells]
        return np.asarray(np.logical_and.reduce(covered))

    def cells_of(self, names: Sequence[str]) -> Booleans:
        """Which combinations of categories and whole bins are impossible; one axis for each of its columns, ascending.

        - names: All columns; they give the order of the axes.
        """
        result = np.ones((), dtype=bool)
        for name in (name for name in names if name in self.cells):
            result = result[..., None] & self._whole(name)
        return np.asarray(result)

    def __str__(self) -> str:
        return ", ".join(f"{name} = {cell}" for name, cell in self.cells.items())

    def _whole(self, name: str) -> Booleans:
        """Categories, or bins all of whose numbers are covered, shape (size,)."""
        domain = self.domains[name]
        if not isinstance(domain, NumericDomain):
            return self._covers(name, np.arange(domain.size))
        edges = np.ceil(domain.edges) if domain.integer else domain.edges
        last = edges[1:] - 1 if domain.integer else np.append(np.nextafter(edges[1:-1], -np.inf), edges[-1])
        first = np.minimum(edges[:-1], last)
        return self._covers(name, first) & self._covers(name, last) & self._convex(name)

    def _convex(self, name: str) -> bool:
        """Whether a cell of numbers is a single number or interval, or ``*``."""
        cell = read_cells(pd.Series([self.cells[name]], name=name, dtype=object), self.domains[name])
        return isinstance(cell, NumericCells) and cell.owner.size == 1

    def _covers(self, name: str, values: Any) -> Booleans:
        domain = self.domains[name]
        cell = read_cells(pd.Series([self.cells[name]], name=name, dtype=object), domain)
        if isinstance(domain, NumericDomain):
            return np.asarray(cell.contains(values)[0])
        return np.asarray(cell.contains(np.array([*domain.categories, None], dtype=object))[0][values])


def check_structural_zeros(zeros: Zeros) -> Zeros:
    """Return `structural_zeros` if it is a list of mappings of column names to cells; otherwise raise ValueError."""
    rules = isinstance(zeros, Sequence) and not isinstance(zeros, str)
    require(
        rules and all(isinstance(rule, Mapping) and rule and _texts(rule) for rule in zeros),
        (
            "structural_zeros must be a list of mappings of column names to cells, "
            f'such as {{"age": "[0,15)", "job": "{{clerk|nurse}}"}}, got {zeros!r}'
        ),
    )
    return zeros


def structural_zeros(records: Microdata, zeros: Zeros) -> tuple[StructuralZero, ...]:
    """Structural zeros with the domains of their columns.

    Raises ValueError if a column is not released or holds released cells, or a cell cannot be read; names the column.
    If a cell covers no number of a declared domain, or a rule covers every row.
    """
    result = []
    for rule in zeros:
        for name in rule:
            records.check_released("structural_zeros", name)
            require(name not in records.generalized, f"structural_zeros: column {name!r} holds released cells already")
        domains = {name: records.domain(name) for name in rule}
        for name, cell in rule.items():
            with errors_at("structural_zeros"):
                check_cell(name, cell, domains[name])
        refuse(
            all(cell == SUPPRESSED for cell in rule.values()),
            f"structural_zeros: the combination {', '.join(map(' = '.join, rule.items()))} forbids every row",
        )
        result.append(StructuralZero(rule, domains))
    return tuple(result)


def check_cell(name: str, cell: str, domain: Domain) -> None:
    """Raise ValueError unless a cell of a rule can be read and covers a value of a declared domain."""
    try:
        cells = read_cells(pd.Series([cell], name=name, dtype=object), domain)
    except UnfitValueError as error:
        raise ValueError(f"column {name!r}: {cell!r} {error.why}") from None
    if not isinstance(cells, NumericCells) or domain.inferred or cells.missing.any():
        return
    overlap = (cells.low <= cells.domain.high) & (cells.high >= cells.domain.low)
    bounds = f"{format_number(cells.domain.low)} to {format_number(cells.domain.high)}"
    require(
        overlap.any() or cells.or_missing.any(),
        f"column {name!r}: {cell} covers no number of the domain, which is {bounds}",
    )


def _missing(domain: Domain, rows: int) -> Any:
    """Missing values, shape (rows,)."""
    return np.full(rows, np.nan if isinstance(domain, NumericDomain) else domain.size)


def _texts(rule: Mapping[Any, Any]) -> bool:
    return all(isinstance(part, str) for pair in rule.items() for part in pair)


# Public domains of synthetic columns: checks, and random numbers inside drawn bins.

Inside = Callable[[Integers, Generator], Drawn]
"""``numbers(drawn, rng)``: a number inside each drawn bin, shape (n,)."""


def check_public_domains(records: Microdata, zeros: Zeros) -> None:
    """Raise ValueError unless each released column has a declared domain and holds original values, which zeros fit."""
    records.check_public(records.released_columns)
    for name in records.released_columns:
        require(
            name not in records.generalized,
            f"column {name!r} holds released cells already; private counts need the original values",
        )
    structural_zeros(records, zeros)


def numbers_inside(domain: NumericDomain, drawn: Integers, rng: Generator) -> Drawn:
    """Random numbers of drawn bins of a public domain, shape (n,), uniform inside each bin."""
    edges = np.ceil(domain.edges) if domain.integer else domain.edges
    low, high = edges[:-1][drawn], edges[1:][drawn]
    values = low + rng.random(drawn.size) * (high - low)
    return np.minimum(np.floor(values), math.floor(domain.high)).astype(np.int64) if domain.integer else values


Draw = Callable[[int, Generator], list[Drawn]]
"""``draw(rows, rng)``: values of new rows, one array of shape (rows,) for each column."""
MOST_ROUNDS = 100
"""Largest number of times that impossible rows are drawn again."""


class RowSynthesizer(MicrodataDefense):
    """A defense that fits a model to the records and draws new rows from it; it guarantees nothing.

    - rows: Number of new rows, at least 0; by default as many as records.
    - structural_zeros: Combinations of cells that cannot occur, in the grammar of `metrics.columns.cells`. Rows that
      hold one are drawn again; on `apply`, a ValueError is raised if rows still hold one after 100 draws.
    """

    def __init__(self, *, rows: int | None = None, structural_zeros: Zeros = ()) -> None:
        self.rows = check_integer("rows", rows, low=0, optional=True)
        self.structural_zeros = check_structural_zeros(structural_zeros)

    @abstractmethod
    def fit(self, columns: Sequence[MixedColumn], rng: Generator) -> Draw:
        """Fit the model to at least one column of at least one record; return a function that draws rows."""

    def check(self, records: Microdata) -> None:
        """Check that the parameters fit these records.

        Raises ValueError if they do not; names the parameter.
        """
        structural_zeros(records, self.structural_zeros)
        refuse(self.rows and not len(records), f"rows is {self.rows}, but there are no records to learn from")

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Fit the model and draw the rows."""
        count = len(records) if self.rows is None else int(self.rows)
        frame = released_frame(records)
        if len(records) or count:
            self.check(records)
        if not count:
            return MicrodataRelease(frame.iloc[:0], np.zeros(0, dtype=np.intp))
        names = filled(records, records.released_columns)
        columns = {name: mixed_column(records, name) for name in names}
        cells: dict[str, Any] = {
            name: frame[name].iloc[np.zeros(count, dtype=np.intp)].array for name in records.released_columns
        }
        if columns:
            draw = self.fit(list(columns.values()), rng)
            drawn = possible_rows(draw, names, structural_zeros(records, self.structural_zeros), count, rng)
            cells |= {name: column.released(drawn[name]).array for name, column in columns.items()}
        return MicrodataRelease(pd.DataFrame(cells, index=pd.RangeIndex(count)), np.full(count, -1), None)


def possible_rows(
    draw: Draw, names: Sequence[str], zeros: Sequence[StructuralZero], count: int, rng: Generator
) -> Mapping[str, Drawn]:
    """Draw rows, and draw those that hold a structural zero again.

    The rows then follow the model's distribution given that no structural zero occurs (rejection sampling). Raises
    ValueError if some rows still hold a structural zero after `MOST_ROUNDS` draws.
    """
    drawn = dict(zip(names, draw(count, rng), strict=True))
    for _ in range(MOST_ROUNDS):
        wrong = np.flatnonzero(np.any([np.zeros(count, dtype=bool), *(zero.holds(drawn) for zero in zeros)], axis=0))
        if not wrong.size:
            return drawn
        for name, values in zip(names, draw(wrong.size, rng), strict=True):
            drawn[name][wrong] = values
    rule = next(zero for zero in zeros if zero.holds(drawn).any())
    raise ValueError(f"structural_zeros: {MOST_ROUNDS} draws did not avoid the combination {rule}")
