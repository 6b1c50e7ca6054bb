"""Summary of a table that is read in parts, as `tokumei validate` shows it."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from scenarios.tables.parts.records import Block, LargeRecords
from scenarios.tables.parts.sampled_rows import SAMPLED, sampled_rows
from scenarios.tables.parts.sql_names import quoted
from scenarios.tables.review.summary import ColumnSummary, summary


class Counts(NamedTuple):
    """Numbers of rows without a value and of distinct values of a column.

    Parameters
    ----------
    missing : int
        Rows without a value.
    distinct : int or str
        Distinct values; about how many, in words, where they are estimated.
    """

    missing: int
    distinct: int | str


def large_summary(records: LargeRecords) -> list[ColumnSummary]:
    """Summary of every column in the table's order; see `scenarios.tables.review.summary.summary`.

    Numbers of distinct values are estimated for identifiers, for columns that are left out, and for columns of numbers
    that are nearly all distinct.
    """
    return [row._replace(**_counts(records, row.column)._asdict()) for row in summary(records.dataset)]


def _counts(records: LargeRecords, name: str) -> Counts:
    column = records.columns.get(name)
    if column is None or column.numbers_only:
        missing, distinct = _estimated(records, name)
        return Counts(missing, f"about {distinct:,}")
    raw = column.raw
    of_value = column.of_raw[raw.of_code >= 0]
    is_missing = of_value == column.missing
    counts = raw.counts[raw.of_code[raw.of_code >= 0]]
    return Counts(raw.missing + int(counts[is_missing].sum()), pd.unique(of_value[~is_missing]).size)


def _estimated(records: LargeRecords, name: str) -> tuple[int, int]:
    """Rows without a value, and about how many distinct values there are."""
    column = f"source.{quoted(name)}"
    kind = records.files.type_of(name)
    value = f"CASE WHEN isnan({column}) THEN NULL ELSE {column} END" if kind in ("FLOAT", "DOUBLE") else column
    value = f"nullif({column}, '')" if kind == "VARCHAR" else value
    query = f"SELECT count(*) - count({value}), approx_count_distinct({value}) FROM source"
    ((missing, distinct),) = records.files.fetch(query)
    return int(missing), int(distinct)


def sampled_frame(records: LargeRecords) -> tuple[pd.DataFrame, bool]:
    """Values of a random sample of the rows, and whether it is smaller than the table."""
    rows = sampled_rows(records.files, {name: column.raw for name, column in records.columns.items()})
    coded = {
        name: rows[name] if column.numbers_only else column.of_raw[rows[name]]
        for name, column in records.columns.items()
    }
    return records.frame(Block(0, 0, coded)), records.rows > SAMPLED
