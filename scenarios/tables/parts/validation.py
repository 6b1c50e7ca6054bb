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
from scenarios.tables.reading import TextColumn, TextTable
from scenarios.tables.review import (
    IDENTIFIER,
    SEEN,
    DescribedTable,
    Description,
    RepeatedIdentifier,
    ReviewedTable,
    TableRows,
    describe_table,
    described_table,
    look_like_people,
    numbers_of,
)
from scenarios.tables.review.suggestions import Suggestion
from scenarios.tables.roles import Roles, read_roles

# A description of a table that is read in parts: a roles file with suggested roles, for a person to review.

WIDE = Suggestion(
    IDENTIFIER,
    f"more than {LIMIT:,} distinct texts, which no release of a table in parts can hold; if they are numbers, store "
    "them as numbers (Parquet)",
    guess=True,
)


def describe_file(
    path: Path,
    roles: Path | None,
    output: Path,
    *,
    reading: Mapping[str, Any] | None = None,
    memory: int | None = None,
) -> Description:
    """Describe a table in memory, or in parts within some bytes of memory; see `described_table`.

    In parts, domains and numbers of missing values are those of all rows. Roles and uniqueness rest on a random sample
    of `scenarios.tables.parts.raw_columns.SAMPLED` rows, as the text says.
    """
    if memory is None:
        return describe_table(path, roles, output, reading=reading)
    declared = read_roles(roles, reading)
    with TableFiles.of(path, declared, memory=memory // 2) as files:
        return described_table(DescribedInParts(files), declared, roles, output)


class DescribedInParts(DescribedTable):
    """A table that is read in parts: each column by its distinct values, and a random sample of its rows."""

    def __init__(self, files: TableFiles) -> None:
        self.path, self.files = files.path, files
        self.decided: dict[str, Suggestion] = {}
        self._raw: dict[str, RawColumn] = {}

    def texts(self, declared: Roles) -> TextTable:
        """The distinct values of the columns as text, as roles tell to read them."""
        files = self.files

        def wide(files: TableFiles, name: str) -> RawColumn:
            if files.type_of(name) != "VARCHAR":
                return sampled_column(files, name)
            self.decided[name] = WIDE
            return wide_column(files, name, declared.na)

        # Only the numbers of texts that a description does not list depend on what counts as missing.
        if self.decided or not self._raw:
            self._raw = raw_columns(files, files.columns, wide=wide)
        return value_texts(files, self._raw, declared)

    def rows(self, columns: dict[str, TextColumn], domains: dict[str, Domain]) -> TableRows:
        """A sample of the rows of columns that were read, with the number of all rows."""
        sample = sampled_rows(self.files, self._raw)
        self.files.check_unchanged()
        frame = {name: self._values(name, column, domains.get(name), sample[name]) for name, column in columns.items()}
        missing = {
            name: self._raw[name].missing if self._raw[name].sampled else column.missing_rows
            for name, column in columns.items()
        }
        return TableRows(pd.DataFrame(frame), self.files.rows, missing)

    def _values(self, name: str, column: TextColumn, domain: Domain | None, sample: NDArray[Any]) -> NDArray[Any]:
        """Values of a column in a sample of rows, shape (rows,)."""
        raw = self._raw[name]
        if name in self.decided:
            # Numbers of the texts stand for them.
            return np.array([str(number) if number else None for number in sample.tolist()], dtype=object)
        if raw.sampled:
            whole = isinstance(domain, NumericDomain) and domain.integer and not np.isnan(sample).any()
            return sample.astype(np.int64) if whole else sample
        codes = np.append(column.codes[: len(raw.values)], -1)[raw.of_code[sample]]
        return replace(column, codes=codes, weights=None).values(domain)


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
        values = f"SELECT value IS NULL AS unnamed, count(*) AS rows FROM ({self._values(name)}) GROUP BY value"
        numbers = "sum(rows), sum(if(unnamed, rows, 1)), max(if(unnamed, 1, rows))"
        ((rows, distinct, most),) = self.records.files.fetch(f"SELECT {numbers} FROM ({values})")
        return (int(rows), int(distinct), int(most)) if rows and most > 1 else None

    def numbers_in(self, name: str | None) -> Integers:
        """Numbers of people or groups, distinguished by hashes of 64 bits."""
        if name is None:
            return np.arange(self.rows)
        query = f"SELECT if(value IS NULL, NULL, hash(value)) AS hash FROM ({self._values(name)})"
        hashes = self.records.files.arrow(query).column("hash")
        return numbers_of(hashes.to_pandas(types_mapper={pa.uint64(): pd.UInt64Dtype()}.get))

    def counts(self, name: str) -> tuple[int, int | str]:
        """Numbers of missing and of distinct values; estimated where there are more than a release can hold."""
        column = self.records.columns.get(name)
        if column is not None and not column.numbers_only:
            counts = column.counts
            return int(counts[column.missing]), int(np.count_nonzero(np.delete(counts, column.missing)))
        distinct, present = self._about(name)
        if distinct > LIMIT:
            return self.rows - present, f"about {distinct:,}"
        return self.rows - present, self._distinct(name)

    def repeated(self, name: str) -> RepeatedIdentifier | None:
        """Numbers of an identifier; None where about `SURE` are distinct, since counting those takes long."""
        files = self.records.files
        if name not in files.columns:
            return None
        about, rows = self._about(name)
        if about >= SURE * rows:
            return None
        query = f"SELECT DISTINCT value FROM ({self._values(name)}) WHERE value IS NOT NULL LIMIT {SEEN}"
        texts = [text for (text,) in files.fetch(query)] if files.type_of(name) == "VARCHAR" else []
        return RepeatedIdentifier(name, self._distinct(name), rows, bool(texts) and look_like_people(texts))

    def _values(self, name: str) -> str:
        """SQL of a column's values in the order of the rows."""
        return f"SELECT {self.records.value_of(name)} AS value FROM source"

    def _about(self, name: str) -> tuple[int, int]:
        """About how many distinct values a column has, and its number of rows with one."""
        query = f"SELECT approx_count_distinct(value), count(value) FROM ({self._values(name)})"
        ((distinct, present),) = self.records.files.fetch(query)
        return int(distinct), int(present)

    def _distinct(self, name: str) -> int:
        """Number of distinct values."""
        ((distinct,),) = self.records.files.fetch(f"SELECT count(DISTINCT value) FROM ({self._values(name)})")
        return int(distinct)
