"""Reconstruction of the histogram from a published matrix that is optimal for it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from metrics.columns import Floats, refuse


def histogram_from_matrix(matrix: ArrayLike) -> Floats:
    """Relative counts of the categories, read from a transition matrix that is optimal for their histogram.

    For optimal flip probabilities q_i = 1 - P[i, i] away from their bounds, v_i q_i is the same for all categories. So
    counts are proportional to 1/q_i. The two smallest and the two largest q, and their ties, may be at a bound.

    Parameters
    ----------
    matrix : array_like, shape (d, d)
        Probability of each released category (row) under each original one (column).

    Returns
    -------
    ndarray, shape (d,)
        1/q_i, scaled to a sum of 1 over the categories that can be read; NaN for those that may be at a bound. The
        numbers are meaningful only if the matrix is tuned to the records.

    Raises
    ------
    ValueError
        If `matrix` is not square.

    References
    ----------
    Miura and Hasegawa, section 5.2.2, for the publication of the matrix.
    """
    array = np.asarray(matrix, dtype=float)
    refuse(
        array.ndim != 2 or array.shape[0] != array.shape[1],
        f"matrix must be square with one row and one column per category, got shape {array.shape}",
    )
    flips = 1 - np.diag(array)
    if flips.size < 5:
        return np.full(flips.size, np.nan)
    ranked = np.sort(flips)
    slack = 1e-12 * ranked[-1]
    free = (flips > ranked[1] + slack) & (flips < ranked[-2] - slack)
    shares = np.full(flips.size, np.nan)
    shares[free] = 1 / flips[free]
    shares[free] /= shares[free].sum()
    return shares
