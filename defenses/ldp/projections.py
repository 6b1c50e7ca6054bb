"""Estimated counts made possible: at least 0 and with the right sum, at the price of a bias."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from defenses.parameters import check_real

Floats = NDArray[np.float64]


def norm_sub(counts: ArrayLike, total: float) -> Floats:
    """Set negative counts to 0 and shift the others alike, over and over, until all sum to `total`.

    Parameters
    ----------
    counts : array_like of float, shape (d,)
        Estimates, unbiased as a rule.
    total : float
        The true sum, at least 0.

    Returns
    -------
    ndarray, shape (d,)
        The same as `project_simplex` where the positive counts sum to at least `total`: every shift then goes down,
        and what is 0 once stays so. Where they sum to less only they are raised. Without a positive count it is
        `project_simplex` too.

    Raises
    ------
    ValueError
        If there is no count, one is not finite, or `total` is no such number.

    References
    ----------
    Wang et al. (2020), Locally differentially private frequency estimation with consistency, section 4.
    """
    result = _checked(counts, total)
    kept = result > 0
    if not kept.any():
        return project_simplex(result, total)
    while True:
        # Each round but the last drops at least one value, and never all: their sum is at least 0.
        shift = (result[kept].sum() - total) / kept.sum()
        negative = kept & (result < shift)
        if not negative.any():
            return np.where(kept, result - shift, 0.0)
        kept &= ~negative


def project_simplex(counts: ArrayLike, total: float) -> Floats:
    """The nearest counts, in Euclidean distance, that are at least 0 and sum to `total`.

    They are max(0, c_v - t) with the t that gives the sum; sorting finds how many values stay positive.

    Parameters
    ----------
    counts : array_like of float, shape (d,)
        Estimates, unbiased as a rule.
    total : float
        The true sum, at least 0.

    Raises
    ------
    ValueError
        If there is no count, one is not finite, or `total` is no such number.

    References
    ----------
    Duchi, Shalev-Shwartz, Singer and Chandra (2008), Efficient projections onto the l1-ball.
    """
    array = _checked(counts, total)
    ordered = np.sort(array)[::-1]
    shifts = (np.cumsum(ordered) - total) / np.arange(1, array.size + 1)
    positive = int(np.flatnonzero(ordered >= shifts)[-1])
    return np.asarray(np.maximum(array - shifts[positive], 0.0))


def _checked(counts: ArrayLike, total: float) -> Floats:
    array = np.array(counts, dtype=float)
    if array.ndim != 1 or not array.size or not np.isfinite(array).all():
        raise ValueError("counts must be finite numbers in one dimension, one a value")
    check_real("total", total, low=0)
    return array
