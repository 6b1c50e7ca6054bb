"""Consistent estimates: projections of estimated counts to nonnegative counts with a known sum."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from defenses.base import checked_counts, project_to_simplex
from metrics.columns import Floats


def norm_sub(counts: ArrayLike, total: float) -> Floats:
    """Norm-sub: set negative counts to 0 and shift the others equally, repeatedly, until they sum to `total`.

    Parameters
    ----------
    counts : array_like of float, shape (d,)
        Estimates, usually unbiased ones.
    total : float
        The true sum, at least 0.

    Returns
    -------
    ndarray, shape (d,)
        Nonnegative counts with the given sum, at the price of a bias. If the positive counts sum to at least `total`,
        or no count is positive, the result equals that of `project_to_simplex`. Otherwise only the positive counts are
        raised.

    Raises
    ------
    ValueError
        If there is no count, one is not finite, or `total` is not a finite number of at least 0.

    References
    ----------
    Wang et al. (2020), Locally differentially private frequency estimation with consistency, section 4.

    Examples
    --------
    >>> from defenses.ldp import norm_sub
    >>> norm_sub([5.0, -1.0, 3.0, 0.5], total=6).tolist()
    [4.0, 0.0, 2.0, 0.0]
    """
    result = checked_counts(counts, total)
    positive = result > 0
    if not positive.any():
        return project_to_simplex(result, total)
    while True:
        # Each round but the last drops at least one value, and never all, because their sum is at least 0.
        shift = (result[positive].sum() - total) / positive.sum()
        negative = positive & (result < shift)
        if not negative.any():
            return np.where(positive, result - shift, 0.0)
        positive &= ~negative
