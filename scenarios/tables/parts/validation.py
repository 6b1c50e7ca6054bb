"""Review of tables that are read in parts: what is counted in them, and their description."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from defenses.base import StoredBlock
from metrics.columns import Domain, Integers, NumericDomain
from scenarios.tables.dataset import load_table
from scenarios.tables.parts.files.csv_files import quoted
from scenarios.tables.parts.files.table_files import Engine, TableFiles
from scenarios.tables.parts.raw_columns import (
    LIMIT,
    RawColumn,
    raw_columns,
    sampled_column,
    sampled_rows,
    value_texts,
    wide_column,
)
from scenarios.tables.parts.records import LargeRecords, large_records
from scenarios.tables.reading.text_column import TextColumn
from scenarios.tables.review.column_names import look_like_people
from scenarios.tables.review.description import Description, TableRows, described_table
from scenarios.tables.review.reviewed_table import SEEN, RepeatedIdentifier, ReviewedTable
from scenarios.tables.review.rows_of_people import numbers_of
from scenarios.tables.review.suggestions import IDENTIFIER, Suggestion
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
    """Describe a table that is read in parts within some bytes of memory; see `describe_table`.

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


# Review of a table with roles.

SURE = 0.9
"""Share of distinct values, as estimated, below which an identifier repeats for sure and its values are counted."""


@contextmanager
def reviewed_table(
    path: Path,
    roles: Path | None,
    *,
    reading: Mapping[str, Any],
    memory: int | None = None,
    engine: Engine | None = None,
) -> Iterator[ReviewedTable]:
    """Open a table: in memory, or in parts where DuckDB gets some bytes of memory."""
    if memory is None:
        yield ReviewedTable(load_table(path, roles, reading=reading))
        return
    with large_records(path, roles, reading=reading, memory=memory, engine=engine) as records:
        yield ReviewedInParts(records)


class ReviewedInParts(ReviewedTable):
    """A data set that is read in parts."""

    records: LargeRecords

    def __init__(self, records: LargeRecords) -> None:
        super().__init__(records.dataset)
        self.records = records

    @cached_property
    def frame(self) -> pd.DataFrame:
        """Values of a random sample of the rows, or of all in their order if they are few."""
        columns = self.records.columns
        rows = sampled_rows(self.records.files, {name: column.raw for name, column in columns.items()})
        coded = {name: rows[name] if one.numbers_only else one.of_raw[rows[name]] for name, one in columns.items()}
        return self.records.values.frame(StoredBlock(0, 0, coded))

    def counted_rows(self, name: str | None) -> tuple[int, int, int] | None:
        """Rows, distinct values (a row without one has its own) and most rows of one; None if none has two rows."""
        if name is None:
            return None
        values = f"SELECT {quoted(name)} IS NULL AS unnamed, count(*) AS rows FROM source GROUP BY {quoted(name)}"
        numbers = "sum(rows), sum(if(unnamed, rows, 1)), max(if(unnamed, 1, rows))"
        ((rows, distinct, most),) = self.records.files.fetch(f"SELECT {numbers} FROM ({values})")
        return (int(rows), int(distinct), int(most)) if rows and most > 1 else None

    def numbers_in(self, name: str | None) -> Integers:
        """Numbers of people or groups, distinguished by hashes of 64 bits."""
        if name is None:
            return np.arange(self.rows)
        column = quoted(name)
        hashes = self.records.files.arrow(f"SELECT if({column} IS NULL, NULL, hash({column})) AS hash FROM source")
        return numbers_of(hashes.column("hash").to_pandas(types_mapper={pa.uint64(): pd.UInt64Dtype()}.get))

    @property
    def unique_texts(self) -> list[str]:
        """Text columns whose values all differ."""
        return [
            name
            for name, column in self.records.columns.items()
            if self.records.roles.frame[name].dtype == object
            and self.rows > 1
            and len(column.raw.values) + column.raw.missing == self.rows
            and column.raw.missing <= 1
        ]

    def counts(self, name: str) -> tuple[int, int | str]:
        """Numbers of missing and of distinct values; estimated where a release cannot hold codes of the column."""
        column = self.records.columns.get(name)
        if column is None or column.numbers_only:
            missing, distinct = self._estimated(name)
            return missing, f"about {distinct:,}"
        counts = column.counts
        return int(counts[column.missing]), int(np.count_nonzero(np.delete(counts, column.missing)))

    def _estimated(self, name: str) -> tuple[int, int]:
        column = f"source.{quoted(name)}"
        kind = self.records.files.type_of(name)
        value = f"CASE WHEN isnan({column}) THEN NULL ELSE {column} END" if kind in ("FLOAT", "DOUBLE") else column
        value = f"nullif({column}, '')" if kind == "VARCHAR" else value
        query = f"SELECT count(*) - count({value}), approx_count_distinct({value}) FROM source"
        ((missing, distinct),) = self.records.files.fetch(query)
        return int(missing), int(distinct)

    def repeated(self, name: str) -> RepeatedIdentifier | None:
        """Numbers of an identifier; None where about `SURE` are distinct, since counting those takes long."""
        files, column = self.records.files, quoted(name)
        if name not in files.columns:
            return None
        ((about, rows),) = files.fetch(f"SELECT approx_count_distinct({column}), count({column}) FROM source")
        if about >= SURE * rows:
            return None
        ((values,),) = files.fetch(f"SELECT count(DISTINCT {column}) FROM source")
        query = f"SELECT DISTINCT {column} FROM source WHERE {column} IS NOT NULL LIMIT {SEEN}"
        texts = [text for (text,) in files.fetch(query)] if files.type_of(name) == "VARCHAR" else []
        return RepeatedIdentifier(name, int(values), int(rows), bool(texts) and look_like_people(texts))
