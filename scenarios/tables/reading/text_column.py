"""A column of text in coded form, which is read as numbers or categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from metrics.columns import NUMBER, Booleans, CategoricalDomain, Domain, Floats, Integers, NumericDomain, format_number
from scenarios.tables.note import Note
from scenarios.tables.roles import MOST_DIGITS

if TYPE_CHECKING:
    import pandas as pd

    from scenarios.tables.reading.date_form import DateForm

_NUMBER = f"^{NUMBER}$"
_NAN = r"^[+-]?[nN][aA][nN]$"
_INFINITY = r"^[+-]?[iI][nN][fF]([iI][nN][iI][tT][yY])?$"
# Postcodes and account numbers: a float would lose leading zeros, or digits beyond 2**53.
_CODE = r"^[+-]?(0\d|\d{16,}$)"


class TextError(ValueError):
    """A text that does not fit its column.

    Parameters
    ----------
    where : str
        File and column.
    row : int
        The first row that holds it, from 0.
    why : str
        The reason, which follows "the value". The value is a person's and is not repeated: messages may be logged.
    """

    def __init__(self, where: str, row: int, why: str) -> None:
        super().__init__(f"{where}, row {row + 1}: the value {why}")
        self.where, self.row, self.why = where, row, why


@dataclass(frozen=True)
class TextColumn:
    """A column of text: its distinct texts and one code a row.

    Parameters
    ----------
    where : str
        File and column, for error messages.
    codes : ndarray of int, shape (n,)
        Position of each row's text in `texts`, -1 where missing.
    texts : pyarrow.StringArray, shape (distinct,)
        The distinct texts.
    dates : DateForm, optional
        Form of the dates that the numbers in `texts` stand for.
    weights : ndarray of int, shape (n,), optional
        Number of records that each row stands for; by default one.
    """

    where: str
    codes: Integers
    texts: Any
    dates: DateForm | None = None
    weights: Integers | None = None

    @classmethod
    def from_arrow(cls, where: str, column: Any) -> Self:
        """Encode a chunked Arrow array of text, or of integers, which are written as text; nulls are missing values."""
        encoded = column.dictionary_encode().combine_chunks()
        return cls(where, _codes(encoded.indices), pc.cast(encoded.dictionary, pa.string()))

    @classmethod
    def of_values(cls, where: str, values: Sequence[str | None] | pd.Series[Any]) -> Self:
        """Encode texts, None where missing."""
        return cls.from_arrow(where, pa.chunked_array([pa.array(values, pa.string(), from_pandas=True)]))

    def with_texts(self, texts: Any) -> Self:
        """Return a column with other distinct texts, an Arrow array of shape (distinct,); null means missing."""
        encoded = texts.dictionary_encode()
        with_missing = np.concatenate([_codes(encoded.indices), np.array([-1], dtype=np.int32)])
        return replace(self, codes=with_missing[self.codes], texts=encoded.dictionary)

    def with_cells(self, cells: list[str]) -> Self:
        """Return a column with other distinct texts, or itself if all are the same."""
        return self if cells == self.texts.to_pylist() else self.with_texts(pa.array(cells, pa.string()))

    def filled(self, text: str) -> Self:
        """Return a column in which missing values are a text."""
        texts = pa.concat_arrays([pa.array(self.texts, pa.string()), pa.array([text])])
        codes = np.where(self.codes < 0, len(self.texts), self.codes)
        return replace(self, codes=codes, texts=texts).with_texts(texts)

    def starred(self, suppressed: Sequence[str]) -> Self:
        """Return a column in which some texts, compared without surrounding blanks, are ``*``; "" is a missing one."""
        is_suppressed = pc.is_in(self._trimmed, value_set=pa.array(suppressed, pa.string()))
        column = self.with_texts(pc.if_else(is_suppressed, "*", self.texts)) if pc.any(is_suppressed).as_py() else self
        return column.filled("*") if "" in suppressed and column.missing_rows else column

    def without(self, missing: Sequence[str]) -> Self:
        """Return a column in which some texts, compared without surrounding blanks, are missing values."""
        is_missing = pc.is_in(self._trimmed, value_set=pa.array(missing, pa.string()))
        return self.with_texts(pc.if_else(is_missing, None, self.texts)) if pc.any(is_missing).as_py() else self

    @property
    def empty(self) -> bool:
        """True if every row is missing."""
        return len(self.texts) == 0

    def looks_numeric(self) -> bool:
        """Return True if all texts are numbers or NaN or infinity, at least one is a number, and none is a code."""
        number = self.matches(_NUMBER)
        other = self.matches(_NAN) | self.matches(_INFINITY)
        return bool(number.any() and (number | other).all() and not self.looks_coded())

    @property
    def rows(self) -> int:
        """Number of records."""
        return int(self.codes.size if self.weights is None else self.weights.sum())

    @property
    def missing_rows(self) -> int:
        """Number of records without a text."""
        missing = self.codes < 0
        return int(missing.sum() if self.weights is None else self.weights[missing].sum())

    def rows_of(self, chosen: Booleans) -> int:
        """Number of records with one of the chosen distinct texts."""
        codes = self.codes[self.codes >= 0]
        weights = None if self.weights is None else self.weights[self.codes >= 0]
        return int(np.bincount(codes, weights, minlength=len(self.texts))[chosen].sum())

    def looks_coded(self) -> bool:
        """Return True if a text is a code: a number with a leading zero or with more digits than a float keeps."""
        return bool((self.matches(_CODE) & self.matches(_NUMBER)).any())

    @cached_property
    def numbers(self) -> Floats:
        """Number of each distinct text, shape (distinct,); NaN for ``nan``."""
        number = self.matches(_NUMBER)
        self.refuse(self.matches(_INFINITY), "is infinite; numbers must be finite")
        self.refuse(~number & ~self.matches(_NAN), "is no number")
        written = pc.if_else(pa.array(number), self._trimmed, None)
        values: Floats = pc.cast(written, pa.float64()).to_numpy(zero_copy_only=False)
        self.refuse(np.isinf(values), "is beyond the largest number")
        return values

    def decimals(self) -> int | None:
        """Largest number of digits after the point; None if a number has a power of ten or too many digits."""
        if not np.isfinite(self.numbers).any():
            return None
        if pc.any(pc.match_substring_regex(self._trimmed, r"\d[eE]|\.[eE]")).as_py():
            return None
        fractions = pc.struct_field(pc.extract_regex(self._trimmed, r"\.(?P<digits>\d*)$"), "digits")
        most = pc.max(pc.utf8_length(fractions)).as_py() or 0
        return most if most <= MOST_DIGITS else None

    def number_rows(self) -> Floats:
        """Number of each row, shape (n,); NaN where missing."""
        return np.append(self.numbers, np.nan)[self.codes]

    def values(self, domain: Domain | None) -> NDArray[Any]:
        """Values of all rows, shape (n,): numbers if the domain is numeric, otherwise categories."""
        return self.number_values(domain) if isinstance(domain, NumericDomain) else self.text_values(domain)

    def number_values(self, domain: NumericDomain) -> NDArray[Any]:
        """Number of each row, shape (n,): int64 where all are integers and none is missing, else float64."""
        distinct = self.numbers
        if domain.integer:
            self.refuse(np.isfinite(distinct) & (distinct != np.round(distinct)), "is not an integer")
        outside = (distinct < domain.low) | (distinct > domain.high)
        bounds = f"{format_number(domain.low)} to {format_number(domain.high)}"
        self.refuse(outside, f"lies outside {bounds if self.dates is None else self.dates.bounds(domain)}")
        rows = np.append(distinct, np.nan)[self.codes]
        exact = domain.integer and np.isfinite(rows).all() and np.abs(rows).max() <= 2**53
        return rows.astype(np.int64) if exact else rows

    def text_values(self, domain: CategoricalDomain | None = None) -> NDArray[np.object_]:
        """Text of each row, shape (n,), None where missing."""
        distinct = self.texts.to_pylist()
        if domain is not None:
            categories = set(domain.categories)
            self.refuse(np.array([text not in categories for text in distinct], dtype=bool), "is no declared category")
        return np.array([*distinct, None], dtype=object)[self.codes]

    def refuse(self, wrong: Booleans, why: str) -> None:
        """Raise ValueError that names the first row (from 1, without the header) whose distinct text is `wrong`."""
        if wrong.any():
            raise TextError(self.where, int(np.flatnonzero(np.append(wrong, False)[self.codes])[0]), why)

    def matches(self, pattern: str) -> Booleans:
        """Which distinct texts match a regular expression, shape (distinct,)."""
        return np.asarray(pc.match_substring_regex(self._trimmed, pattern).to_numpy(zero_copy_only=False))

    @cached_property
    def _trimmed(self) -> Any:
        return pc.utf8_trim_whitespace(self.texts)


class TextTable(NamedTuple):
    """Columns of a file as text.

    Parameters
    ----------
    columns : dict of str to TextColumn
        The columns in the file's order; an empty field is a missing value.
    notes : list of Note
        What was inferred.
    layout : dict
        What was recognized, as keys of a roles file: ``separator``, ``decimal`` and ``na``.
    """

    columns: dict[str, TextColumn]
    notes: list[Note]
    layout: dict[str, Any]


def _codes(indices: Any) -> Integers:
    """Arrow's indices of a dictionary as an array of int32, -1 where missing."""
    return np.asarray(pc.fill_null(indices, -1).to_numpy(zero_copy_only=False))
