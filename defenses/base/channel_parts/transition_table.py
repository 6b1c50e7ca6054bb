"""Channel part of PRAM with any transition matrix of one column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from defenses.base.channel_parts.part import ColumnPart, Likelihood
from defenses.base.columns import plain_codes
from metrics.columns.arrays import Floats
from metrics.columns.parameters import refuse


@dataclass(frozen=True)
class TransitionTable(ColumnPart):
    """A category or bin j is released as i with the probability that a transition matrix gives.

    The log-likelihood is -inf where either side holds a missing value that does not count as a category.

    Parameters
    ----------
    matrix : tuple of tuple of float
        Row i holds the probabilities of releasing category i, one for each original category; shape (d, d), with one
        more category where missing values count as one.

    Raises
    ------
    ValueError
        If the matrix is not square, or a column does not hold probabilities that sum to 1 (to 1e-9).
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

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        size = len(self.matrix)
        with np.errstate(divide="ignore"):
            logs = np.log(np.array(self.matrix))
        padded = np.full((size + 1, size + 1), -np.inf)
        padded[:size, :size] = logs

        def kernel(cell: NDArray[np.intp], value: NDArray[np.intp]) -> Floats:
            inside = [np.where((codes >= 0) & (codes < size), codes, size) for codes in (cell, value)]
            return np.asarray(padded[inside[0], inside[1]])

        cells = plain_codes(released[self.column], self.domain)
        return Likelihood((cells,), (self.domain.codes(original[self.column]),), kernel)
