"""A few columns of a CSV or Parquet file, read fast and without a refusal that depends on a value.

`scenarios.tables.dataset.load_table` reads whole tables and names each value that does not fit its domain. Here a value
that does not fit counts as missing, as it does in queries (`defenses.base.queries`): a refusal would be an answer about
the records.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from defenses.base import CodedTexts, ColumnTable
from metrics.columns import NUMBER, Domain, Floats, NumericDomain, refuse
from scenarios.tables.reading.arrow_tables import csv_table, numbers_and_units, opened_parquet, text_of
from scenarios.tables.reading.csv_text import (
    HEAD,
    PARQUET,
    CsvHeader,
    column_names,
    csv_content,
    csv_header,
    table_text,
)
from scenarios.tables.roles import Roles

BLOCK = 1 << 24
"""Number of bytes that the CSV reader takes at a time."""
TEXT = pa.string()
CODED = pa.dictionary(pa.int32(), TEXT)
"""Arrow type of a column of texts: distinct texts, and one code a row."""


@dataclass(frozen=True)
class ColumnFile:
    """A CSV file (also gzip-compressed) or a Parquet file, of which single columns are read.

    Parameters
    ----------
    path : Path
        Named in errors.
    data : bytes
        The file's content, decompressed.
    columns : tuple of str
        Names of its columns.
    header : CsvHeader
        Its header, whose fields are empty where a column has no name.
    declared : Roles
        Decimal mark of numbers among texts, and texts that mean a missing value.
    """

    path: Path
    data: bytes = field(repr=False)
    columns: tuple[str, ...]
    header: CsvHeader
    declared: Roles

    @classmethod
    def of(cls, path: Path, content: bytes, declared: Roles | None = None) -> ColumnFile:
        """Read the names of the columns.

        Parameters
        ----------
        path : Path
            Named in errors.
        content : bytes
            The file's content.
        declared : Roles, optional
            Separator, encoding, decimal mark and missing values; a separator that it omits is inferred.

        Raises
        ------
        ValueError
            If it is no such table, or column names are repeated.
        """
        declared = Roles() if declared is None else declared
        if content.startswith(PARQUET):
            data = content
            with opened_parquet(path, pa.BufferReader(content)) as file:
                header = CsvHeader("", file.schema_arrow.names, [])
        else:
            data = csv_content(path, content).removeprefix(codecs.BOM_UTF8)
            if declared.encoding is not None:
                data = table_text(path, data, declared.encoding).encode()
            header = csv_header(path, table_text(path, data[:HEAD], whole=len(data) <= HEAD), declared.separator)
        return cls(path, data, tuple(column_names(path, header.fields)), header, declared)

    def read(self, columns: Sequence[str], domains: Mapping[str, Domain]) -> ColumnTable:
        """Read some columns; a value that does not fit the kind of its column's domain counts as missing.

        Parameters
        ----------
        columns : sequence of str
            Names of columns.
        domains : mapping of str to Domain
            Their domains: a numeric one makes a column of numbers, any other or none a column of texts.

        Raises
        ------
        ValueError
            If the file is malformed.
        """
        na, decimal = self.declared.na, self.declared.decimal
        # The number of records needs one column at least.
        fields = self.header.fields
        wanted = list(dict.fromkeys(columns)) or [next((name for name in fields if name.strip()), fields[0])]
        for name in columns:
            refuse(
                name in self.columns and name not in fields,
                f"{self.path}: {name!r} has no name in the file; name it there to read it",
            )
        # Arrow's numbers have a decimal point and no thousands separators.
        number = pa.float64() if decimal is None else CODED
        kinds = {name: number if isinstance(domains.get(name), NumericDomain) else CODED for name in wanted}
        if self.header.separator:
            table = csv_table(self.path, self.data, self.header, kinds, na=na, block=BLOCK)
        else:
            with opened_parquet(self.path, pa.BufferReader(self.data)) as file:
                table = file.read(columns=wanted)
        by_name: dict[str, Floats | CodedTexts] = {}
        for name in dict.fromkeys(columns):
            where, column = f"{self.path}: column {name!r}", table.column(name)
            numeric = isinstance(domains.get(name), NumericDomain)
            by_name[name] = _numbers(where, column, decimal) if numeric else _texts(where, column, na)
        return ColumnTable(by_name, table.num_rows)


def lenient_numbers(texts: Any) -> Floats:
    """Number of each text of an Arrow array, shape (n,); infinite where it says so, NaN where it is none.

    The number of a text depends on that text alone.
    """
    import pyarrow.compute as pc

    trimmed = pc.replace_substring_regex(numbers_and_units(texts)[0], r"^\+([^+-])", r"\1")
    is_number = pc.match_substring_regex(trimmed, f"^{NUMBER}$")
    is_infinite = pc.match_substring_regex(trimmed, r"(?i)^-?inf(inity)?$")
    sign = pc.if_else(pc.starts_with(trimmed, "-"), -np.inf, np.inf)
    values = pc.cast(pc.if_else(is_number, trimmed, None), pa.float64())
    return np.asarray(pc.fill_null(pc.if_else(is_infinite, sign, values), np.nan).to_numpy(zero_copy_only=False))


def _numbers(where: str, column: Any, decimal: str | None = None) -> Floats:
    """Numbers of a column, shape (n,); NaN where missing or no number."""
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        floats = column if pa.types.is_float64(column.type) else column.cast(pa.float64(), safe=False)
        return _array(floats.combine_chunks(), np.nan)
    from scenarios.tables.reading.text_column import TextColumn

    # Every text that Arrow reads as a number is the same number here.
    coded = TextColumn.from_arrow(where, text_of(where, column))
    texts = coded.texts
    if decimal is not None:
        from scenarios.tables.reading.number_forms import plain_texts

        texts = plain_texts(texts, decimal)
    return np.append(lenient_numbers(texts), np.nan)[coded.codes]


def _texts(where: str, column: Any, na: Sequence[str] = ()) -> CodedTexts:
    """Texts of a column, coded, without those that mean a missing value."""
    if column.type != CODED:
        column = text_of(where, column).dictionary_encode()
    encoded = column.combine_chunks()
    codes = _array(encoded.indices, -1).astype(np.intp)
    texts = encoded.dictionary.to_pylist()
    if na:
        missing = np.array([text.strip() in na for text in texts] + [True], dtype=bool)
        codes = np.where(missing[codes], -1, codes)
    return CodedTexts(codes, tuple(texts))


def _array(column: Any, missing: float) -> NDArray[Any]:
    """Numbers of an Arrow array, shape (n,), read from its buffers.

    Arrow's own conversion imports pandas, which takes longer than reading a million rows.
    """
    kind = column.type.to_pandas_dtype()
    if not len(column):
        return np.empty(0, dtype=kind)
    valid, values = column.buffers()
    rows = slice(column.offset, column.offset + len(column))
    numbers = np.frombuffer(values, dtype=kind)[rows]
    if not column.null_count:
        return numbers.copy()
    bits = np.unpackbits(np.frombuffer(valid, dtype=np.uint8), bitorder="little")[rows]
    return np.where(bits, numbers, kind(missing))
