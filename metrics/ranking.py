"""How well scores rank positives above negatives."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def area_under_curve(scores: ArrayLike, positive: ArrayLike) -> float:
    """Probability that a random positive has a higher score than a random negative, ties counting half.

    Parameters
    ----------
    scores : array_like of float, shape (n,)
        No NaN; infinities are fine.
    positive : array_like of bool, shape (n,)
        Which are positives.

    Raises
    ------
    ValueError
        If positives or negatives are missing: the area is then undefined.
    """
    from scipy.stats import rankdata

    values, labels = np.asarray(scores, dtype=float), np.asarray(positive, dtype=bool)
    count = int(labels.sum())
    if count in (0, labels.size):
        raise ValueError("the area under the curve needs positives and negatives")
    above = rankdata(values)[labels].sum() - count * (count + 1) / 2
    return float(above / (count * (labels.size - count)))
