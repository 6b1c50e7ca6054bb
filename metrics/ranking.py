"""Area under the ROC curve and balanced accuracy."""

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


def balanced_accuracy(predicted: ArrayLike, labels: ArrayLike) -> float:
    """Balanced accuracy: the mean recall over the classes that occur.

    Parameters
    ----------
    predicted : array_like, shape (n,)
        Predicted class of each record.
    labels : array_like, shape (n,)
        True class of each record.

    Raises
    ------
    ValueError
        If there is no record.

    References
    ----------
    Brodersen, Ong, Stephan and Buhmann (2010), The balanced accuracy and its posterior distribution.

    Examples
    --------
    >>> balanced_accuracy([0, 0, 0, 1], [0, 0, 1, 1])
    0.75
    """
    answers, truth = np.asarray(predicted), np.asarray(labels)
    if not truth.size:
        raise ValueError("balanced accuracy needs at least one record")
    return float(np.mean([(answers[truth == label] == label).mean() for label in np.unique(truth)]))
