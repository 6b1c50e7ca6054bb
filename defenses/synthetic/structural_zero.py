"""Combinations of values that cannot occur."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from defenses.base import Microdata
from metrics.columns import (
    SUPPRESSED,
    Booleans,
    Domain,
    NumericCells,
    NumericDomain,
    UnfitValueError,
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

    Attributes
    ----------
    cells : mapping of str to str
        A released cell for each column: a value, an interval, a set or ``*``.
    domains : mapping of str to Domain
        Domains of these columns.
    """

    cells: Mapping[str, str]
    domains: Mapping[str, Domain]

    def holds(self, drawn: Mapping[str, Any]) -> Booleans:
        """Which rows hold the impossible combination, shape (rows,).

        Parameters
        ----------
        drawn : mapping of str to ndarray, shape (rows,) each
            Numbers, NaN where missing; or codes of categories, the last code where missing. At least one column; an
            absent column holds missing values only.
        """
        rows = len(next(iter(drawn.values())))
        covered = [self._covers(name, drawn.get(name, _missing(self.domains[name], rows))) for name in self.cells]
        return np.asarray(np.logical_and.reduce(covered))

    def cells_of(self, names: Sequence[str]) -> Booleans:
        """Which combinations of categories and whole bins are impossible; one axis for each of its columns, ascending.

        Parameters
        ----------
        names : sequence of str
            All columns; they give the order of the axes.
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
            try:
                check_cell(name, cell, domains[name])
            except ValueError as error:
                raise ValueError(f"structural_zeros: {error}") from None
        check_avoidable(rule)
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


def check_avoidable(rule: Mapping[str, str]) -> None:
    """Raise ValueError if a rule covers every row, whatever its values."""
    words = ", ".join(f"{name} = {cell}" for name, cell in rule.items())
    refuse(
        all(cell == SUPPRESSED for cell in rule.values()),
        f"structural_zeros: the combination {words} forbids every row",
    )


def _missing(domain: Domain, rows: int) -> Any:
    """Missing values, shape (rows,)."""
    return np.full(rows, np.nan if isinstance(domain, NumericDomain) else domain.size)


def _texts(rule: Mapping[Any, Any]) -> bool:
    return all(isinstance(part, str) for pair in rule.items() for part in pair)
