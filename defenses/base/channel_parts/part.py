"""The contract of a channel part: how one column, or several jointly, are released from a record."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from defenses.base.columns import is_number_column, plain_codes, plain_numbers
from metrics.columns import Domain, Floats, escape_column, gathered


@dataclass(frozen=True)
class Likelihood:
    """Log-likelihoods of given released rows under given original rows.

    - released, original: Arrays that the kernel needs of either side; the first axis of each runs over rows.
    - kernel: Maps the arrays of both sides, broadcast against each other, to log-likelihoods.
    """

    released: tuple[NDArray[Any], ...]
    original: tuple[NDArray[Any], ...]
    kernel: Callable[..., Floats]

    def table(self) -> Floats:
        """Log-likelihood of every released row under every original row, shape (released, original).

        The kernel is evaluated once for each distinct pair, unless most pairs are distinct.
        """
        (cells, rows), (values, columns) = _distinct(self.released), _distinct(self.original)
        if 2 * cells.size * values.size > rows.size * columns.size:
            left = (array[:, None] for array in self.released)
            right = (array[None, :] for array in self.original)
            return self.kernel(*left, *right)
        return gathered(self.at(cells[:, None], values[None, :]), rows, columns)

    def at(self, rows: ArrayLike, candidates: ArrayLike) -> Floats:
        """Log-likelihoods for given pairs of positions, which are broadcast against each other.

        - rows, candidates: Positions of released rows, and of original rows.
        """
        left, right = np.asarray(rows), np.asarray(candidates)
        return self.kernel(*(array[left] for array in self.released), *(array[right] for array in self.original))


@dataclass(frozen=True)
class ChannelPart(ABC):
    """How one column, or several jointly, are released from a record.

    Attributes
    ----------
    kind : str
        The part's name in a channel file.

    Examples
    --------
    Rounding to multiples of 10 releases 20 for the age 19, and 30 for the age 33:

    >>> import pandas as pd
    >>> from defenses.base.channel_parts import Rounded
    >>> part = Rounded("age", 10.0)
    >>> part.columns
    ('age',)
    >>> part.bind(pd.DataFrame({"age": [20, 30]}), pd.DataFrame({"age": [19, 33]})).table().tolist()
    [[0.0, -inf], [-inf, 0.0]]
    """

    kind: ClassVar[str]

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns that this part releases."""

    @property
    def original_domains(self) -> Mapping[str, Domain]:
        """Domain of the original values of each column; empty where the part does not state one (noise)."""
        return MappingProxyType({})

    def restricted(self, columns: Collection[str]) -> ChannelPart | None:
        """Return a part that releases only those of its columns; None if there is none, which is the default."""
        return None

    @abstractmethod
    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows; log-densities where cells are continuous."""


@dataclass(frozen=True)
class SingleColumnPart(ChannelPart):
    """A part for one column, with or without its domain."""

    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The one column."""
        return (self.column,)


@dataclass(frozen=True)
class ColumnPart(SingleColumnPart):
    """A part for one column.

    - domain: Domain of its original values, by which released cells are read.
    """

    domain: Domain

    @property
    def original_domains(self) -> Mapping[str, Domain]:
        """The column's domain."""
        return MappingProxyType({self.column: self.domain})

    def of_codes(self, released: pd.DataFrame, original: pd.DataFrame, kernel: Callable[..., Floats]) -> Likelihood:
        """Log-likelihoods that a kernel gives of the released and the original category or public bin."""
        return Likelihood(
            (plain_codes(released[self.column], self.domain),), (self.domain.codes(original[self.column]),), kernel
        )


@dataclass(frozen=True)
class ColumnsPart(ChannelPart):
    """A part for several columns jointly.

    - domains: Their domains; numbers are read as bins.
    """

    names: tuple[str, ...]
    domains: tuple[Domain, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns."""
        return self.names

    @property
    def original_domains(self) -> Mapping[str, Domain]:
        """The domain of each column."""
        return MappingProxyType(dict(zip(self.names, self.domains, strict=True)))


@dataclass(frozen=True)
class ValuePart(SingleColumnPart):
    """A part for one column whose released cells are plain values, readable without a domain."""


def equal(cell: Floats, value: Floats) -> Floats:
    """Log-likelihood of numbers that the original determines: 0 where both are equal or both missing, else -inf."""
    same = (cell == value) | (np.isnan(cell) & np.isnan(value))
    return np.where(same, 0.0, -np.inf)


def _distinct(side: tuple[NDArray[Any], ...]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Position of one example of each distinct row of a side, and the number of each row's example among them."""
    _, examples, numbers = np.unique(side[0], return_index=True, return_inverse=True)
    for array in side[1:]:
        distinct, codes = np.unique(array, return_inverse=True)
        _, examples, numbers = np.unique(numbers * distinct.size + codes, return_index=True, return_inverse=True)
    return examples, numbers


# Channel parts for cells that are not linked to their record.


@dataclass(frozen=True)
class Independent(ValuePart):
    """The released cell is independent of the record; the log-likelihood is 0 for every pair."""

    kind: ClassVar[str] = "independent"

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        return Likelihood((np.zeros(len(released)),), (np.zeros(len(original)),), np.add)


@dataclass(frozen=True)
class Presence(ValuePart):
    """The column is released in random order, so that a record's cell is equally likely any of the cells.

    The log-likelihood of every released row under an original value is log(count / rows), the probability of drawing
    the value from the released column. It is -inf for a value that does not occur there.
    """

    kind: ClassVar[str] = "presence"

    @np.errstate(divide="ignore")
    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        if is_number_column(original[self.column]):
            cells, values = plain_numbers(released[self.column]), plain_numbers(original[self.column])
        else:
            cells = released[self.column].to_numpy(dtype=object)
            values = escape_column(original[self.column]).to_numpy(dtype=object)
        codes, distinct = pd.factorize(np.concatenate([cells, values]), use_na_sentinel=False)
        count = np.bincount(codes[: cells.size], minlength=len(distinct))
        table = np.log(count / max(1, cells.size))
        return Likelihood((np.zeros(len(released)),), (table[codes[cells.size :]],), np.add)
