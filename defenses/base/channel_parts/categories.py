"""Channel parts for categories that are kept or replaced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from defenses.base.channel_parts.part import ColumnPart, ColumnsPart, Likelihood
from defenses.base.columns import plain_codes
from metrics.columns import Floats, distinct_cells, is_mixed, read_cells, refuse, require

# Channel part of PRAM with one retention probability per category, for one column or several jointly.


@dataclass(frozen=True)
class RetentionVector(ColumnsPart):
    """A cell (one value of each column) is kept with its own probability, else replaced uniformly by another cell.

    The log-likelihood of released cell i under original cell j is log(p_j) for i = j and log((1 - p_j)/(d - 1)) for
    i != j, with d cells. It is -inf where either side holds a missing value that does not count as a category.

    - domains: Their domains; numbers are read as bins.
    - sizes: Number of categories of each column: those of its domain, and one more where missing values count as a
      category.
    - retention: Retention probability of each cell, shape (d,), with d the product of `sizes`; the category of the last
      column varies fastest.

    Raises ValueError if the lengths do not fit, or an entry of `retention` is not a probability.
    """

    kind: ClassVar[str] = "retention_vector"
    sizes: tuple[int, ...]
    retention: tuple[float, ...]

    def __post_init__(self) -> None:
        require(
            len(self.names) == len(self.domains) == len(self.sizes),
            "retention_vector: names, domains and sizes must have one entry a column",
        )
        cells = int(np.prod(self.sizes))
        require(
            len(self.retention) == cells,
            f"retention_vector: retention must have {cells} entries, got {len(self.retention)}",
        )
        require(
            all(0 <= probability <= 1 for probability in self.retention),
            "retention_vector: retention must hold probabilities",
        )

    @np.errstate(divide="ignore")
    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        cells = self.joined(
            [plain_codes(released[name], domain) for name, domain in zip(self.names, self.domains, strict=True)]
        )
        values = self.joined(
            [domain.codes(original[name]) for name, domain in zip(self.names, self.domains, strict=True)]
        )
        probability = np.array(self.retention)
        same = np.where(values >= 0, np.log(probability)[values], -np.inf)
        other = np.where(values >= 0, np.log((1 - probability) / max(probability.size - 1, 1))[values], -np.inf)
        return Likelihood((cells,), (values, same, other), _kernel)

    def joined(self, codes: Sequence[NDArray[np.intp]]) -> NDArray[np.intp]:
        """Cell of each row, shape (n,), from its categories; -1 where a category exceeds the column's size."""
        in_range = np.all([column < size for column, size in zip(codes, self.sizes, strict=True)], axis=0)
        cells = np.full(in_range.size, -1)
        cells[in_range] = np.ravel_multi_index(tuple(column[in_range] for column in codes), self.sizes)
        return cells


def _kernel(cell: NDArray[np.intp], value: NDArray[np.intp], same: Floats, other: Floats) -> Floats:
    return np.where(cell < 0, -np.inf, np.where(cell == value, same, other))


# Channel part of PRAM with any transition matrix of one column.


@dataclass(frozen=True)
class TransitionTable(ColumnPart):
    """A category or bin j is released as i with the probability that a transition matrix gives.

    The log-likelihood is -inf where either side holds a missing value that does not count as a category.

    - matrix: Row i holds the probabilities of releasing category i, one for each original category; shape (d, d), with
      one more category where missing values count as one.

    Raises ValueError if the matrix is not square, or a column does not hold probabilities that sum to 1 (to 1e-9).
    """

    kind: ClassVar[str] = "transition_table"
    matrix: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        size = len(self.matrix)
        refuse(not size or any(len(row) != size for row in self.matrix), "transition_table: matrix must be square")
        array = np.array(self.matrix)
        refuse(
            not ((array >= 0) & (array <= 1)).all() or (np.abs(array.sum(axis=0) - 1) > 1e-9).any(),
            "transition_table: the columns of matrix must hold probabilities that sum to 1",
        )

    @np.errstate(divide="ignore")
    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        size = len(self.matrix)
        logs = np.log(np.array(self.matrix))
        padded = np.full((size + 1, size + 1), -np.inf)
        padded[:size, :size] = logs

        def kernel(cell: NDArray[np.intp], value: NDArray[np.intp]) -> Floats:
            inside = [np.where((codes >= 0) & (codes < size), codes, size) for codes in (cell, value)]
            return np.asarray(padded[inside[0], inside[1]])

        return self.of_codes(released, original, kernel)


# Channel part for cells that cover the original value.


@dataclass(frozen=True)
class Containment(ColumnPart):
    """The released cell covers the original value: unchanged values, generalization, suppression.

    The log-likelihood is 0 where the cell covers the value, and -inf elsewhere. Given the value, the cell is either
    certain or depends only on facts that the attacker cannot know.
    """

    kind: ClassVar[str] = "containment"

    @np.errstate(divide="ignore")
    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        cells = read_cells(released[self.column], self.domain)
        values = original[self.column]
        codes, distinct = distinct_cells(values) if is_mixed(values) else pd.factorize(values, use_na_sentinel=False)
        table = np.log(cells.contains(distinct).astype(float))
        return Likelihood((cells.codes,), (codes,), lambda cell, value: table[cell, value])


@dataclass(frozen=True)
class GroupMode(ColumnPart):
    """Each category is replaced by the most frequent category of its group; a missing value counts as a category.

    The log-likelihood is log(agreement) where both categories are equal. The remaining probability is spread evenly
    over the other categories.

    - agreement: Share of the records whose own category is the most frequent one of their group, in [0, 1].

    Raises ValueError if the share lies outside [0, 1].
    """

    kind: ClassVar[str] = "group_mode"
    agreement: float

    def __post_init__(self) -> None:
        _check_probability("agreement", self.agreement)

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        same, other = _logs(self.agreement, (1 - self.agreement) / self.domain.size)
        return self.of_codes(released, original, lambda a, b: np.where(a == b, same, other))


@dataclass(frozen=True)
class Retention(ColumnPart):
    """A category or bin is kept with a fixed probability, and otherwise replaced by one of the others, uniformly.

    - retention: Probability that the category is kept, in [0, 1].
    - categories: Number of categories: those of the domain, and one more where missing values count as a category.

    Raises ValueError if the probability lies outside [0, 1].
    """

    kind: ClassVar[str] = "retention"
    retention: float
    categories: int

    def __post_init__(self) -> None:
        _check_probability("retention", self.retention)

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        same, other = _logs(self.retention, (1 - self.retention) / max(1, self.categories - 1))

        def kernel(cell: NDArray[np.intp], value: NDArray[np.intp]) -> Floats:
            in_range = (cell < self.categories) & (value < self.categories)
            return np.where(in_range, np.where(cell == value, same, other), -np.inf)

        return self.of_codes(released, original, kernel)


def _check_probability(name: str, value: float) -> None:
    require(0 <= value <= 1, f"{name} must lie in [0, 1], got {value}")


@np.errstate(divide="ignore")
def _logs(*probabilities: float) -> Floats:
    return np.asarray(np.log(np.array(probabilities)))
