"""Public domains of synthetic columns: checks, and released cells from drawn categories and bins."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from numpy.random import Generator

from defenses.base.microdata import Microdata
from defenses.synthetic.mixed_column import Drawn
from metrics.arrays import Integers
from metrics.cells import escape
from metrics.domains import Domain, NumericDomain


def check_public_domains(records: Microdata) -> None:
    """Raise ValueError unless each released column has a declared domain and holds original values."""
    for name in records.not_public(records.released_columns):
        raise ValueError(f"the domain of column {name!r} is read from the records; declare it")
    for name in records.released_columns:
        if name in records.generalized:
            raise ValueError(f"column {name!r} holds released cells already; private counts need the original values")


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
    domains: Sequence[Domain], draw: Callable[[int, Generator], list[Integers]]
) -> Callable[[int, Generator], list[Drawn]]:
    """Draw values instead of categories and bins: codes of categories, or random numbers inside the drawn bins.

    Parameters
    ----------
    domains : sequence of Domain
        The public domains.
    draw : callable
        ``draw(rows, rng)``: category or bin of new rows, one array of shape (rows,) for each column.
    """

    def values(rows: int, rng: Generator) -> list[Drawn]:
        return [
            released_column(domain, drawn, rng).to_numpy() if isinstance(domain, NumericDomain) else drawn
            for domain, drawn in zip(domains, draw(rows, rng), strict=True)
        ]

    return values


def value_cells(domain: Domain, values: Drawn, rng: Generator) -> pd.Series[str] | pd.Series[float] | pd.Series[int]:
    """Released cells of values that `value_draw` has drawn."""
    return pd.Series(values) if isinstance(domain, NumericDomain) else released_column(domain, values, rng)
