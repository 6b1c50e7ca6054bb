"""Tables written as CSV or Parquet, as the name of the file says."""

from __future__ import annotations

import gzip
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd

from scenarios.tables.released import STANDARD, as_csv, write_file, write_text

COMPRESSED, PARQUET = ".csv.gz", ".parquet"


def check_table_name(parameter: str, path: str | None) -> None:
    """Refuse a file whose name stands for a format that is not written.

    Parameters
    ----------
    parameter : str
        Named in the message.
    path : str, optional
        The file. ``.csv``, ``.csv.gz`` and ``.parquet`` are known; a name without a suffix, and ``-``, mean CSV.

    Raises
    ------
    ValueError
        If the suffix is another one.
    """
    if path is None or path == STANDARD:
        return
    name = Path(path).name.lower()
    suffix = Path(name).suffix
    if suffix not in ("", ".csv", PARQUET) and not name.endswith(COMPRESSED):
        raise ValueError(f"{parameter} {path}: tables are written as .csv, .csv.gz or .parquet, not as {suffix}")


def write_table(frame: pd.DataFrame, path: str, separator: str = ",", *, private: bool = False) -> None:
    """Write a table as CSV or Parquet, atomically.

    Parameters
    ----------
    frame : DataFrame, shape (rows, columns)
        Numbers, texts and released cells. In Parquet, columns that hold other than numbers hold the texts of a CSV.
    path : str
        The file; its suffix says the format, as in `check_table_name`. ``-`` is standard output.
    separator : str
        Separator of CSV fields.
    private : bool
        Let nobody but the owner read the file.

    Raises
    ------
    OSError
        If the file cannot be written; its old content is then still there.
    """
    name = Path(path).name.lower()
    if path == STANDARD or not name.endswith((COMPRESSED, PARQUET)):
        write_text(as_csv(frame, separator), path, private=private)
        return
    compressed = name.endswith(COMPRESSED)
    # The time of compression would differ from run to run.
    content = gzip.compress(as_csv(frame, separator).encode(), mtime=0) if compressed else _as_parquet(frame)
    write_file(path, content, private=private)


def _as_parquet(frame: pd.DataFrame) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    columns = [pa.array(cell_texts(column) if column.dtype == object else column) for _, column in frame.items()]
    buffer = BytesIO()
    parquet.write_table(pa.table(columns, names=list(map(str, frame.columns))), buffer)
    return buffer.getvalue()


def cell_texts(column: pd.Series[Any]) -> pd.Series[Any]:
    """Cells as text, None where missing."""
    return column.astype(str).where(column.notna(), None)
