"""Area under the ROC curve."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def area_under_curve(scores: ArrayLike, positive: ArrayLike) -> float:
    """Area under the ROC curve: probability that a random positive scores above a random negative; ties count half.

    Parameters
    ----------
    scores : array_like of float, shape (n,)
        Scores without NaN; infinities are allowed.
    positive : array_like of bool, shape (n,)
        True for the positives.

    Raises
    ------
    ValueError
        If there are no positives or no negatives; the area is then undefined.
    """
    from scipy.stats import rankdata

    values, labels = np.asarray(scores, dtype=float), np.asarray(positive, dtype=bool)
    count = int(labels.sum())
    if count in (0, labels.size):
        raise ValueError("the area under the curve needs positives and negatives")
    above = rankdata(values)[labels].sum() - count * (count + 1) / 2
    return float(above / (count * (labels.size - count)))
