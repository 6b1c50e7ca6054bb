"""Distinct values of a column, by type and value, and the texts that they equal.

Values of different types differ: 1, 1.0 and True are three values. A value belongs to a category if one of its texts is
the category's name. The texts of an integer are ``72`` and ``72.0``, however it is stored, since one missing or
fractional number in a column makes pandas store all its integers as floating-point numbers. The texts of True are
``True`` alone. Hence the category of a record depends on its own value only, not on the types of other records' values.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.columns import refuse

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array

# Type aliases for arrays, and the expansion of tables over codes.

# Columns that a table must have.


def require_column(columns: Collection[object], name: str) -> None:
    """Raise a ValueError that names the columns of the table, unless the name is one of them."""
    refuse(name not in columns, f"there is no column {name!r}; the table has {', '.join(map(str, columns))}")


Array = NDArray[Any]
"""Values of any one kind."""
Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Integers32 = NDArray[np.int32]
Integers = NDArray[np.intp]
Booleans = NDArray[np.bool_]
Integers64 = NDArray[np.int64]
Words64 = NDArray[np.uint64]
"""Unsigned 64-bit integers: seeds, hashes and random bits."""


def gathered(table: Array, rows: Integers, columns: Integers) -> Array:
    """Entry of a table for each pair of a row code and a column code, as ``table[np.ix_(rows, columns)]`` but faster.

    Gathering columns goes entry by entry, gathering rows copies blocks of memory. So columns are gathered while there
    are few rows.

    - table, shape (r, c): The table.
    - rows, shape (n,): Row of the table for each row of the result.
    - columns, shape (m,): Column of the table for each column of the result.
    """
    if 2 * len(table) <= rows.size:
        return np.take(np.take(table, columns, axis=1), rows, axis=0)
    return np.take(np.take(table, rows, axis=0), columns, axis=1)


def chunks(n: int, width: int, entries: int = 1 << 22) -> Iterator[slice]:
    """Yield slices of n rows, each of about so many entries of tables with `width` columns."""
    step = max(1, entries // max(1, width))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


def bisect(
    holds: Callable[[float], bool], low: float, high: float, steps: int, *, geometric: bool = False
) -> tuple[float, float]:
    """Halve [low, high] `steps` times, so that `holds` is true at the low end and false at the high end.

    The given ends are not tried: `holds` counts as true at `low` and as false at `high`. The middle is the arithmetic
    or the geometric mean of the ends.
    """
    for _ in range(steps):
        middle = math.sqrt(low * high) if geometric else (low + high) / 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low, high


def group_sums(groups: Integers, rows: Array, count: int) -> Array:
    """Sum of the rows of each of `count` groups, shape (count, ...), in the rows' precision."""
    sums = np.zeros((count, *rows.shape[1:]), dtype=rows.dtype)
    np.add.at(sums, groups, rows)
    return sums


def sums_by_code(codes: Sequence[Integers], counts: Sequence[int]) -> csr_array[Any]:
    """Matrix that adds up the rows of each code, for several codings of the rows, shape (sum of counts, rows)."""
    from scipy.sparse import csr_array

    rows = np.concatenate([np.argsort(one, kind="stable") for one in codes])
    sizes = np.concatenate([np.bincount(one, minlength=count) for one, count in zip(codes, counts, strict=True)])
    return csr_array((np.ones(rows.size), rows, np.r_[0, np.cumsum(sizes)]), shape=(sum(counts), codes[0].size))


def scattered(values: ArrayLike, positions: Array, size: int) -> Integers:
    """Integers at their positions, the last one where several have one position, and -1 elsewhere, shape (size,)."""
    result = np.full(size, -1, dtype=np.intp)
    result[positions] = values
    return result


SUPPRESSED = "*"
NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
"""Regular expression of a plain number with ASCII digits, as cells of files hold it."""

# Texts of many numbers at once.

