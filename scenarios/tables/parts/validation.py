"""Summary of a table that is read in parts, as `tokumei validate` shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from defenses import MicrodataDefense
from metrics.columns import Domain, NumericDomain
from scenarios.tables.note import Note
from scenarios.tables.parts.files.csv_files import quoted
from scenarios.tables.parts.files.table_files import TableFiles
from scenarios.tables.parts.raw_columns import (
    LIMIT,
    SAMPLED,
    RawColumn,
    raw_columns,
    sampled_column,
    sampled_rows,
    value_texts,
    wide_column,
)
from scenarios.tables.parts.records import LargeRecords, StoredBlock
from scenarios.tables.reading.text_column import TextColumn
from scenarios.tables.review.column_names import look_like_people
from scenarios.tables.review.description import Description, TableRows, described_table
from scenarios.tables.review.notes import (
    SEEN,
    RepeatedIdentifier,
    numbering_identifiers,
    repeated_identifier_warnings,
    table_notes,
)
from scenarios.tables.review.rows_of_people import RowsOfPeople
from scenarios.tables.review.suggestions import IDENTIFIER, Suggestion
from scenarios.tables.review.summary import ColumnSummary, summary
from scenarios.tables.roles import read_roles

# A description of a table that is read in parts: a roles file with suggested roles, for a person to review.

WIDE = Suggestion(
    IDENTIFIER,
    f"more than {LIMIT:,} distinct texts, which no release of a table in parts can hold; if they are numbers, store "
    "them as numbers (Parquet)",
    guess=True,
)


def describe_large_table(
    path: Path, roles: Path | None, output: Path, *, reading: Mapping[str, Any] | None = None, memory: int
) -> Description:
    """Describe a table that is read in parts; see `scenarios.tables.review.description.describe_table`.

    Parameters
    ----------
    path : Path
        A Parquet file, a folder of Parquet files, or a CSV file.
    roles, output, reading
        As for a table in memory.
    memory : int
        Bytes of memory. Half of it is DuckDB's.

    Raises
    ------
    ValueError
        As for a table in memory.

    Notes
    -----
    Domains and numbers of missing values are those of all rows. Roles and uniqueness rest on a random sample of
    `scenarios.tables.parts.raw_columns.SAMPLED` rows, as the text says.
    """
    declared = read_roles(roles, reading)
    with TableFiles.of(path, declared, memory=memory // 2) as files:

        def wide(files: TableFiles, name: str) -> RawColumn:
            is_text = files.type_of(name) == "VARCHAR"
            return wide_column(files, name, declared.na) if is_text else sampled_column(files, name)

        raw = raw_columns(files, files.columns, wide=wide)
        table = value_texts(files, raw, declared)
        sample = sampled_rows(files, raw)
        files.check_unchanged()
        texts = [name for name, column in raw.items() if column.sampled and files.type_of(name) == "VARCHAR"]
        rows = files.rows

    def table_rows(domains: dict[str, Domain]) -> TableRows:
        frame = {
            name: _values(raw[name], column, domains.get(name), sample[name], is_text=name in texts)
            for name, column in table.columns.items()
        }
        missing = {name: _missing(raw[name], column) for name, column in table.columns.items()}
        return TableRows(pd.DataFrame(frame), rows, missing, dict.fromkeys(texts, WIDE))

    return described_table(path, table, declared, roles, output, table_rows, texts)


def _values(
    raw: RawColumn, column: TextColumn, domain: Domain | None, sample: NDArray[Any], *, is_text: bool
) -> NDArray[Any]:
    """Values of a column in a sample of rows, shape (rows,)."""
    if is_text:
        # Numbers of the texts stand for them.
        return np.array([str(number) if number else None for number in sample.tolist()], dtype=object)
    if raw.sampled:
        whole = isinstance(domain, NumericDomain) and domain.integer and not np.isnan(sample).any()
        return sample.astype(np.int64) if whole else sample
    distinct = len(raw.values)
    codes = np.append(column.codes[:distinct], -1)[raw.of_code[sample]]
    return replace(column, codes=codes, weights=None).values(domain)


def _missing(raw: RawColumn, column: TextColumn) -> int:
    """Number of rows without a value."""
    if raw.sampled or column.weights is None:
        return raw.missing
    return int(column.weights[column.codes < 0].sum())


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
    return records.frame(StoredBlock(0, 0, coded)), records.rows > SAMPLED
