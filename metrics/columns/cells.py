r"""The grammar of released cells, and released columns in coded form.

A released cell is a plain value (``35``, ``admin.``), an interval (``[20,29]`` with both ends, ``[20,30)`` without
its upper end), a set (``{admin.|services}``), or ``*`` (suppressed: any value). A missing value (an empty field) is a
value of its own; an empty element of a set (``{admin.|}``) stands for it. In text, each of the characters
``\ | [ { *`` is escaped by a backslash.

A column is read once, into its distinct cells and one code per row. All further computations use the distinct cells.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from metrics.columns.domains import CategoricalDomain, Domain, NumericDomain, format_number
from metrics.columns.parameters import refuse, require
from metrics.columns.sentence import Sentence
from metrics.columns.values import (
    SUPPRESSED,
    Array,
    Booleans,
    Floats,
    Integers,
    UnfitValueError,
    distinct_cells,
    distinct_values,
    number_of,
    numbers_of,
    text_of,
)

_SPECIAL = re.compile(r"([\\|\[{*])")
_ESCAPED = re.compile(r"\\(.)")
_BAR = re.compile(r"(?<!\\)((?:\\\\)*)\|")
INTERVAL = re.compile(r"\[([^,\[\]()]+),([^,\[\]()]+)([\])])")
"""An interval: its ends, and the bracket or parenthesis that closes it."""


def escape(text: str) -> str:
    """Category text as a released cell."""
    return _SPECIAL.sub(r"\\\1", text)


def unescape(cell: str) -> str:
    """Category text of a plain released cell."""
    return cell if "\\" not in cell else _ESCAPED.sub(r"\1", cell)


def escape_column(column: pd.Series[Any], domain: Domain | None = None) -> pd.Series[Any]:
    """Original values as released cells: text is escaped, columns of numbers and missing values are unchanged.

    Other values become the name of their category in the domain, or their usual text; see `metrics.columns.values`.
    """
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        return column
    codes, distinct = distinct_values(column)
    text = domain.text if isinstance(domain, CategoricalDomain) else text_of
    cells = np.array([*(escape(text(value)) for value in distinct), None], dtype=object)
    return pd.Series(cells[codes], index=column.index, name=column.name, dtype=object)


def holds_generalized(column: pd.Series[Any]) -> bool:
    """Return whether a released column holds an interval, a set or ``*``."""
    return not pd.api.types.is_numeric_dtype(column) and any(map(is_generalized, column.dropna().unique()))


def is_generalized(cell: Any) -> bool:
    """Return whether a released cell that is not missing is an interval, a set or ``*``."""
    return str(cell).startswith(("[", "{", SUPPRESSED))


def plain_values(column: pd.Series[Any], domain: Domain | None) -> pd.Series[Any]:
    """Original values of a released column of plain cells: text is unescaped, a numeric domain gives numbers."""
    if pd.api.types.is_numeric_dtype(column):
        return column
    if isinstance(domain, NumericDomain):
        numbers_of(column)
        return pd.to_numeric(column)
    codes, distinct = pd.factorize(column.astype(object), use_na_sentinel=True)
    values = np.array([*(unescape(str(cell)) for cell in distinct), None], dtype=object)
    return pd.Series(values[codes], index=column.index, name=column.name, dtype=object)


def set_cell(categories: Iterable[str]) -> str:
    """Cell for a set of categories; a plain cell for a single category."""
    names = list(map(escape, categories))
    return names[0] if len(names) == 1 else "{" + "|".join(names) + "}"


def interval_cell(low: float, high: float, *, closed: bool = True) -> str:
    """Cell for the numbers from `low` to `high`, including `high` if `closed`; a plain cell if both are equal."""
    if low == high and closed:
        return format_number(low)
    return f"[{format_number(low)},{format_number(high)}{']' if closed else ')'}"


@dataclass(frozen=True)
class Cells(ABC):
    """A released column in coded form.

    Attributes
    ----------
    domain : Domain
        The domain of the original values.
    codes : ndarray of int, shape (n,)
        The distinct cell of each row.
    suppressed, missing : ndarray of bool, shape (distinct,)
        Which distinct cells are ``*``, and which are missing values.
    or_missing : ndarray of bool, shape (distinct,)
        Which distinct cells are sets that hold the missing value, beside others.
    """

    domain: Domain
    codes: Integers
    suppressed: Booleans
    missing: Booleans
    or_missing: Booleans

    @property
    @abstractmethod
    def plain(self) -> Booleans:
        """Which distinct cells hold a single value (or a missing one), shape (distinct,)."""

    @abstractmethod
    def contains(self, values: ArrayLike) -> Booleans:
        """Whether each distinct cell covers each value, shape (distinct, n); ``*`` covers missing values too."""

    @abstractmethod
    def mass(self) -> Floats:
        """Share of each distinct cell in each bin, shape (distinct, domain.size + 1); rows sum to 1.

        A cell spreads evenly over the values that it covers. The last column is the missing value; ``*`` spreads over
        the whole domain without it.
        """

    def row_mass(self) -> Floats:
        """Share of the cell of each row in each bin, shape (n, domain.size + 1)."""
        return self.mass()[self.codes]


@dataclass(frozen=True)
class NumericCells(Cells):
    """A released numeric column: every distinct cell is a union of segments.

    Attributes
    ----------
    owner : ndarray of int, shape (segments,)
        The distinct cell of each segment, ascending.
    low, high : ndarray of float, shape (segments,)
        Ends of the segments; equal for a plain number.
    closed : ndarray of bool, shape (segments,)
        Whether `high` belongs to the segment.

    Examples
    --------
    >>> import pandas as pd
    >>> from metrics import NumericDomain, read_cells
    >>> cells = read_cells(pd.Series(["35", "[20,29]", "35"]), NumericDomain(0, 99, integer=True))
    >>> cells.codes.tolist(), cells.plain.tolist(), cells.midpoint().tolist()
    ([0, 1, 0], [True, False], [35.0, 24.5])
    """

    domain: NumericDomain
    owner: Integers
    low: Floats
    high: Floats
    closed: Booleans

    @property
    def plain(self) -> Booleans:
        """Which distinct cells hold a single value (or a missing one), shape (distinct,)."""
        count = np.bincount(self.owner, minlength=self.missing.size)
        wide = np.bincount(self.owner, weights=self.low < self.high, minlength=self.missing.size)
        return np.asarray(self.missing | ((count == 1) & (wide == 0) & ~self.or_missing))

    def hull(self) -> tuple[Floats, Floats]:
        """Smallest and largest number of each distinct cell, two arrays of shape (distinct,); NaN where missing."""
        low = np.full(self.missing.size, np.inf)
        high = np.full(self.missing.size, -np.inf)
        np.minimum.at(low, self.owner, self.low)
        np.maximum.at(high, self.owner, self.high)
        return np.where(self.missing, np.nan, low), np.where(self.missing, np.nan, high)

    def midpoint(self) -> Floats:
        """Midpoint of each distinct cell, shape (distinct,); that of the domain for ``*``, NaN where missing."""
        low, high = self.hull()
        return (np.clip(low, self.domain.low, None) + np.clip(high, None, self.domain.high)) / 2

    def row_values(self) -> Floats:
        """Number of each row's cell, that of a range its midpoint, shape (n,); NaN for ``*`` and missing values."""
        return np.asarray(np.where(self.suppressed, np.nan, self.midpoint())[self.codes], dtype=float)

    def contains(self, values: ArrayLike) -> Booleans:
        """Whether each distinct cell covers each value, shape (distinct, n); ``*`` covers missing values too."""
        numbers = numbers_of(values)[None, :]
        inside = numbers <= self.high[:, None]
        if not self.closed.all():
            inside = np.where(self.closed[:, None], inside, numbers < self.high[:, None])
        inside &= numbers >= self.low[:, None]
        covered = np.zeros((self.missing.size, numbers.shape[1]), dtype=bool)
        starts = np.flatnonzero(np.diff(self.owner, prepend=-1))
        if starts.size < self.owner.size:
            inside = np.logical_or.reduceat(inside, starts, axis=0)
        covered[self.owner[starts]] = inside
        covered |= (self.missing | self.or_missing | self.suppressed)[:, None] & np.isnan(numbers)
        return covered

    def mass(self) -> Floats:
        """Share of each distinct cell in each bin, shape (distinct, domain.size + 1); rows sum to 1."""
        domain = self.domain
        low = np.maximum(self.low, domain.low)
        high = np.where(np.isinf(self.high), domain.edges[-1], self.high)
        if domain.integer:
            closed_interval = np.isfinite(self.high) & self.closed & (self.low < self.high)
            high = np.where(closed_interval, np.floor(high) + 1, high)
        width = high - low
        cuts = np.asarray(domain.cuts, dtype=float)[None, :]
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = np.clip((cuts - low[:, None]) / width[:, None], 0, 1)
        below = np.where(width[:, None] > 0, spread, (cuts > low[:, None]).astype(float))
        cumulative = np.column_stack([np.zeros(low.size), below, np.ones(low.size)])
        segment_mass = np.diff(cumulative, axis=1)
        weight = np.where(width > 0, width, 1.0)
        total = np.bincount(self.owner, weights=weight, minlength=self.missing.size)[self.owner]
        mass = np.zeros((self.missing.size, domain.size + 1))
        np.add.at(mass[:, :-1], self.owner, segment_mass * (weight / total)[:, None])
        mass[self.missing, -1] = 1.0
        # In a set, the missing value weighs as much as any other element.
        share = self.or_missing / (1 + np.bincount(self.owner, minlength=self.missing.size))
        mass[:, :-1] *= 1 - share[:, None]
        mass[:, -1] += share
        return mass


