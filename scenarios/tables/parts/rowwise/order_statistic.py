"""Sorted numbers of a column of a table that is read in parts."""

from __future__ import annotations

import numpy as np

from scenarios.tables.parts.records import LargeRecords
from scenarios.tables.parts.rowwise.steps import code_counts


def ordered_number(records: LargeRecords, name: str, position: int) -> float:
    """Number at a position among the sorted numbers of a column, without missing ones.

    Parameters
    ----------
    records : LargeRecords
        The records.
    name : str
        A numeric column.
    position : int
        Position from 0.
    """
    column = records.columns[name]
    if not column.numbers_only:
        counts = code_counts(column)[: column.missing]
        return float(column.values[np.searchsorted(np.cumsum(counts), position, side="right")])
    number = column.raw.code
    ((value,),) = records.files.fetch(
        f"SELECT number FROM (SELECT {number} AS number FROM source) "
        f"WHERE number IS NOT NULL AND NOT isnan(number) ORDER BY number LIMIT 1 OFFSET {position}"
    )
    return float(value)
