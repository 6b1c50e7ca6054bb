"""The original histogram, estimated from a released one and the matrix it came through.

A vector of retention probabilities p stands for P = diag(D) + 1 r', with r_j = (1 - p_j)/(d - 1) and D = p - r: in
column j every row has r_j, and row j has p_j - r_j on top. That makes all products and the inverse O(d).
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from defenses.base.parameters import check_integer, check_real
from defenses.pram.matrix import check_histogram, check_matrix, check_retention
from metrics.arrays import Floats

ILL_CONDITIONED = 1e3
"""Condition number (1-norm) from which on an inverse is warned of."""


@dataclass(frozen=True)
class HistogramEstimate:
    """An estimated histogram.

    Parameters
    ----------
    counts : ndarray, shape (d,)
        Estimated counts; those of the inverse may be negative.
    errors : ndarray, shape (d,)
        Standard error of each count, of the randomisation alone.
    """

    counts: Floats
    errors: Floats


def estimate_histogram(released: ArrayLike, mechanism: ArrayLike) -> HistogramEstimate:
    """Unbiased estimate P^-1 y of the original histogram v from the released one, y.

    Given v, y has covariance diag(P v) - P diag(v) P', so P^-1 y has P^-1 diag(P v) P^-T - diag(v). With y for P v and
    the estimate for v this is estimated without bias: error_i^2 = sum_x (P^-1[i, x])^2 y_x - estimate_i.

    Parameters
    ----------
    released : array_like, shape (d,)
        Released counts y.
    mechanism : array_like, shape (d,) or (d, d)
        Retention probabilities (nothing of size d x d is formed) or a transition matrix.

    Raises
    ------
    ValueError
        If an argument is refused, sizes differ, or the matrix has no inverse.

    Warns
    -----
    RuntimeWarning
        If the matrix is so ill-conditioned (above 1,000) that errors may exceed the counts.
    """
    counts, channel = _checked(released, mechanism)
    condition = channel.condition()
    if not condition < 1e15:
        raise ValueError(
            "mechanism has no inverse: released counts leave the original ones open; use bayesian_histogram"
        )
    if condition > ILL_CONDITIONED:
        warnings.warn(
            f"the matrix is ill-conditioned ({condition:.3g}); errors may exceed the counts",
            RuntimeWarning,
            stacklevel=2,
        )
    estimate = channel.solve(counts)
    variances = channel.squared_solve(counts) - estimate
    return HistogramEstimate(estimate, np.sqrt(np.maximum(variances, 0)))


def bayesian_histogram(
    released: ArrayLike, mechanism: ArrayLike, *, iterations: int = 10_000, tolerance: float = 1e-9
) -> Floats:
    """Likeliest original histogram (not negative, same total) by iterative Bayesian updates.

    Each step shares every released count out by the posterior under the current estimate, the EM step for the shares
    of independent records: v_j <- v_j sum_i P[i, j] y_i/(P v)_i. Where P^-1 y is positive, both agree in the limit,
    and its standard errors hold.

    Parameters
    ----------
    released : array_like, shape (d,)
        Released counts y.
    mechanism : array_like, shape (d,) or (d, d)
        Retention probabilities or a transition matrix, which need not have an inverse.
    iterations : int
        Most steps.
    tolerance : float
        Stop when a step moves less than this share of the records.

    Raises
    ------
    ValueError
        If an argument is refused, sizes differ, or a released category cannot come from any original one.

    Notes
    -----
    Source: Agrawal and Aggarwal (2001), Section 4.
    """
    counts, channel = _checked(released, mechanism)
    check_integer("iterations", iterations, low=1)
    check_real("tolerance", tolerance, low=0)
    total = counts.sum()
    estimate = np.full(counts.size, total / counts.size)
    expected = channel.times(estimate)
    impossible = np.flatnonzero((counts > 0) & (expected <= 0))
    if impossible.size:
        raise ValueError(f"released: category {impossible[0]} has records, but the mechanism never releases it")
    for _ in range(iterations):
        ratio = np.divide(counts, expected, out=np.zeros_like(counts), where=expected > 0)
        fresh = estimate * channel.transposed_times(ratio)
        moved = np.abs(fresh - estimate).sum()
        estimate, expected = fresh, channel.times(fresh)
        if moved <= tolerance * total:
            break
    return estimate


class _Channel(ABC):
    """A transition matrix P, as far as estimation needs it."""

    @abstractmethod
    def times(self, vector: Floats) -> Floats:
        """P x."""

    @abstractmethod
    def transposed_times(self, vector: Floats) -> Floats:
        """P' x."""

    @abstractmethod
    def condition(self) -> float:
        """Condition number of P in the 1-norm; infinity or NaN where it has no inverse."""

    @abstractmethod
    def solve(self, vector: Floats) -> Floats:
        """P^-1 x."""

    @abstractmethod
    def squared_solve(self, vector: Floats) -> Floats:
        """Product of the squared entries of P^-1, each for itself, with x."""


