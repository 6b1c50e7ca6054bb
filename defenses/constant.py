"""One row for everybody."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from defenses.channel import Channel
from defenses.channel_parts import Independent
from defenses.columns import is_number_column
from defenses.defense import MicrodataDefense, released_frame, rowwise_release
from defenses.microdata import Microdata
from defenses.release import MicrodataRelease


class Constant(MicrodataDefense):
    """Every released column holds one value: the end of the scale where a row tells nothing of its record.

    Numbers are replaced by their lower median, an actual value; everything else by the most frequent cell, the first
    in order where several are. Missing values count only in a column without any other. What is released are
    statistics of the table, each of which depends on all records: it guarantees nothing in numbers.
    """

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Replace every released column by one value."""
        frame = released_frame(records)
        for name in frame.columns if len(frame) else ():
            everywhere = np.full(len(frame), _typical(frame[name]))
            frame[name] = frame[name].iloc[everywhere].reset_index(drop=True)
        return rowwise_release(frame, Channel(tuple(Independent(name) for name in records.released_columns)))


def _typical(column: pd.Series[Any]) -> int:
    """Position of a cell that is typical of the column."""
    if is_number_column(column):
        order = np.argsort(column.to_numpy(dtype=float, na_value=np.nan), kind="stable")
        return int(order[max(0, int(column.notna().sum()) - 1) // 2])
    codes, distinct = pd.factorize(column.astype(object), sort=True)
    return int(np.argmax(codes == np.bincount(codes[codes >= 0]).argmax())) if len(distinct) else 0
