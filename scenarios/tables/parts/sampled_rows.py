"""A random sample of the rows of a table that is read in parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scenarios.tables.parts.raw_columns import RawColumn, ordered_rows
from scenarios.tables.parts.sql_names import quoted
from scenarios.tables.parts.table_files import TableFiles

SAMPLED = 200_000
"""Number of rows of a sample; a table of fewer rows is taken as a whole, in its order."""


def sampled_rows(files: TableFiles, raw: Mapping[str, RawColumn]) -> dict[str, NDArray[Any]]:
    """Codes, or numbers where a column has no codes, of a random sample of the rows.

    Parameters
    ----------
    files : TableFiles
        The table.
    raw : mapping of str to RawColumn
        Its columns.

    Returns
    -------
    dict of str to ndarray, each of shape (rows,)
        The same sample in each call.
    """
    expressions = ", ".join(f"{column.code} AS {quoted(name)}" for name, column in raw.items())
    sample = "" if files.rows <= SAMPLED else f" USING SAMPLE reservoir({SAMPLED} ROWS) REPEATABLE (1)"
    table = files.arrow(f"SELECT * FROM ({ordered_rows(expressions, raw.values(), files)}){sample}")
    rows: dict[str, NDArray[Any]] = {}
    for name, column in raw.items():
        stored = table.column(name).combine_chunks()
        numbers = stored.to_numpy(zero_copy_only=False)
        rows[name] = numbers if column.sampled else np.asarray(numbers, dtype=np.int64)
    return rows
