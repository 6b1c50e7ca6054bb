"""One constant row for everybody."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.random import Generator

from defenses.base import (
    Channel,
    Microdata,
    MicrodataDefense,
    MicrodataRelease,
    is_number_column,
    released_frame,
    rowwise_release,
)
from defenses.base.channel_parts import Independent


class Constant(MicrodataDefense):
    """Every released column holds one value: the reference for utility 0.

    The value of a categorical column is its most frequent category. For numbers it is the lower median of the numbers
    in the most frequent public bin. In case of a tie, the first category or bin counts. The value is missing where most
    values are missing. Tables with the same size and the same such values have the same release. These values depend on
    all records, so that there is no numeric guarantee.
    """

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Replace every released column by one value."""
        frame = released_frame(records)
        for name in frame.columns if len(frame) else ():
            positions = np.full(len(frame), _typical(records, name))
            frame[name] = frame[name].iloc[positions].reset_index(drop=True)
        return rowwise_release(frame, Channel(tuple(Independent(name) for name in records.released_columns)))


def _typical(records: Microdata, name: str) -> int:
    """Position of a record with the column's typical value."""
    column = records.frame[name].reset_index(drop=True)
    if column.isna().all():
        return 0
    if name in records.generalized:
        codes = pd.factorize(column.astype(object), use_na_sentinel=False)[0]
    else:
        codes = records.domain(name).codes(column)
    inside = np.flatnonzero(codes == np.bincount(codes).argmax())
    order = np.argsort(column.to_numpy()[inside], kind="stable") if is_number_column(column) else np.arange(inside.size)
    return int(inside[order[(inside.size - 1) // 2]])
