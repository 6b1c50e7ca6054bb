"""Released rows in random order, written without holding them in memory."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.random import SeedSequence
from numpy.typing import NDArray
from pyarrow import parquet

from scenarios.tables.parts.output_files import OutputFiles
from scenarios.tables.parts.private_folder import private_folder
from scenarios.tables.parts.progress import progress
from scenarios.tables.parts.released_blocks import LargeRelease, ReleasedBlock
from scenarios.tables.parts.spool import Spool
from scenarios.tables.parts.written_column import WrittenColumn
from scenarios.tables.reading.whole_numbers import all_whole
from scenarios.tables.reading.written_cells import WrittenCells
from scenarios.tables.table_output import COMPRESSED, PARQUET

BUCKET = 1 << 19
"""Mean number of records of a bucket."""
ORIGIN = "record"
"""Column of `--truth` with the position of the record that a row stems from."""


def write_release(
    release: LargeRelease,
    outputs: OutputFiles,
    path: str,
    root: SeedSequence,
    *,
    separator: str = ",",
    written: WrittenCells | None = None,
    truth: str | None = None,
) -> int:
    """Write the rows of a release in random order.

    Every order of the rows is equally likely: each row draws a bucket, and each bucket is permuted.

    Parameters
    ----------
    release : LargeRelease
        The release.
    outputs : OutputFiles
        Where the files are opened.
    path : str
        The file; its suffix says the format, as in `scenarios.tables.table_output.check_table_name`.
    root : SeedSequence
        Root of the random generators. The order depends on it and on the numbers of records and of rows alone.
    separator : str
        Separator of CSV fields.
    written : WrittenCells, optional
        Form in which cells are written.
    truth : str, optional
        File for the record of origin of each released row.

    Returns
    -------
    int
        Number of rows.

    Raises
    ------
    OSError
        If a file cannot be written.
    """
    written = written or WrittenCells()
    with private_folder() as folder, ExitStack() as stack:
        buckets = max(1, -(-release.records // BUCKET))
        spool = Spool(folder / "rows", release.names, buckets, root, origins=truth is not None)
        fractions: set[str] = set()
        with progress("released", release.records) as done:
            for block in release.blocks():
                fractions |= _with_fractions(block, {*written.integers} - fractions - release.cells.keys())
                spool.add(block)
                done.add(len(block))
        # All buckets of a column are written alike, as a Parquet file requires.
        written = replace(written, integers=tuple(name for name in written.integers if name not in fractions))
        alone = len(release.names) == 1
        columns = [
            WrittenColumn(name, release.cells.get(name), written, separator, alone=alone) for name in release.names
        ]
        table = stack.enter_context(_writer(outputs.open(path), path, columns, separator))
        secret = None
        if truth is not None:
            numbers = [WrittenColumn(name, None, WrittenCells()) for name in ("released_row", ORIGIN)]
            secret = stack.enter_context(_writer(outputs.open(truth, private=True), truth, numbers, ","))
        rows = 0
        with progress("written", spool.rows) as done:
            for bucket in spool.permuted():
                size = bucket.size
                table.write([np.ascontiguousarray(bucket[f"c{i}"]) for i in range(len(columns))], size)
                if secret is not None:
                    origins = np.ascontiguousarray(bucket["origin"])
                    secret.write([np.arange(rows, rows + size), origins], size)
                rows += size
                done.add(size)
    return rows


def _with_fractions(block: ReleasedBlock, names: set[str]) -> set[str]:
    """Columns of numbers, among those named, that hold others than integers."""
    return {name for name in names & block.columns.keys() if not all_whole(block.columns[name])}


class _TableWriter(Protocol):
    def __enter__(self) -> _TableWriter: ...

    def __exit__(self, *_: object) -> None: ...

    def write(self, columns: Sequence[NDArray[Any]], rows: int) -> None:
        """Append rows, given by the codes or numbers of each column."""


def _writer(file: BinaryIO, path: str, columns: Sequence[WrittenColumn], separator: str) -> _TableWriter:
    name = Path(path).name.lower()
    if name.endswith(PARQUET):
        return _ParquetWriter(file, columns)
    return _CsvWriter(file, columns, separator, compressed=name.endswith(COMPRESSED))


class _CsvWriter:
    """Writer of a CSV file, which may be compressed."""

    def __init__(
        self, file: BinaryIO, columns: Sequence[WrittenColumn], separator: str, *, compressed: bool = False
    ) -> None:
        self.file, self.columns, self.separator, self.compressed = file, columns, separator, compressed
        self.stream: Any = file

    def __enter__(self) -> _CsvWriter:
        if self.compressed:
            # The time of compression would differ from run to run, and the folder's name is random.
            self.stream = gzip.GzipFile("", "wb", 6, self.file, mtime=0)
        header = pd.DataFrame(columns=[column.name for column in self.columns])
        self.stream.write(header.to_csv(index=False, sep=self.separator, lineterminator="\n").encode())
        return self

    def __exit__(self, *_: object) -> None:
        if self.compressed:
            self.stream.close()
        else:
            self.stream.flush()

    def write(self, columns: Sequence[NDArray[Any]], rows: int) -> None:
        """Append rows, given by the codes or numbers of each column."""
        if not rows:
            return
        fields = [writer.csv_fields(stored) for writer, stored in zip(self.columns, columns, strict=True)]
        newline, separator = pa.scalar("\n", pa.large_string()), pa.scalar(self.separator, pa.large_string())
        fields[-1] = pc.binary_join_element_wise(fields[-1], newline, pa.scalar("", pa.large_string()))
        lines = pc.binary_join_element_wise(*fields, separator) if len(fields) > 1 else fields[0]
        _, offsets, content = lines.buffers()
        ends = np.frombuffer(offsets, dtype=np.int64)[[lines.offset, lines.offset + len(lines)]]
        self.stream.write(memoryview(content)[int(ends[0]) : int(ends[1])])


class _ParquetWriter:
    """Writer of a Parquet file."""

    def __init__(self, file: BinaryIO, columns: Sequence[WrittenColumn]) -> None:
        self.file, self.columns = file, columns
        self.writer: Any = None

    def __enter__(self) -> _ParquetWriter:
        return self

    def __exit__(self, *_: object) -> None:
        if self.writer is None:
            # A table without rows has no types; texts hold what there is none of.
            self._open(pa.schema([(column.name, pa.string()) for column in self.columns]))
        self.writer.close()
        self.file.flush()

    def write(self, columns: Sequence[NDArray[Any]], rows: int) -> None:
        """Append rows, given by the codes or numbers of each column."""
        arrays = [writer.arrow(stored) for writer, stored in zip(self.columns, columns, strict=True)]
        table = pa.table(arrays, names=[column.name for column in self.columns])
        if self.writer is None:
            self._open(table.schema)
        self.writer.write_table(table)

    def _open(self, schema: Any) -> None:
        # The file's own types say all: texts are coded in memory only.
        listed = [column.name for column in self.columns if column.repeats]
        self.writer = parquet.ParquetWriter(self.file, schema, store_schema=False, use_dictionary=listed)
