"""Channel parts for categories that are kept or replaced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from defenses.base.channel_parts.part import ColumnPart, Likelihood
from defenses.base.columns import plain_codes
from metrics.columns.arrays import Floats
from metrics.columns.cells import read_cells
from metrics.columns.parameters import require
from metrics.columns.values import distinct_cells, is_mixed

# Channel part for cells that cover the original value.


@dataclass(frozen=True)
class Containment(ColumnPart):
    """The released cell covers the original value: unchanged values, generalization, suppression.

    The log-likelihood is 0 where the cell covers the value, and -inf elsewhere. Given the value, the cell is either
    certain or depends only on facts that the attacker cannot know.
    """

    kind: ClassVar[str] = "containment"

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        cells = read_cells(released[self.column], self.domain)
        values = original[self.column]
        codes, distinct = distinct_cells(values) if is_mixed(values) else pd.factorize(values, use_na_sentinel=False)
        with np.errstate(divide="ignore"):
            table = np.log(cells.contains(distinct).astype(float))
        return Likelihood((cells.codes,), (codes,), lambda cell, value: table[cell, value])


@dataclass(frozen=True)
class GroupMode(ColumnPart):
    """Each category is replaced by the most frequent category of its group; a missing value counts as a category.

    The log-likelihood is log(agreement) where both categories are equal. The remaining probability is spread evenly
    over the other categories.

    Parameters
    ----------
    agreement : float
        Share of the records whose own category is the most frequent one of their group, in [0, 1].

    Raises
    ------
    ValueError
        If the share lies outside [0, 1].
    """

    kind: ClassVar[str] = "group_mode"
    agreement: float

    def __post_init__(self) -> None:
        _check_probability("agreement", self.agreement)

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        same, other = _logs(self.agreement, (1 - self.agreement) / self.domain.size)
        cells = plain_codes(released[self.column], self.domain)
        return Likelihood(
            (cells,), (self.domain.codes(original[self.column]),), lambda a, b: np.where(a == b, same, other)
        )


@dataclass(frozen=True)
class Retention(ColumnPart):
    """A category or bin is kept with a fixed probability, and otherwise replaced by one of the others, uniformly.

    Parameters
    ----------
    retention : float
        Probability that the category is kept, in [0, 1].
    categories : int
        Number of categories: those of the domain, and one more where missing values count as a category.

    Raises
    ------
    ValueError
        If the probability lies outside [0, 1].
    """

    kind: ClassVar[str] = "retention"
    retention: float
    categories: int

    def __post_init__(self) -> None:
        _check_probability("retention", self.retention)

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        same, other = _logs(self.retention, (1 - self.retention) / max(1, self.categories - 1))
        cells = plain_codes(released[self.column], self.domain)

        def kernel(cell: NDArray[np.intp], value: NDArray[np.intp]) -> Floats:
            in_range = (cell < self.categories) & (value < self.categories)
            return np.where(in_range, np.where(cell == value, same, other), -np.inf)

        return Likelihood((cells,), (self.domain.codes(original[self.column]),), kernel)


def _check_probability(name: str, value: float) -> None:
    require(0 <= value <= 1, f"{name} must lie in [0, 1], got {value}")


def _logs(*probabilities: float) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.array(probabilities)))
