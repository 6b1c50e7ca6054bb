"""What tables of dated ratings have in common: their roles and public domains."""

from __future__ import annotations

import numpy as np
import pandas as pd

from defenses.base.hierarchy import Hierarchy
from defenses.base.microdata import Microdata
from metrics.domains import CategoricalDomain, NumericDomain

PERIOD = 182
"""Days in a public bin of dates: half a year."""


def rating_table(frame: pd.DataFrame) -> Microdata:
    """Give a table with the columns person, item, rating (0.5 to 5 stars) and day (whole, from 0) its roles.

    Rating and day are quasi-identifiers; the item has no role, so that a defense changes it only where it is told to.
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
