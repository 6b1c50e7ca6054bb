"""A description of a table that is read in parts: a roles file with suggested roles, for a person to review."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metrics.columns import Domain, NumericDomain
from scenarios.tables.parts.files.table_files import TableFiles
from scenarios.tables.parts.raw_columns import LIMIT, RawColumn, raw_columns, sampled_column, sampled_rows
from scenarios.tables.parts.value_texts import value_texts
from scenarios.tables.parts.wide_columns import wide_column
from scenarios.tables.reading.text_column import TextColumn
from scenarios.tables.review.description import Description, TableRows, described_table
from scenarios.tables.review.suggestions import IDENTIFIER, Suggestion
from scenarios.tables.roles import read_roles

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
