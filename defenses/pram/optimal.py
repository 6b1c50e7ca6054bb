"""Optimal retention probabilities: least expected change of a histogram under differential privacy.

Problem: with P = ``transition_matrix(p)``, minimise |P v - v| over the p for which P is epsilon-private. With
q = 1 - p, ``|P v - v| = d/(d - 1) |v q - mean(v q)|``.

Source: Miura and Hasegawa, Problem 3.1 and Algorithm 1. The exact solution is new in this project.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from defenses.pram.conversions import check_epsilon
from defenses.pram.matrix import check_histogram, check_retention, extremes, extremes_epsilon
from defenses.pram.scalars import optimal_flips
from metrics.arrays import Floats

LARGEST_RATIO = 2.0**50
"""Largest e^epsilon that floating-point retention probabilities can represent.

Near 1 they are multiples of 2^-53. For a larger ratio the matrix could round to one that never flips a category, whose
epsilon is infinite."""


def optimal_retention(histogram: ArrayLike, epsilon: float, method: str = "exact") -> Floats:
    """Retention probabilities p that minimise the distance of the expected released histogram from the original.

    Parameters
    ----------
    histogram : array_like, shape (d,)
        Counts v, non-negative, not all zero.
    epsilon : float
        Epsilon of the fixed matrix; positive. Infinity keeps every value.
    method : {"exact", "cvxopt"}
        The exact method takes O(d log d). CVXOPT solves the full quadratic program of 3 d (d - 1) rows, for comparison
        at small d.

    Returns
    -------
    ndarray, shape (d,)
        Probabilities in the histogram's order. Of several optima with distance 0, the one with the smallest flip
        probabilities. Categories of count zero do not affect the distance, and flip as rarely as privacy allows.

    Raises
    ------
    ValueError
        If a count is negative or not finite, all are zero, epsilon is not positive, or the method is unknown.

    Notes
    -----
    The guarantee holds for the matrix: ``retention_epsilon(p) <= epsilon``, rounding included. The matrix depends on v
    and leaks information about it. The procedure as a whole, from records to release, is therefore not differentially
    private.

    Examples
    --------
    The published closed form exceeds epsilon = log 4 on this histogram (1.674); the corrected one attains it.

    >>> import numpy as np
    >>> from defenses.pram.matrix import retention_epsilon
    >>> retention = optimal_retention([10, 6, 5], np.log(4))
    >>> retention.round(3).tolist()
    [0.727, 0.545, 0.455]
    >>> bool(retention_epsilon(retention) <= np.log(4))
    True
    >>> round(expected_distance([10, 6, 5], retention), 6)
    0.0
    """
    counts = check_histogram(histogram)
    check_epsilon(epsilon)
    if method not in ("exact", "cvxopt"):
        raise ValueError(f"method must be 'exact' or 'cvxopt', got {method!r}")
    if counts.size == 1 or np.isinf(epsilon):
        return np.ones(counts.size)
    ratio = ratio_of(epsilon)
    order = np.argsort(-counts)
    descending = counts[order] / counts[order[0]]
    flips = undistorting_flips(descending, ratio)
    if flips is None and method == "exact":
        flips = optimal_flips(descending, ratio)
    elif flips is None:
        from defenses.pram.reference import program_flips

        flips = program_flips(descending, ratio)
    retention = np.empty_like(counts)
    retention[order] = private_retention(flips, epsilon)
    return retention


def expected_distance(histogram: ArrayLike, retention: ArrayLike) -> float:
    """Distance |P v - v| of the expected released histogram from the original, P = transition_matrix(retention).

    Raises
    ------
    ValueError
        If an argument is refused or their sizes differ.
    """
    counts, probabilities = check_histogram(histogram), check_retention(retention)
    if counts.size != probabilities.size:
        raise ValueError(f"histogram has {counts.size} categories, retention {probabilities.size}")
    flipped = counts * (1 - probabilities)
    return float(np.linalg.norm(flipped - flipped.mean()) * counts.size / max(counts.size - 1, 1))


def undistorting_flips(counts: Floats, e: float) -> Floats | None:
    """Smallest flip probabilities q with P v = v, or None if no epsilon-private matrix satisfies this.

    P v = v requires equal v_i q_i, so q_i = t v_d/v_i. Three rows bind (`defenses.pram.scalars`).
    A q_1 + B q_2 >= d - 1 gives the smallest t, q_d <= e q_1 requires v_1 <= e v_d, and q_(d-1) + K q_d <= K bounds t
    from above. With two categories the matrix has no third row, and the solution always exists; the formula also
    covers v_2 = 0.

    Parameters
    ----------
    counts : ndarray, shape (d,), d >= 2
        In descending order, the first positive.
    e : float
        exp(epsilon).

    Notes
    -----
    Source: Miura and Hasegawa, Lemma 3.13, corrected. For e > d - 1 and v_1 > v_2 the row with e on q_1 binds. The
    lemma omits it, so its t is too small to be private.
    """
    d = counts.size
    first, second, last = counts[0], counts[1], counts[-1]
    if d == 2:
        swapped: Floats = counts[::-1] / (first + e * second)
        return swapped
    if last == 0 or first > e * last:
        return None
    large, small = max(e, d - 1), min(e, d - 1)
    t = (d - 1) / (large * last / first + small * last / second)
    if t * (1 + last / counts[-2] / (e * (d - 1))) > 1:
        return None
    flips: Floats = t * last / counts
    return flips


def ratio_of(epsilon: float) -> float:
    """e^epsilon, capped at the largest ratio that retention probabilities can represent."""
    return min(float(np.exp(min(epsilon, 700.0))), LARGEST_RATIO)


def private_retention(flips: Floats, epsilon: float) -> Floats:
    """Retention probabilities, mixed with the uninformative 1/d just enough to be private after rounding."""
    d = flips.size
    ends = extremes(flips)[::-1]
    share = 0.0

    def mixed(part: Floats) -> Floats:
        retention: Floats = np.clip(1 - ((1 - share) * part + share * (d - 1) / d), 0, 1)
        return retention

    while extremes_epsilon(mixed(ends), d) > epsilon - 1e-15 and share < 1:
        share = max(2 * share, 2.0**-53)
    return mixed(flips)
