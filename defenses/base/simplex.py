"""Projection onto the simplex of histograms with a given sum."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.columns import check_real, require


def project_to_simplex(counts: ArrayLike, total: float) -> NDArray[np.float64]:
    """Euclidean projection onto the simplex: the nearest counts that are at least 0 and sum to `total`.

    They are max(0, c_v - t) with the t that gives the sum; sorting finds how many values stay positive.

    Parameters
    ----------
    counts : array_like of float, shape (d,)
        Estimated counts; negative ones are allowed.
    total : float
        The true sum, at least 0.

    Raises
    ------
    ValueError
        If `counts` is not a vector of finite numbers, or `total` is negative or not finite.

    References
    ----------
    Held, Wolfe and Crowder (1974), Validation of subgradient optimization; Duchi, Shalev-Shwartz, Singer and Chandra
    (2008), Efficient projections onto the l1-ball.
    """
    array = checked_counts(counts, total)
    descending = np.sort(array)[::-1]
    shifts = (np.cumsum(descending) - total) / np.arange(1, array.size + 1)
    positive = int(np.flatnonzero(descending >= shifts)[-1])
    return np.asarray(np.maximum(array - shifts[positive], 0.0))


def checked_counts(counts: ArrayLike, total: float) -> NDArray[np.float64]:
    """Return the counts as a new array; raise ValueError as `project_to_simplex` says."""
    array = np.array(counts, dtype=float)
    require(
        array.ndim == 1 and array.size and np.isfinite(array).all(),
        "counts must be a vector of finite numbers, one for each value",
    )
    check_real("total", total, low=0)
    return array
