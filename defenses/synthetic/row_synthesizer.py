"""Base class of synthesizers that fit a model to the records and draw rows from it."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from defenses.base import Microdata, MicrodataDefense, MicrodataRelease, filled, released_frame
from defenses.synthetic.mixed_column import Drawn, MixedColumn, mixed_column
from defenses.synthetic.structural_zero import StructuralZero, Zeros, check_structural_zeros, structural_zeros
from metrics.columns import Integers, NumericDomain, check_integer, refuse, require

# Public domains of synthetic columns: checks, and random numbers inside drawn bins.

Inside = Callable[[Integers, Generator], Drawn]
"""``numbers(drawn, rng)``: a number inside each drawn bin, shape (n,)."""


def check_public_domains(records: Microdata) -> None:
    """Raise ValueError unless each released column has a declared domain and holds original values."""
    records.check_public(records.released_columns)
    for name in records.released_columns:
        require(
            name not in records.generalized,
            f"column {name!r} holds released cells already; private counts need the original values",
        )


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

    Parameters
    ----------
    rows : int, optional
        Number of new rows, at least 0; by default as many as records.
    structural_zeros : sequence of mapping of str to str
        Combinations of cells that cannot occur, in the grammar of `metrics.columns.cells`. Rows that hold one are drawn
        again.

    Raises
    ------
    ValueError
        If a parameter is out of range; on `apply`, if a value is no category of its domain or no finite number.
        On `apply`, if a structural zero cannot be read, or rows still hold one after 100 draws.
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
