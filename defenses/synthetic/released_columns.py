"""Public domains of synthetic columns: checks, and released cells from drawn categories and bins."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from numpy.random import Generator

from defenses.base import Microdata
from defenses.synthetic.mixed_column import Drawn
from metrics.columns import Domain, Integers, NumericDomain, escape, require

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


def released_column(
    domain: Domain, drawn: Integers, rng: Generator
) -> pd.Series[str] | pd.Series[float] | pd.Series[int]:
    """Released cells: categories, or random numbers inside bins.

    Parameters
    ----------
    domain : Domain
        The public domain.
    drawn : ndarray of int, shape (n,)
        Category or bin of each row.
    rng : Generator
        Draws the numbers, uniformly inside each bin.
    """
    if not isinstance(domain, NumericDomain):
        return pd.Series(np.array([escape(name) for name in domain.categories], dtype=object)[drawn], dtype=object)
    edges = np.ceil(domain.edges) if domain.integer else domain.edges
    low, high = edges[:-1][drawn], edges[1:][drawn]
    values = low + rng.random(drawn.size) * (high - low)
    if not domain.integer:
        return pd.Series(values)
    return pd.Series(np.minimum(np.floor(values), math.floor(domain.high)).astype(np.int64))


def value_draw(
    inside: Sequence[Inside | None], draw: Callable[[int, Generator], list[Integers]]
) -> Callable[[int, Generator], list[Drawn]]:
    """Draw values instead of categories and bins: codes of categories, or numbers inside the drawn bins.

    Parameters
    ----------
    inside : sequence of callable
        What draws the numbers of each column; None for categories.
    draw : callable
        ``draw(rows, rng)``: category or bin of new rows, one array of shape (rows,) for each column.
    """

    def values(rows: int, rng: Generator) -> list[Drawn]:
        return [
            drawn if numbers is None else numbers(drawn, rng)
            for numbers, drawn in zip(inside, draw(rows, rng), strict=True)
        ]

    return values


def uniform_inside(domain: Domain) -> Inside | None:
    """Return what draws numbers uniformly inside bins; None for categories."""
    if not isinstance(domain, NumericDomain):
        return None
    return lambda drawn, rng: released_column(domain, drawn, rng).to_numpy()


def value_cells(domain: Domain, values: Drawn, rng: Generator) -> pd.Series[str] | pd.Series[float] | pd.Series[int]:
    """Released cells of values that `value_draw` has drawn."""
    return pd.Series(values) if isinstance(domain, NumericDomain) else released_column(domain, values, rng)
