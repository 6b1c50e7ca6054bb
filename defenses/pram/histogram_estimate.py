"""Estimation of the original histogram from a release and its transition matrix.

A vector of retention probabilities p stands for P = diag(D) + 1 r', with r_j = (1 - p_j)/(d - 1) and D = p - r. In
column j every row has r_j, and row j has p_j - r_j in addition. All products and the inverse therefore take O(d).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from defenses.pram.matrix import check_histogram, check_matrix, check_retention
from metrics.columns import Floats, check_integer, check_real, refuse_rows, require

ILL_CONDITIONED = 1e3
"""Condition number (1-norm) above which inversion raises a warning."""


@dataclass(frozen=True)
class HistogramEstimate:
    """An estimated histogram with standard errors.

    Parameters
    ----------
    counts : ndarray, shape (d,)
        Estimated counts; estimates by the inverse may be negative.
    errors : ndarray, shape (d,)
        Standard error of each count due to the randomisation.
    """

    counts: Floats
    errors: Floats


def estimate_histogram(released: ArrayLike, mechanism: ArrayLike) -> HistogramEstimate:
    """Unbiased estimate P^-1 y of the original histogram v from the released histogram y.

    Given v, y has covariance diag(P v) - P diag(v) P', so P^-1 y has P^-1 diag(P v) P^-T - diag(v). Replacing P v by y
    and v by the estimate gives an unbiased variance: error_i^2 = sum_x (P^-1[i, x])^2 y_x - estimate_i.

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
        If the matrix is ill-conditioned (condition number above 1,000), so that errors may exceed the counts.

    Examples
    --------
    Half of the records keep their category; the others draw one of the two other categories.

    >>> estimate = estimate_histogram([50, 40, 30], [0.5, 0.5, 0.5])
    >>> estimate.counts.round(1).tolist()
    [80.0, 40.0, 0.0]
    >>> estimate.errors.round(1).tolist()
    [21.0, 20.0, 19.0]
    """
    counts, operator = _checked(released, mechanism)
    condition = operator.condition()
    require(
        condition < 1e15,
        "mechanism has no inverse: released counts do not determine the original ones; use bayesian_histogram",
    )
    if condition > ILL_CONDITIONED:
        warnings.warn(
            f"the matrix is ill-conditioned ({condition:.3g}); errors may exceed the counts",
            RuntimeWarning,
            stacklevel=2,
        )
    estimate = operator.solve(counts)
    variances = operator.squared_solve(counts) - estimate
    return HistogramEstimate(estimate, np.sqrt(np.maximum(variances, 0)))


def bayesian_histogram(
    released: ArrayLike, mechanism: ArrayLike, *, iterations: int = 10_000, tolerance: float = 1e-9
) -> Floats:
    """Maximum-likelihood estimate of the original histogram by iterative Bayesian updates (EM).

    The estimate is non-negative and has the total of the release. Each step distributes every released count by the
    posterior under the current estimate: v_j <- v_j sum_i P[i, j] y_i/(P v)_i. Where P^-1 y is positive, both
    estimates agree in the limit, and the standard errors of `estimate_histogram` hold.

    Parameters
    ----------
    released : array_like, shape (d,)
        Released counts y.
    mechanism : array_like, shape (d,) or (d, d)
        Retention probabilities or a transition matrix, which need not have an inverse.
    iterations : int
        Largest number of steps.
    tolerance : float
        Stop when a step moves at most this share of the records.

    Raises
    ------
    ValueError
        If an argument is refused, sizes differ, or a released category cannot come from any original one.

    Notes
    -----
    Source: Agrawal and Aggarwal (2001), Section 4.
    """
    counts, operator = _checked(released, mechanism)
    check_integer("iterations", iterations, low=1)
    check_real("tolerance", tolerance, low=0)
    total = counts.sum()
    estimate = np.full(counts.size, total / counts.size)
    expected = operator.times(estimate)
    refuse_rows(
        (counts > 0) & (expected <= 0),
        lambda row: f"released: category {row} has records, but the mechanism never releases it",
    )
    for _ in range(iterations):
        ratio = np.divide(counts, expected, out=np.zeros_like(counts), where=expected > 0)
        updated = estimate * operator.transposed_times(ratio)
        change = np.abs(updated - estimate).sum()
        estimate, expected = updated, operator.times(updated)
        if change <= tolerance * total:
            break
    return estimate


class _DenseOperator:
    """Operations on a transition matrix P that estimation needs."""

    def __init__(self, matrix: Floats) -> None:
        self.matrix = matrix
        try:
            self.inverse = np.linalg.inv(matrix)
        except np.linalg.LinAlgError:
            self.inverse = np.full_like(matrix, np.nan)

    def times(self, vector: Floats) -> Floats:
        """P x."""
        return self.matrix @ vector

    def transposed_times(self, vector: Floats) -> Floats:
        """P' x."""
        return self.matrix.T @ vector

    def condition(self) -> float:
        """Condition number of P in the 1-norm; infinity or NaN for a singular P."""
        return float(np.abs(self.inverse).sum(axis=0).max())

    def solve(self, vector: Floats) -> Floats:
        """P^-1 x."""
        return self.inverse @ vector

    def squared_solve(self, vector: Floats) -> Floats:
        """Product with x of the matrix of squared entries of P^-1."""
        return np.asarray(np.square(self.inverse) @ vector)


class _ReplacementOperator:
    """The operations of `_DenseOperator` for P = diag(D) + 1 r'.

    By Sherman and Morrison P^-1[i, x] = ((1 if i = x else 0) - w_x)/D_i.

    Columns of P sum to 1, hence those of P^-1 too. This gives w_x = (1 - D_x) u_x/sum(u) with u = D_k/D, where k is the
    category of the smallest |D|. Row k of P^-1 is 1 minus the sum of the other rows. So no difference of nearly equal
    numbers is divided by D_k, which may be 0.
    """

    @np.errstate(divide="ignore", invalid="ignore")
    def __init__(self, retention: Floats) -> None:
        self.replaced = (1 - retention) / max(retention.size - 1, 1)
        self.excess = retention - self.replaced
        self.pivot = int(np.abs(self.excess).argmin())
        ratio = self.excess[self.pivot] / self.excess
        ratio[self.pivot] = 1.0
        self.weights = (1 - self.excess) * ratio / ratio.sum()
        self.inverse = 1 / self.excess
        self.inverse[self.pivot] = 0.0
        self.pivot_row = 1 - self.inverse + self.weights * self.inverse.sum()

    def times(self, vector: Floats) -> Floats:
        return np.asarray(self.excess * vector + self.replaced @ vector)

    def transposed_times(self, vector: Floats) -> Floats:
        return np.asarray(self.excess * vector + self.replaced * vector.sum())

    @np.errstate(invalid="ignore")
    def condition(self) -> float:
        others = np.abs(self.inverse)
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


def _checked(released: ArrayLike, mechanism: ArrayLike) -> tuple[Floats, _DenseOperator | _ReplacementOperator]:
    counts = check_histogram(released)
    array = np.asarray(mechanism, dtype=float)
    size = array.shape[0] if array.ndim else 0
    operator = _ReplacementOperator(check_retention(array)) if array.ndim == 1 else _DenseOperator(check_matrix(array))
    require(size == counts.size, f"released has {counts.size} categories, the mechanism {size}")
    return counts, operator