@dataclass(frozen=True)
class CategoricalCells(Cells):
    """A released categorical column.

    Attributes
    ----------
    member : ndarray of bool, shape (distinct, domain.size)
        Which categories each distinct cell covers.

    Examples
    --------
    >>> import pandas as pd
    >>> from metrics import CategoricalDomain, read_cells
    >>> cells = read_cells(pd.Series(["flu", "{flu|none}"]), CategoricalDomain(("cold", "flu", "none")))
    >>> cells.mass().tolist()
    [[0.0, 1.0, 0.0, 0.0], [0.0, 0.5, 0.5, 0.0]]
    """

    domain: CategoricalDomain
    member: Booleans

    @property
    def plain(self) -> Booleans:
        """Which distinct cells hold a single value (or a missing one), shape (distinct,)."""
        return np.asarray(self.missing | ((self.member.sum(axis=1) == 1) & ~self.suppressed & ~self.or_missing))

    def contains(self, values: ArrayLike) -> Booleans:
        """Whether each distinct cell covers each value, shape (distinct, n); ``*`` covers missing values too."""
        full = np.column_stack([self.member, self.missing | self.or_missing | self.suppressed])
        return full[:, self.domain.codes(values)]

    def row_values(self) -> Array:
        """Category of each row's cell, shape (n,); None for sets, ``*`` and missing values."""
        names = np.array(self.domain.categories, dtype=object)[self.member.argmax(axis=1)]
        return np.where(self.plain & ~self.missing, names, None)[self.codes]

    def mass(self) -> Floats:
        """Share of each distinct cell in each category, shape (distinct, domain.size + 1); rows sum to 1."""
        full = np.column_stack([self.member, self.missing | self.or_missing]).astype(float)
        return np.asarray(full / full.sum(axis=1, keepdims=True))


