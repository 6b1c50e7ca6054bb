"""Estimated counts without negative ones and with the right sum, at the price of a bias."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from defenses.base.simplex import checked_counts, project_to_simplex
from metrics.arrays import Floats


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
        The same as `project_to_simplex` where the positive counts sum to at least `total`: every shift then goes down,
        and what is 0 once stays so. Where they sum to less only they are raised. Without a positive count it is
        `project_to_simplex` too.

    Raises
    ------
    ValueError
        If there is no count, one is not finite, or `total` is no such number.

    References
    ----------
    Wang et al. (2020), Locally differentially private frequency estimation with consistency, section 4.
    """
    result = checked_counts(counts, total)
    kept = result > 0
    if not kept.any():
        return project_to_simplex(result, total)
    while True:
        # Each round but the last drops at least one value, and never all: their sum is at least 0.
        shift = (result[kept].sum() - total) / kept.sum()
        negative = kept & (result < shift)
        if not negative.any():
            return np.where(kept, result - shift, 0.0)
        kept &= ~negative
