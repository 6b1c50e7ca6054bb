"""Public domains of synthetic columns: checks, and random numbers inside drawn bins."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from defenses.base import Microdata
from defenses.synthetic.mixed_column import Drawn
from metrics.columns import Integers, NumericDomain, require

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