def read_cells(column: pd.Series[Any], domain: Domain) -> NumericCells | CategoricalCells:
    """Read a released column.

    Parameters
    ----------
    column : Series, shape (n,)
        Numbers, or text in the grammar of this module.
    domain : Domain
        The domain of the original values; it decides whether text is read as numbers or as categories.

    Raises
    ------
    ValueError
        If a cell is not a value, interval or set of this domain; names column, row (from 0) and cell.

    Examples
    --------
    >>> import pandas as pd
    >>> from metrics import NumericDomain, read_cells
    >>> cells = read_cells(pd.Series(["35", "[20,29]", "*"], name="age"), NumericDomain(0, 99, integer=True))
    >>> cells.contains([25, 35]).tolist()
    [[False, True], [True, False], [True, True]]
    """
    return _read_numeric(column, domain) if isinstance(domain, NumericDomain) else _read_categorical(column, domain)


def _read_numeric(column: pd.Series[Any], domain: NumericDomain) -> NumericCells:
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        codes, distinct = pd.factorize(column.to_numpy(dtype=float, na_value=np.nan), use_na_sentinel=False)
        missing = np.isnan(distinct)
        infinite = np.flatnonzero(np.isinf(distinct))
        if infinite.size:
            _refuse(column, codes, int(infinite[0]), "is not finite")
        owner = np.flatnonzero(~missing)
        numbers = distinct[owner]
        return NumericCells(
            domain,
            codes,
            np.zeros_like(missing),
            missing,
            np.zeros_like(missing),
            owner,
            numbers,
            numbers,
            np.ones(owner.size, dtype=bool),
        )
    codes, texts, suppressed, missing, or_missing = _distinct(column)
    segments: list[tuple[int, float, float, bool]] = []
    for index, text in enumerate(texts):
        if missing[index]:
            continue
        try:
            parts = set_elements(str(text))
            or_missing[index] = "" in parts and any(parts)
            values = [part for part in parts if part or not or_missing[index]]
            segments += [(index, *segment) for part in values for segment in _segment(part)]
        except ValueError as error:
            _refuse(column, codes, index, str(error))
    owner_, low, high, closed = zip(*segments, strict=True) if segments else ((), (), (), ())
    return NumericCells(
        domain,
        codes,
        suppressed,
        missing,
        or_missing,
        np.array(owner_, dtype=np.intp),
        np.array(low, dtype=float),
        np.array(high, dtype=float),
        np.array(closed, dtype=bool),
    )