class _Dense(_Channel):
    def __init__(self, matrix: Floats) -> None:
        self.matrix = matrix
        try:
            self.inverse = np.linalg.inv(matrix)
        except np.linalg.LinAlgError:
            self.inverse = np.full_like(matrix, np.nan)

    def times(self, vector: Floats) -> Floats:
        return self.matrix @ vector

    def transposed_times(self, vector: Floats) -> Floats:
        return self.matrix.T @ vector

    def condition(self) -> float:
        return float(np.abs(self.inverse).sum(axis=0).max())

    def solve(self, vector: Floats) -> Floats:
        return self.inverse @ vector

    def squared_solve(self, vector: Floats) -> Floats:
        squared: Floats = np.square(self.inverse) @ vector
        return squared


class _Replacing(_Channel):
    """P = diag(D) + 1 r'; by Sherman and Morrison P^-1[i, x] = ((1 if i = x else 0) - w_x)/D_i.

    Columns of P sum to 1, hence those of P^-1 too, which gives w_x = (1 - D_x) u_x/sum(u) with u = D_k/D, k the
    category of the smallest |D|. Row k of P^-1 is 1 less the sum of the others: no difference of near equals is
    divided by D_k, which may be 0.
    """

    def __init__(self, retention: Floats) -> None:
        self.replaced = (1 - retention) / max(retention.size - 1, 1)
        self.excess = retention - self.replaced
        self.pivot = int(np.abs(self.excess).argmin())
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = self.excess[self.pivot] / self.excess
            ratio[self.pivot] = 1.0
            self.weights = (1 - self.excess) * ratio / ratio.sum()
            self.inverse = 1 / self.excess
        self.inverse[self.pivot] = 0.0
        self.pivot_row = 1 - self.inverse + self.weights * self.inverse.sum()

    def times(self, vector: Floats) -> Floats:
        product: Floats = self.excess * vector + self.replaced @ vector
        return product

    def transposed_times(self, vector: Floats) -> Floats:
        product: Floats = self.excess * vector + self.replaced * vector.sum()
        return product

    def condition(self) -> float:
        others = np.abs(self.inverse)
        with np.errstate(invalid="ignore"):
            columns = np.abs(self.weights) * (others.sum() - others) + np.abs(1 - self.weights) * others
            largest = float((columns + np.abs(self.pivot_row)).max())
        return float("inf") if np.isnan(largest) else largest

    def solve(self, vector: Floats) -> Floats:
        solution: Floats = (vector - self.weights @ vector) * self.inverse
        solution[self.pivot] = self.pivot_row @ vector
        return solution

    def squared_solve(self, vector: Floats) -> Floats:
        shared = np.square(self.weights) @ vector
        squared: Floats = (shared + (1 - 2 * self.weights) * vector) * np.square(self.inverse)
        squared[self.pivot] = np.square(self.pivot_row) @ vector
        return squared


def _checked(released: ArrayLike, mechanism: ArrayLike) -> tuple[Floats, _Channel]:
    counts = check_histogram(released)
    array = np.asarray(mechanism, dtype=float)
    size = array.shape[0] if array.ndim else 0
    vector = array.ndim == 1
    channel: _Channel = _Replacing(check_retention(array)) if vector else _Dense(check_matrix(array))
    if size != counts.size:
        raise ValueError(f"released has {counts.size} categories, the mechanism {size}")
    return counts, channel
