"""The retention probabilities that change a histogram least in expectation, under differential privacy.

Problem: with P = ``transition_matrix(p)``, minimise |P v - v| over the p for which P is epsilon-private. With
q = 1 - p, ``|P v - v| = d/(d - 1) |v q - mean(v q)|``.

Source: Miura and Hasegawa, Problem 3.1 and Algorithm 1; the exact solution is this project's own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from defenses.pram.conversions import check_epsilon
from defenses.pram.matrix import check_histogram, check_retention, extremes, extremes_epsilon
from defenses.pram.scalars import optimal_flips
from metrics.arrays import Floats

LARGEST_RATIO = 2.0**50
"""Retention probabilities near 1 are multiples of 2^-53; a matrix of a larger e^epsilon could not be told from one that
never flips a category, whose epsilon is infinite."""


def optimal_retention(histogram: ArrayLike, epsilon: float, method: str = "exact") -> Floats:
    """Retention probabilities p under which the expected released histogram is nearest to the original one.

    Parameters
    ----------
    histogram : array_like, shape (d,)
        Counts v, not negative, not all zero.
    epsilon : float
        Differential privacy of the fixed matrix; positive. Infinity keeps every value.
    method : {"exact", "cvxopt"}
        Exact takes O(d log d); CVXOPT solves the full quadratic program of 3 d (d - 1) rows, for comparison at small d.

    Returns
    -------
    ndarray, shape (d,)
        In the histogram's order. Of several optima with distance 0 the one that flips least; counts of zero, whose
        flips cost nothing, flip as rarely as the privacy of the others allows.

    Raises
    ------
    ValueError
        If a count is negative or not finite, all are zero, epsilon is not positive, or the method is unknown.

    Notes
    -----
    The guarantee is the matrix's: ``retention_epsilon(p) <= epsilon``, rounding included. The matrix is made of v and
    tells of it, so that the procedure as a whole, from records to release, is not differentially private.
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
    """|P v - v|, the distance of the expected released histogram from the original, P = transition_matrix(retention).

    Raises
    ------
    ValueError
        If either argument is refused or their sizes differ.
    """
    counts, kept = check_histogram(histogram), check_retention(retention)
    if counts.size != kept.size:
        raise ValueError(f"histogram has {counts.size} categories, retention {kept.size}")
    moved = counts * (1 - kept)
    return float(np.linalg.norm(moved - moved.mean()) * counts.size / max(counts.size - 1, 1))


def undistorting_flips(counts: Floats, e: float) -> Floats | None:
    """Smallest flip probabilities q with P v = v, or None where no epsilon-private matrix has that.

    P v = v asks for equal v_i q_i, so q_i = t v_d/v_i. Of the rows that bind (`defenses.pram.scalars`),
    A q_1 + B q_2 >= d - 1 gives the smallest t, q_d <= e q_1 asks for v_1 <= e v_d, and q_(d-1) + K q_d <= K bounds t
    from above. With two categories there is no third row of the matrix, and t always serves; it is written so that
    v_2 = 0 does too.

    Parameters
    ----------
    counts : ndarray, shape (d,), d >= 2
        In descending order, the first positive.
    e : float
        exp(epsilon).

    Notes
    -----
    Source: Miura and Hasegawa, Lemma 3.13, corrected: with e > d - 1 and v_1 > v_2 the row with e on q_1 binds, which
    the lemma forgets, so that its t is too small to be private.
    """
    d = counts.size
    first, second, last = counts[0], counts[1], counts[-1]
    if d == 2:
        crossed: Floats = counts[::-1] / (first + e * second)
        return crossed
    if last == 0 or first > e * last:
        return None
    large, small = max(e, d - 1), min(e, d - 1)
    t = (d - 1) / (large * last / first + small * last / second)
    if t * (1 + last / counts[-2] / (e * (d - 1))) > 1:
        return None
    flips: Floats = t * last / counts
    return flips


def ratio_of(epsilon: float) -> float:
    """Largest ratio e^epsilon, as far as retention probabilities can show it."""
    return min(float(np.exp(min(epsilon, 700.0))), LARGEST_RATIO)


def private_retention(flips: Floats, epsilon: float) -> Floats:
    """Retention probabilities, mixed with as little of the uninformative 1/d as makes rounded ones private."""
    d = flips.size
    ends = extremes(flips)[::-1]
    share = 0.0

    def mixed(part: Floats) -> Floats:
        kept: Floats = np.clip(1 - ((1 - share) * part + share * (d - 1) / d), 0, 1)
        return kept

    while extremes_epsilon(mixed(ends), d) > epsilon - 1e-15 and share < 1:
        share = max(2 * share, 2.0**-53)
    return mixed(flips)