def is_set(cell: str) -> bool:
    """Return whether a cell is written as a set."""
    return cell.startswith("{") and cell.endswith("}")


def set_elements(cell: str) -> Sequence[str]:
    """Elements of a set, between bars that are not escaped, or the cell itself."""
    if not is_set(cell):
        return [cell]
    inner = cell[1:-1]
    return _BAR.sub(lambda match: match[1] + "\0", inner).split("\0") if "\\" in inner else inner.split("|")


@lru_cache(maxsize=1 << 14)
def _segment(text: str) -> tuple[tuple[float, float, bool], ...]:
    """Segments (low, high, closed) of one numeric cell or of an element of a set."""
    if text == SUPPRESSED:
        return ((-np.inf, np.inf, True),)
    if is_set(text):
        return tuple(segment for part in set_elements(text) for segment in _segment(part))
    interval = INTERVAL.fullmatch(text)
    if interval:
        low, high, closed = _number(interval[1]), _number(interval[2]), interval[3] == "]"
        refuse(low > high or (low == high and not closed), Sentence("is an empty interval"))
        return ((low, high, closed),)
    number = _number(text)
    return ((number, number, True),)


def _number(text: str) -> float:
    number = number_of(text)
    refuse(np.isnan(number) and text.lower() != "nan", Sentence("is no number, interval [low,high] or set {{a|b}}"))
    require(np.isfinite(number), Sentence("is not finite"))
    return number


def _distinct(column: pd.Series[Any]) -> tuple[Integers, Array, Booleans, Booleans, Booleans]:
    """Codes and distinct cells; which of these are ``*``, which are missing, and no set that holds a missing value."""
    codes, texts = distinct_cells(column)
    missing = np.asarray(pd.isna(texts), dtype=bool)
    return codes, texts, np.array([text == SUPPRESSED for text in texts], dtype=bool), missing, np.zeros_like(missing)


def _read_categorical(column: pd.Series[Any], domain: CategoricalDomain) -> CategoricalCells:
    codes, texts, suppressed, missing, or_missing = _distinct(column)
    member = np.zeros((len(texts), domain.size), dtype=bool)
    member[suppressed] = True
    for index in np.flatnonzero(~missing & ~suppressed).tolist():
        parts = set_elements(domain.text(texts[index]))
        if "" in parts and any(parts) and "" not in domain.categories:
            or_missing[index] = True
            parts = [part for part in parts if part]
        try:
            member[index, [domain.position(unescape(part)) for part in parts]] = True
        except ValueError as error:
            _refuse(column, codes, index, Sentence("holds an {error}", error=str(error)))
    return CategoricalCells(domain, codes, suppressed, missing, or_missing, member)


def _refuse(column: pd.Series[Any], codes: Integers, index: int, why: str) -> None:
    raise UnfitValueError(int(np.flatnonzero(codes == index)[0]), why, column.name, "the cell")


# Released cells beside the original values of the same people.


def unchanged_cells(original: pd.Series[Any], released: pd.Series[Any], domain: Domain) -> Booleans:
    """Whether each released cell is the plain original value of the same person beside it, shape (n,)."""
    cells = read_cells(released.reset_index(drop=True), domain)
    return np.asarray(cells.plain[cells.codes] & equal_values(original, cells))


def equal_values(original: pd.Series[Any], cells: NumericCells | CategoricalCells) -> Booleans:
    """Whether the first value of each cell is the original, or both are missing; shape (n,)."""
    missing = original.isna().to_numpy()
    if isinstance(cells, NumericCells):
        low, _ = cells.hull()
        equal = low[cells.codes] == original.to_numpy(dtype=float, na_value=np.nan)
    else:
        equal = cells.member.argmax(axis=1)[cells.codes] == cells.domain.codes(original)
    return np.where(missing, cells.missing[cells.codes], equal & ~cells.missing[cells.codes])


# Categories that released cells name, alone or in sets.


def named_categories(column: pd.Series[Any]) -> set[str]:
    """Categories that occur in the cells of a released column, alone or in sets."""
    return set().union(*(cell_categories(str(cell)) for cell in column.dropna().unique()))


def cell_categories(cell: str) -> set[str]:
    """Categories that a released cell names: those of a set, that of a plain cell, none of ``*``."""
    return set() if cell == SUPPRESSED else {unescape(part) for part in set_elements(cell) if part}
