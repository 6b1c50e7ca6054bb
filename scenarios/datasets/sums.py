"""Checksums of tables that are not read from a file."""

from __future__ import annotations

import hashlib

import numpy as np
import pandas as pd

from defenses import Hierarchy, Microdata
from metrics.columns import CategoricalDomain, NumericDomain

# Roles and public domains of tables of dated ratings.

PERIOD = 182
"""Width of a public bin of dates in days: half a year."""


def rating_table(frame: pd.DataFrame) -> Microdata:
    """Microdata of a table with columns ``person``, ``item``, ``rating`` (0.5 to 5 stars) and ``day`` (from 0).

    Rating and day are quasi-identifiers. The item has no role, so that a defense changes it only on request.
    """
    last = int(frame["day"].max())
    halves = list(range(PERIOD, last + 1, PERIOD))
    years = halves[1::2]
    stars = np.arange(1.0, 5.5, 0.5).tolist()
    items = sorted(frame["item"].unique())
    return Microdata(
        frame,
        quasi_identifiers=("rating", "day"),
        domains={
            "person": CategoricalDomain(tuple(sorted(frame["person"].unique()))),
            "item": CategoricalDomain(tuple(items)),
            "rating": NumericDomain(0.5, 5.0, cuts=tuple(stars)),
            "day": NumericDomain(0, last, integer=True, cuts=tuple(halves)),
        },
        hierarchies={
            "rating": Hierarchy.from_intervals([[1.5, 2.5, 3.5, 4.5], [2.5], []], 0.5, 5.0),
            "day": Hierarchy.from_intervals([cuts for cuts in (halves, years) if cuts] + [[]], 0, last, integer=True),
        },
        person="person",
    )


def frame_sum(frame: pd.DataFrame) -> str:
    """SHA-256 of the column names and all values, 64 hexadecimal digits."""
    digest = hashlib.sha256("\0".join(map(str, frame.columns)).encode())
    digest.update(pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes())
    return digest.hexdigest()
