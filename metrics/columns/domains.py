"""Public domains of columns: their possible values, and bins for numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from metrics.columns.parameters import refuse, require
from metrics.columns.sentence import Sentence
from metrics.columns.values import Floats, Integers, UnfitValueError, distinct_values, numbers_of, text_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class NumericDomain:
    """The public range of a numeric column and its public bins.

    Parameters
    ----------
    low, high : float
        Smallest and largest possible value, in the column's unit.
    integer : bool
        Whether only integers occur.
    cuts : tuple of float
        Interior cut points, ascending and inside (low, high]: bin i holds the values v with
        ``cuts[i - 1] <= v < cuts[i]``.
    inferred : bool
        Whether the domain was read from records. Then it is not public, and no guarantee of privacy may rest on it.
    decimals : int, optional
        Largest declared number of digits after the point.

    Raises
    ------
    ValueError
        If a number is not finite, `low` exceeds `high`, or the cuts do not ascend inside the range.

    Examples
    --------
    >>> from metrics import NumericDomain
    >>> age = NumericDomain(0, 99, integer=True, cuts=(18, 65))
    >>> age.cells()
    ['[0,18)', '[18,65)', '[65,99]']
    >>> age.codes([17, 18, None]).tolist()
    [0, 1, 3]
    """

    low: float
    high: float
    integer: bool = False
    cuts: tuple[float, ...] = ()
    inferred: bool = False
    # Not shown or compared: keys of stored results hold the text of a domain.
    decimals: int | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cuts", tuple(float(cut) for cut in self.cuts))
        require(np.isfinite([self.low, self.high, *self.cuts]).all(), "low, high and cuts must be finite numbers")
        refuse(self.low > self.high, f"low ({self.low:g}) exceeds high ({self.high:g})")
        edges = [self.low, *self.cuts]
        refuse(
            any(a >= b for a, b in pairwise(edges)) or edges[-1] > self.high,
            f"cuts must ascend inside ({self.low:g}, {self.high:g}]",
        )

    @property
    def size(self) -> int:
        """Number of bins, without the one for missing values."""
        return len(self.cuts) + 1

    @property
    def edges(self) -> Floats:
        """Edges of the bins, shape (size + 1,); an integer range ends one above its largest value."""
        return np.array([self.low, *self.cuts, self.high + (1 if self.integer else 0)], dtype=float)

    def codes(self, values: ArrayLike) -> Integers:
        """Bin of each value, shape (n,); `size` if missing. Values outside the range belong to the nearest bin."""
        numbers = np.asarray(values).ravel()
        if numbers.dtype.kind not in "fiu":
            numbers = numbers_of(numbers)
        numbers = numbers.astype(float)
        codes = np.searchsorted(self.cuts, numbers, side="right")
        codes[np.isnan(numbers)] = self.size
        return codes

    def cells(self) -> list[str]:
        """Each bin as a released cell."""
        edges = [format_number(edge) for edge in (self.low, *self.cuts, self.high)]
        closing = [")"] * (self.size - 1) + ["]"]
        return [f"[{low},{high}{end}" for (low, high), end in zip(pairwise(edges), closing, strict=True)]


@dataclass(frozen=True)
class CategoricalDomain:
    """The public categories of a column.

    Parameters
    ----------
    categories : tuple of str
        Every category that may occur, each once.
    ordered : bool
        Whether the order of `categories` is meaningful.
    inferred : bool
        Whether the domain was read from records. Then it is not public, and no guarantee of privacy may rest on it.

    Raises
    ------
    ValueError
        If a category is listed twice or none is given.

    Examples
    --------
    >>> from metrics import CategoricalDomain
    >>> disease = CategoricalDomain(("cold", "flu", "none"))
    >>> disease.codes(["flu", None]).tolist()
    [1, 3]
    """

    categories: tuple[str, ...]
    ordered: bool = False
    inferred: bool = False
    _position: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "categories", tuple(self.categories))
        object.__setattr__(self, "_position", {name: i for i, name in enumerate(self.categories)})
        require(self.categories, "categories must not be empty")
        if len(self._position) < len(self.categories):
            twice = next(name for name in self.categories if self.categories.count(name) > 1)
            raise ValueError(f"category {twice!r} appears twice")

    @property
    def size(self) -> int:
        """Number of categories, without the one for missing values."""
        return len(self.categories)

    def position(self, name: Any) -> int:
        """Position of a category, given its name or a value that belongs to it.

        Raises
        ------
        ValueError
            If there is no such category; names those that there are, unless they were read from records.
        """
        position = self._position.get(text_of(name, self._position))
        if position is None:
            raise ValueError(Sentence("unknown category; {known}", known=self._known))
        return position

    @property
    def _known(self) -> str:
        if self.inferred:
            return Sentence(
                "the {count} known ones were read from records, so declare the categories of the column",
                count=self.size,
            )
        return Sentence("known are {categories}", categories=_shorten(self.categories))

    def text(self, value: Any) -> str:
        """Name of the category that a value belongs to; its usual text if there is none."""
        return text_of(value, self._position)

    def codes(self, values: ArrayLike) -> Integers:
        """Position of each value among the categories, shape (n,); `size` for a missing one.

        A value belongs to the category that its text names; see `metrics.columns.values`.

        Raises
        ------
        ValueError
            If a value is not a category; names its row.
        """
        if isinstance(values, np.ndarray) and values.dtype == object and values.ndim == 1:
            # Names of categories, None and NaN need no table, which takes half a millisecond to make.
            positions = [
                self._position.get(value) if type(value) is str else self.size if _is_missing(value) else None
                for value in values.tolist()
            ]
            if None not in positions:
                return np.array(positions, dtype=np.intp)
        codes, distinct = distinct_values(values)
        found = [self._position.get(text_of(value, self._position)) for value in distinct]
        if None in found:
            row = int(np.flatnonzero(codes == found.index(None))[0])
            raise UnfitValueError(row, f"unknown category; {self._known}", getattr(values, "name", None))
        return np.array([*found, self.size], dtype=np.intp)[codes]


Domain = NumericDomain | CategoricalDomain


def _is_missing(value: object) -> bool:
    return value is None or (type(value) is float and value != value)


def infer_domain(column: pd.Series[Any], bins: int = 10, weights: Integers | None = None) -> Domain:
    """Infer the domain of a column from its values; such a domain is not public.

    Parameters
    ----------
    column : Series
        Numbers give a `NumericDomain` with cuts at quantiles, all others a `CategoricalDomain` of the values' texts
        in sorted order. An integer is written without a fraction, however it is stored.
    bins : int
        Largest number of bins for numbers.
    weights : ndarray of int, shape (n,), optional
        Number of records that each value stands for; by default one.

    Raises
    ------
    ValueError
        If the column has no value at all or holds an infinity.
    """
    import pandas as pd

    present = column.dropna()
    refuse(present.empty, f"column {column.name!r} has no value to infer a domain from; declare one")
    if pd.api.types.is_bool_dtype(present) or not pd.api.types.is_numeric_dtype(present):
        return CategoricalDomain(
            tuple(sorted({text_of(value) for value in distinct_values(present)[1]})), inferred=True
        )
    values = present.to_numpy(dtype=float)
    require(np.isfinite(values).all(), f"column {column.name!r} holds an infinity; numbers must be finite")
    integer = bool((values == np.round(values)).all())
    low, high = float(values.min()), float(values.max())
    shares = np.linspace(0, 1, bins + 1)[1:-1]
    if weights is None:
        quantiles = np.unique(np.quantile(values, shares, method="higher"))
    else:
        order = np.argsort(values, kind="stable")
        reach = np.cumsum(weights[column.notna().to_numpy()][order])
        quantiles = np.unique(values[order][np.searchsorted(reach, np.ceil(shares * (reach[-1] - 1)), side="right")])
    return NumericDomain(
        low, high, integer, tuple(cut for cut in quantiles.tolist() if low < cut <= high), inferred=True
    )


def format_number(value: float) -> str:
    """Shortest text that `float` reads as `value`, without a trailing ``.0``."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _shorten(names: Sequence[str], most: int = 8) -> str:
    listed = ", ".join(names[:most])
    return listed if len(names) <= most else f"{listed}, … ({len(names)} in all)"
