"""Released columns as fields of CSV files and as Arrow arrays."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from metrics.arrays import Booleans
from metrics.number_texts import in_digits, number_texts
from scenarios.tables.parts.released_blocks import CellList
from scenarios.tables.reading.written_cells import WrittenCells

_LISTED = 1 << 15
"""Up to this number, a Parquet file holds the distinct cells of a column once in each group of rows."""


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
        """CSV fields of rows, an Arrow array of texts of shape (rows,).

        Parameters
        ----------
        stored : ndarray, shape (rows,)
            Codes of cells, numbers or pseudonyms.
        """
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
        """Arrow array of rows, shape (rows,): numbers as such, other cells as texts.

        Parameters
        ----------
        stored : ndarray, shape (rows,)
            Codes of cells, numbers or pseudonyms.
        """
        if stored.dtype.kind == "S":
            return _fixed_texts(stored).cast(pa.string())
        if self.cells is None:
            column = self._in_words(pd.Series(stored, name=self.name))
            return pa.array(_texts(column) if column.dtype == object else column, from_pandas=True)
        if self._column.dtype != object:
            return pa.array(self._column.array.take(stored), from_pandas=True)
        codes = pa.array(stored, mask=self._missing[stored])
        if not self.repeats:
            return self._dictionary.take(codes)
        return pa.DictionaryArray.from_arrays(codes, self._dictionary)

    @property
    def repeats(self) -> bool:
        """Whether a Parquet file should hold the distinct cells once; a long list would be written for each group."""
        return self.cells is None or len(self.cells) <= _LISTED

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
        return pa.array(_texts(self._column).where(~self._missing, ""), pa.string())

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


def _texts(column: pd.Series[Any]) -> pd.Series[Any]:
    """Cells as text, None where missing."""
    return column.astype(str).where(column.notna(), None)


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
