"""Released rows in random order, written without holding them in memory."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.random import SeedSequence
from numpy.typing import NDArray

from defenses.base import CellList
from metrics.columns import Booleans, in_digits, number_texts
from scenarios.tables.dataset import Dataset
from scenarios.tables.parts.files.bucket_file import BucketFile
from scenarios.tables.parts.files.output_files import OutputFiles, output_files, private_folder
from scenarios.tables.parts.progress import progress
from scenarios.tables.parts.released_blocks import LargeRelease
from scenarios.tables.reading import WrittenCells, all_whole, text_bytes
from scenarios.tables.released import COMPRESSED, PARQUET, cell_texts

# Released columns as fields of CSV files and as Arrow arrays.


class WrittenColumn:
    """Writer of one released column; its cells are those that pandas writes of the same release in memory.

    Parameters
    ----------
    name : str
        The column.
    cells : CellList, optional
        Cells of a coded column, which are complete. None for a column of numbers.
    written : WrittenCells
        Form in which cells are written.
    separator : str
        Separator of CSV fields.
    alone : bool
        Whether the table has no other column; an empty field is then quoted, since an empty line holds no row.
    """

    def __init__(
        self, name: str, cells: CellList | None, written: WrittenCells, separator: str = ",", *, alone: bool = False
    ) -> None:
        self.name, self.cells, self.written = name, cells, written
        self.separator, self.empty = separator, '""' if alone else ""

    def csv_fields(self, stored: NDArray[Any]) -> Any:
        """CSV fields of rows, an Arrow array of texts of shape (rows,)."""
        if self.cells is not None:
            return self._fields.take(pa.array(stored))
        if stored.dtype.kind == "S":
            return _fixed_texts(stored).fill_null(self.empty)
        column = self._in_words(pd.Series(stored, name=self.name))
        if column.dtype == object or set(self.separator) & set("0123456789.-+einf"):
            codes, distinct = pd.factorize(column, use_na_sentinel=True)
            texts = pa.array([*self._quoted(distinct.tolist()), self.empty], pa.large_string())
            return texts.take(pa.array(np.where(codes < 0, len(distinct), codes)))
        return _number_texts(column).fill_null(self.empty)

    def arrow(self, stored: NDArray[Any]) -> Any:
        """Arrow array of rows, shape (rows,): numbers as such, other cells as texts."""
        if stored.dtype.kind == "S":
            return _fixed_texts(stored).cast(pa.string())
        if self.cells is None:
            column = self._in_words(pd.Series(stored, name=self.name))
            return pa.array(cell_texts(column) if column.dtype == object else column, from_pandas=True)
        if self._column.dtype != object:
            return pa.array(self._column.array.take(stored), from_pandas=True)
        # Cells in the order of these rows: the file then depends on nothing but its rows.
        codes, distinct = pd.factorize(stored)
        return pa.DictionaryArray.from_arrays(
            pa.array(codes, mask=self._missing[stored]), self._dictionary.take(distinct)
        )

    @cached_property
    def _column(self) -> pd.Series[Any]:
        """The cells in their written form."""
        assert self.cells is not None  # noqa: S101 (only coded columns have cells)
        return self._in_words(pd.Series(self.cells.cells, name=self.name, dtype=self.cells.kind))

    @cached_property
    def _missing(self) -> Booleans:
        return np.asarray(self._column.isna().to_numpy())

    @cached_property
    def _fields(self) -> Any:
        present = np.flatnonzero(~self._missing)
        fields = np.full(len(self._column), self.empty, dtype=object)
        fields[present] = self._quoted([self._column.iloc[code] for code in present])
        return pa.array(fields, pa.large_string())

    @cached_property
    def _dictionary(self) -> Any:
        return pa.array(cell_texts(self._column).where(~self._missing, ""), pa.string())

    def _in_words(self, column: pd.Series[Any]) -> pd.Series[Any]:
        return self.written.write(column.to_frame())[self.name]

    def _quoted(self, cells: Sequence[Any]) -> list[str]:
        """CSV fields of cells; a second field keeps an empty text from being quoted as an empty row."""
        buffer = io.StringIO()
        writer = csv.writer(buffer, delimiter=self.separator, lineterminator="\n")
        fields = []
        for cell in cells:
            writer.writerow((str(cell), ""))
            fields.append(buffer.getvalue()[:-2] or self.empty)
            buffer.seek(0)
            buffer.truncate()
        return fields


def _fixed_texts(texts: NDArray[Any]) -> Any:
    """ASCII texts of a fixed length as an Arrow array of shape (rows,); missing where empty."""
    return pa.array(texts, pa.large_binary(), mask=texts == b"").cast(pa.large_string())


def _number_texts(column: pd.Series[Any]) -> Any:
    """Texts of numbers as Python writes them, None where missing; an Arrow array of shape (rows,)."""
    if column.dtype.kind != "f":
        return pa.array(column).cast(pa.large_string())
    numbers = column.to_numpy()
    texts = number_texts(numbers, str)
    # Arrow omits the fraction of an integer.
    integer = in_digits(numbers) & (numbers == np.rint(numbers))
    texts = pc.if_else(pa.array(integer), pc.binary_join_element_wise(texts, "0", "."), texts)
    return pc.if_else(pa.array(np.isnan(numbers)), None, texts).cast(pa.large_string())


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
    """
    written = written or WrittenCells()
    with private_folder() as folder, ExitStack() as stack:
        buckets = max(1, -(-release.records // BUCKET))
        bucketed = BucketFile(folder / "rows", release.names, buckets, root, origins=truth is not None)
        fractions: set[str] = set()
        with progress("released", release.records) as done:
            for block in release.blocks():
                whole = {*written.integers} - fractions - release.cells.keys()
                fractions |= {name for name in whole & block.columns.keys() if not all_whole(block.columns[name])}
                bucketed.add(block)
                done.add(len(block))
        # All buckets of a column are written alike, as a Parquet file requires.
        written = replace(written, integers=tuple(name for name in written.integers if name not in fractions))
        columns = [
            WrittenColumn(name, release.cells.get(name), written, separator, alone=len(release.names) == 1)
            for name in release.names
        ]
        write = stack.enter_context(_writer(outputs.open(path), path, columns, separator))
        secret = None
        if truth is not None:
            numbers = [WrittenColumn(name, None, WrittenCells()) for name in ("released_row", ORIGIN)]
            secret = stack.enter_context(_writer(outputs.open(truth, private=True), truth, numbers, ","))
        rows = 0
        with progress("written", bucketed.rows) as done:
            for bucket in bucketed.permuted():
                size = bucket.size
                write([np.ascontiguousarray(bucket[f"c{i}"]) for i in range(len(columns))], size)
                if secret is not None:
                    secret([np.arange(rows, rows + size), np.ascontiguousarray(bucket["origin"])], size)
                rows += size
                done.add(size)
    return rows


def write_outputs(
    release: LargeRelease, dataset: Dataset, root: SeedSequence, output: str, *, truth: str | None, channel: str | None
) -> int:
    """Write a released table, and beside it whose rows they are and what is public about the defense; the rows."""
    with output_files() as outputs:
        if channel is not None and release.channel is not None:
            outputs.open(channel).write(release.channel.to_toml().encode())
        return write_release(
            release,
            outputs,
            output,
            root,
            separator=dataset.separator or ",",
            written=dataset.written,
            truth=truth,
        )


Write = Callable[[Sequence[NDArray[Any]], int], None]
"""Appends rows, given by the codes or numbers of each column, and by their number."""


def _writer(
    file: BinaryIO, path: str, columns: Sequence[WrittenColumn], separator: str
) -> AbstractContextManager[Write]:
    name = Path(path).name.lower()
    if name.endswith(PARQUET):
        return _parquet_writer(file, columns)
    return _csv_writer(file, columns, separator, compressed=name.endswith(COMPRESSED))


@contextmanager
def _csv_writer(
    file: BinaryIO, columns: Sequence[WrittenColumn], separator: str, *, compressed: bool
) -> Iterator[Write]:
    """Writer of a CSV file, which may be compressed."""
    # The time of compression would differ from run to run, and the folder's name is random.
    compression = gzip.GzipFile("", "wb", 6, file, mtime=0) if compressed else nullcontext(file)
    newline, between, last = (pa.scalar(text, pa.large_string()) for text in ("\n", separator, ""))
    with compression as stream:
        header = pd.DataFrame(columns=[column.name for column in columns])
        stream.write(header.to_csv(index=False, sep=separator, lineterminator="\n").encode())

        def write(rows: Sequence[NDArray[Any]], size: int) -> None:
            if size:
                fields = [column.csv_fields(stored) for column, stored in zip(columns, rows, strict=True)]
                fields[-1] = pc.binary_join_element_wise(fields[-1], newline, last)
                lines = pc.binary_join_element_wise(*fields, between) if len(fields) > 1 else fields[0]
                stream.write(text_bytes(lines))

        yield write
    file.flush()


@contextmanager
def _parquet_writer(file: BinaryIO, columns: Sequence[WrittenColumn]) -> Iterator[Write]:
    """Writer of a Parquet file."""
    from pyarrow import parquet

    names = [column.name for column in columns]
    writers: list[Any] = []
    with ExitStack() as stack:

        def begin(schema: Any) -> None:
            # The file's own types say all: texts are coded in memory only.
            writers.append(stack.enter_context(parquet.ParquetWriter(file, schema, store_schema=False)))

        def write(rows: Sequence[NDArray[Any]], size: int) -> None:
            table = pa.table([column.arrow(stored) for column, stored in zip(columns, rows, strict=True)], names=names)
            if not writers:
                begin(table.schema)
            writers[0].write_table(table)

        yield write
        if not writers:
            # A table without rows has no types; texts hold what there is none of.
            begin(pa.schema([(name, pa.string()) for name in names]))
    file.flush()
