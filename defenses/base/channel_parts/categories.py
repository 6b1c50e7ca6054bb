"""Parts for categories that are kept with one probability and otherwise replaced by another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from defenses.base.channel_parts.part import ColumnPart, Likelihood
from defenses.base.columns import plain_codes
from metrics.arrays import Floats


@dataclass(frozen=True)
class GroupMode(ColumnPart):
    """A category is replaced by the most frequent one of its group, a missing value counting as a category.

    The log-likelihood is log(agreement) where both are the same; what is left is spread evenly over the others.

    Parameters
    ----------
    agreement : float
        Share of the records whose group's most frequent category is their own, in [0, 1].

    Raises
    ------
    ValueError
        If the probability lies outside [0, 1].
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
    """A category or bin is kept with one probability and otherwise replaced by each of the others alike.

    Parameters
    ----------
    retention : float
        Probability of being kept, in [0, 1].
    categories : int
        How many there are: the domain's, and one more where a missing value counts as one.

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
            known = (cell < self.categories) & (value < self.categories)
            return np.where(known, np.where(cell == value, same, other), -np.inf)

        return Likelihood((cells,), (self.domain.codes(original[self.column]),), kernel)


def _check_probability(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must lie in [0, 1], got {value}")


def _logs(*probabilities: float) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.array(probabilities)))
