"""Summary of a table that is read in parts, as `tokumei validate` shows it."""

from __future__ import annotations

from typing import Any

import pandas as pd

from defenses import MicrodataDefense
from scenarios.tables.note import Note
from scenarios.tables.parts.files.sql_names import quoted
from scenarios.tables.parts.raw_columns import SAMPLED, sampled_rows
from scenarios.tables.parts.records import Block, LargeRecords
from scenarios.tables.review.column_names import look_like_people
from scenarios.tables.review.notes import (
    SEEN,
    RepeatedIdentifier,
    numbering_identifiers,
    repeated_identifier_warnings,
    table_notes,
)
from scenarios.tables.review.rows_of_people import RowsOfPeople
from scenarios.tables.review.summary import ColumnSummary, summary

# Numbers of rows and people of a table that is read in parts.

SURE = 0.9
"""Share of distinct values, as estimated, below which an identifier repeats for sure and its values are counted."""


def large_rows_of_people(records: LargeRecords) -> RowsOfPeople | None:
    """Count the rows of people whose column is declared; None if no person has two rows."""
    person = records.dataset.records.person
    if person is None:
        return None
    groups = f"SELECT {quoted(person)} IS NULL AS unnamed, count(*) AS rows FROM source GROUP BY {quoted(person)}"
    numbers = "sum(rows), sum(if(unnamed, rows, 1)), max(if(unnamed, 1, rows))"
    ((rows, people, most),) = records.files.fetch(f"SELECT {numbers} FROM ({groups})")
    return RowsOfPeople(person, int(rows), int(people), int(most)) if rows and most > 1 else None


def large_repeated_people_warnings(records: LargeRecords) -> list[Note]:
    """Warnings of identifiers that repeat, as `scenarios.tables.review.notes.repeated_people_warnings` gives them.

    Counting many distinct values takes long, so only identifiers of which at most `SURE` are distinct are counted.
    """
    names = [name for name in numbering_identifiers(records.dataset) if name in records.files.columns]
    return repeated_identifier_warnings(one for name in names if (one := _repeated(records, name)) is not None)


def _repeated(records: LargeRecords, name: str) -> RepeatedIdentifier | None:
    column, fetch = quoted(name), records.files.fetch
    ((about, rows),) = fetch(f"SELECT approx_count_distinct({column}), count({column}) FROM source")
    if about >= SURE * rows:
        return None
    ((values,),) = fetch(f"SELECT count(DISTINCT {column}) FROM source")
    texts = [] if records.files.type_of(name) != "VARCHAR" else _some_texts(records, column)
    return RepeatedIdentifier(name, int(values), int(rows), bool(texts) and look_like_people(texts))


def _some_texts(records: LargeRecords, column: str) -> list[str]:
    query = f"SELECT DISTINCT {column} FROM source WHERE {column} IS NOT NULL LIMIT {SEEN}"
    return [text for (text,) in records.files.fetch(query)]


def large_table_notes(records: LargeRecords, defense: MicrodataDefense | None = None) -> list[Note]:
    """All that was inferred about the table or is doubtful in it; see `scenarios.tables.review.notes.table_notes`."""
    frame, is_sample = sampled_frame(records)
    said = table_notes(
        records.dataset,
        defense,
        frame=frame,
        repeated=large_repeated_people_warnings(records),
        several=large_rows_of_people(records),
    )
    return [*([Note("sample", numbers={"rows": len(frame)})] if is_sample else []), *said]


def large_summary(records: LargeRecords) -> list[ColumnSummary]:
    """Summary of every column in the table's order; see `scenarios.tables.review.summary.summary`.

    Numbers of distinct values are estimated for identifiers, for columns that are left out, and for columns of numbers
    that are nearly all distinct.
    """
    return [row._replace(**_counts(records, row.column)) for row in summary(records.dataset)]


def _counts(records: LargeRecords, name: str) -> dict[str, Any]:
    """Numbers of rows without a value (`missing`) and of distinct values (`distinct`) of a column."""
    column = records.columns.get(name)
    if column is None or column.numbers_only:
        missing, distinct = _estimated(records, name)
        return {"missing": missing, "distinct": f"about {distinct:,}"}
    raw = column.raw
    of_value = column.of_raw[raw.of_code >= 0]
    is_missing = of_value == column.missing
    counts = raw.counts[raw.of_code[raw.of_code >= 0]]
    missing = raw.missing + int(counts[is_missing].sum())
    return {"missing": missing, "distinct": pd.unique(of_value[~is_missing]).size}


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