SMALLEST, LARGEST = 1e-4, 1e9
"""Arrow and Python write equal digits of numbers from the first to below the second, and of 0; no exponents."""


def in_digits(numbers: Floats) -> Booleans:
    """Tell which numbers Arrow writes without an exponent, and with the digits of Python, shape (n,)."""
    size = np.abs(numbers)
    return np.asarray((size >= SMALLEST) & (size < LARGEST) | (size == 0))


def number_texts(numbers: Floats, write: Callable[[float], str]) -> Any:
    """Texts of numbers by Arrow, or by a function where Arrow would write an exponent or no number.

    Arrow omits the fraction of an integer and keeps the sign of -0.0.

    - write: ``write(number)`` is the text of a number that is not `in_digits`.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pc.cast(pa.array(numbers), pa.string())
    other = ~in_digits(numbers)
    if not other.any():
        return texts
    return pc.replace_with_mask(texts, pa.array(other), pa.array(map(write, numbers[other].tolist()), pa.string()))


class UnfitValueError(ValueError):
    """A value that does not fit, named by its place alone: messages may be logged, and values are people's.

    - row: Position of the value, from 0.
    - why: The reason, and what would be right.
    - column: The column, if it is known.
    - what: What the reason is about, if it is not a whole sentence.
    """

    def __init__(self, row: int, why: str, column: Any = None, what: str = "") -> None:
        super().__init__(row, why, column, what)
        self.row, self.why, self.column, self.what = row, why, column, what

    def __str__(self) -> str:
        return self.counted(0)

    def counted(self, first: int) -> str:
        """The message, in which the first row has this number: 0 in an array, 1 in a file."""
        column = "" if self.column is None else f"column {self.column!r}, "
        return f"{column}row {self.row + first}: {self.what} ".rstrip() + f" {self.why}"


def in_column(name: Any, error: ValueError, codes: Integers | None = None) -> ValueError:
    """An error about a column's values that names the column.

    - codes, shape (n,): Position of each row's value among the values that the error is about; by default they are the
      rows.
    """
    if not isinstance(error, UnfitValueError):
        return ValueError(f"column {name!r}: {error}")
    row = error.row if codes is None else int(np.flatnonzero(codes == error.row)[0])
    return UnfitValueError(row, error.why, name, error.what)


def numbers_of(values: ArrayLike) -> Floats:
    """Values as numbers, shape (n,); NaN where missing.

    Raises UnfitValueError if a value is no number.
    """
    import pandas as pd

    column = _as_column(values)
    try:
        return pd.to_numeric(column).to_numpy(dtype=float, na_value=np.nan)
    except (TypeError, ValueError):
        numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
        wrong = np.flatnonzero(np.isnan(numbers) & column.notna().to_numpy())
    raise UnfitValueError(int(wrong[0]) if wrong.size else 0, "the value is no number", getattr(values, "name", None))


LARGEST_EXACT = 2.0**53
"""Below it every integer is a floating-point number."""


def distinct_values(values: ArrayLike) -> tuple[Integers, list[Any]]:
    """Position of each value among the distinct ones, shape (n,), -1 where it is missing; and the distinct values.

    Distinct values are listed in order of appearance. ``pandas.factorize`` would make 1, 1.0 and True one value, the
    first in the table. Then one record would decide as which text the others count.
    """
    import pandas as pd

    column = _as_column(values)
    if not is_mixed(column):
        # Of an array, where that has the same values: pandas would make an index of the distinct ones of a series.
        codes, uniques = pd.factorize(column.to_numpy() if column.dtype == object else column)
        return np.asarray(codes, dtype=np.intp), list(uniques)
    positions: dict[Any, int] = {}
    distinct: list[Any] = []
    result = np.full(len(column), -1, dtype=np.intp)
    for row, value in enumerate(column):
        # Missing in any of the forms that pandas knows, or a decimal that is not a number.
        if value.is_nan() if isinstance(value, Decimal) else pd.api.types.is_scalar(value) and pd.isna(value):
            continue
        try:
            position = positions.setdefault((type(value), value), len(distinct))
        except TypeError:  # A list, for example, is not hashable.
            position = len(distinct)
        if position == len(distinct):
            distinct.append(value)
        result[row] = position
    return result, distinct


def distinct_cells(values: ArrayLike) -> tuple[Integers, NDArray[np.object_]]:
    """Position of each value among the distinct ones, shape (n,); and these, of which a missing value is one."""
    import pandas as pd

    column = _as_column(values)
    if not is_mixed(column):
        codes, uniques = pd.factorize(column.to_numpy(dtype=object), use_na_sentinel=False)
        return np.asarray(codes, dtype=np.intp), np.asarray(uniques, dtype=object)
    codes, distinct = distinct_values(column)
    if (codes < 0).any():
        codes, distinct = np.where(codes < 0, len(distinct), codes), [*distinct, None]
    cells = np.empty(len(distinct), dtype=object)
    cells[:] = distinct
    return codes, cells


def _as_column(values: ArrayLike) -> pd.Series[Any]:
    import pandas as pd

    if isinstance(values, pd.Series):
        return values
    return pd.Series(values if isinstance(values, np.ndarray) else np.asarray(values, dtype=object))


def is_mixed(column: pd.Series[Any]) -> bool:
    """Return whether a column holds objects that are not all text."""
    from pandas.api.types import infer_dtype

    return column.dtype == object and infer_dtype(column, skipna=True) != "string"


def texts_of(value: Any) -> tuple[str, ...]:
    """Texts that a value equals, the usual one first; none if it has no text.

    An integer equals "72" and "72.0", however it is stored. One missing or fractional number in a column makes pandas
    store all its integers as floating-point numbers.
    """
    if isinstance(value, int | float | complex | np.number) and not isinstance(value, bool):
        number = number_of(value)
        if number.is_integer() and abs(number) < LARGEST_EXACT:
            return str(int(number)), str(number)
    try:
        return (str(value),)
    except Exception:
        return ()


def text_of(value: Any, names: Collection[str] = ()) -> str:
    """The first text of a value that is among `names`, or else its usual text; empty if it has no text."""
    texts = texts_of(value)
    return next((text for text in texts if text in names), texts[0] if texts else "")


_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
"""Characters without width: soft hyphens, joiners, marks of direction and of byte order."""
QUOTATION_MARKS = "\"'`\u2018\u2019\u201a\u201c\u201d\u201e\u2039\u203a\u00ab\u00bb\u300c\u300d\u300e\u300f"


_WIDE: dict[int, int | str] = {**{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}, 0x3000: " ", 0x2212: "-"}
"""Digits, letters and signs of double width, and the sign of minus, as ASCII."""


def plain_digits(text: str) -> str:
    """A text whose digits and signs have single width."""
    return text if text.isascii() else text.translate(_WIDE)


def folded(text: str) -> str:
    """A text in Unicode NFKC, case folded, with single blanks, and without outer quotation marks and blanks."""
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).casefold())
    return " ".join(plain.strip(f"{QUOTATION_MARKS} ").split())


def spelling(text: str) -> str:
    """What all spellings of a text have in common: the `folded` text without blanks."""
    return folded(text).replace(" ", "")


def number_of(value: Any) -> float:
    """Return a value as a number, NaN if it is none. Text with underscores or other digits than 0-9 is none."""
    if isinstance(value, complex | np.complexfloating) and value.imag == 0:
        # One complex number in a column makes pandas store all its numbers as complex.
        value = value.real
    if isinstance(value, str):
        if not value.isascii() or "_" in value:
            return math.nan
    # NumPy counts a duration among its integers.
    elif not isinstance(value, np.bool_ | Real | Decimal) or isinstance(value, np.timedelta64):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except ValueError:
        return math.nan
