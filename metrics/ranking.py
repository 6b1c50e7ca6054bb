"""Area under the ROC curve and balanced accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from metrics.columns import Array, Booleans, Floats, Integers, refuse, require
from metrics.estimate import Estimate, across_plays

# True positive rate at a given false positive rate.

# With fewer expected false positives, the rate depends on single people.
FEWEST = 10
_ROUNDING = 1e-9


def true_positive_rate(scores: ArrayLike, positive: ArrayLike, false_positive_rate: float) -> float:
    """True positive rate at a given false positive rate.

    With n negatives and the false positive rate f, the threshold is the score of the negative of rank k = f (n + 1),
    the highest negative having rank 1. The rate is interpolated between integer ranks, and is 0 at rank 0. It is
    averaged over the random orders of equal scores. Among q negatives and p positives with one score, p j / (q + 1)
    positives are expected above the j-th negative.

    If scores are uninformative, all orders are equally likely, and a share k / (n + 1) of the positives is expected
    above the k-th negative. The expected rate is then exactly f for any number of negatives, so that rates are
    comparable and their averages over plays unbiased. (The share above a threshold that admits k of n negatives would
    be (k + 1) / (n + 1).)

    Parameters
    ----------
    scores : array_like of float, shape (n,)
        Scores without NaN; infinities are allowed.
    positive : array_like of bool, shape (n,)
        True for the positives.
    false_positive_rate : float
        The false positive rate, in [0, 1].

    Raises
    ------
    ValueError
        If there are no positives or no negatives, a score is NaN or the rate lies outside [0, 1].

    References
    ----------
    Carlini and others (2022), Membership inference attacks from first principles, section III, for the importance of
    small false positive rates; Fawcett (2006), An introduction to ROC analysis, section 7, for averaging over plays.
    """
    values, labels = _checked(scores, positive)
    require(0 <= false_positive_rate <= 1, f"false_positive_rate must lie in [0, 1], got {false_positive_rate!r}")
    _, group = np.unique(-values, return_inverse=True)
    positives = np.bincount(group[labels], minlength=group.max() + 1)
    negatives = np.bincount(group[~labels], minlength=group.max() + 1)
    rank = false_positive_rate * (negatives.sum() + 1)
    low = int(np.floor(rank))
    counts = [_above(positives, negatives, k) for k in (low, low + 1)]
    return float((counts[0] + (rank - low) * (counts[1] - counts[0])) / positives.sum())


def resolves_rate(negatives: float, false_positive_rate: float) -> bool:
    """Whether a number of negatives suffices for a false positive rate f: f (n + 1) ≥ 1, one expected false positive.

    With fewer negatives, `true_positive_rate` is capped at f (n + 1). Averages over plays are capped likewise.
    """
    return false_positive_rate * (negatives + 1) >= 1 - _ROUNDING


def _above(positives: Integers, negatives: Integers, rank: int) -> float:
    """Expected number of positives above the negative of a rank, from counts by score, highest first."""
    if rank == 0:
        return 0.0
    cumulative = np.cumsum(negatives)
    if rank > cumulative[-1]:
        return float(positives.sum())
    position = int(np.searchsorted(cumulative, rank))
    inside = rank - (cumulative[position] - negatives[position])
    return float(positives[:position].sum() + positives[position] * inside / (negatives[position] + 1))


def pooled_true_positive_rate(
    rates: Sequence[float], negatives: Sequence[float], false_positive_rate: float, confidence: float = 0.95
) -> Estimate | None:
    """Mean of `true_positive_rate` over plays, if there are enough negatives for an estimate.

    Parameters
    ----------
    rates : sequence of float
        The rate of each play.
    negatives : sequence of float
        Number of negatives of each play.
    false_positive_rate : float
        The false positive rate of these rates, in [0, 1].
    confidence : float
        Level of the interval, in (0, 1).

    Returns
    -------
    Estimate or None
        None if fewer than 10 false positives are expected in all plays together, or fewer than one in any play
        (`resolves_rate`).
    """
    resolved = all(resolves_rate(number, false_positive_rate) for number in negatives)
    enough = false_positive_rate * sum(negatives) >= FEWEST
    return across_plays(rates, confidence) if resolved and enough else None


def _checked(scores: ArrayLike, positive: ArrayLike) -> tuple[Floats, Booleans]:
    values, labels = np.asarray(scores, dtype=float), np.asarray(positive, dtype=bool)
    require(
        values.shape == labels.shape and values.ndim == 1,
        "scores and positive must be one-dimensional and of one length",
    )
    refuse(np.isnan(values).any(), "scores must not be NaN")
    refuse(labels.all() or not labels.any(), "a rate of true positives needs positives and negatives")
    return values, labels


def area_under_curve(scores: ArrayLike, positive: ArrayLike) -> float:
    """Area under the ROC curve: probability that a random positive scores above a random negative; ties count half.

    - scores, shape (n,): Scores without NaN; infinities are allowed.
    - positive, shape (n,): True for the positives.

    Raises ValueError if there are no positives or no negatives; the area is then undefined.
    """
    from scipy.stats import rankdata

    values, labels = np.asarray(scores, dtype=float), np.asarray(positive, dtype=bool)
    count = int(labels.sum())
    require(count not in (0, labels.size), "the area under the curve needs positives and negatives")
    above = rankdata(values)[labels].sum() - count * (count + 1) / 2
    return float(above / (count * (labels.size - count)))


def mean_area_under_curve(scores: Floats, labels: Array, classes: Sequence[Any]) -> float | None:
    """Mean one-against-rest area under the ROC curve over classes; None if only one class occurs.

    - scores, shape (n, classes): Score of each record for each class.
    - labels, shape (n,): Class of each record.
    - classes: The classes, as the labels name them.
    """
    areas = [
        area_under_curve(scores[:, number], labels == label)
        for number, label in enumerate(classes)
        if 0 < (labels == label).mean() < 1
    ]
    return float(np.mean(areas)) if areas else None


def balanced_accuracy(predicted: ArrayLike, labels: ArrayLike) -> float:
    """Balanced accuracy: the mean recall over the classes that occur.

    - predicted, shape (n,): Predicted class of each record.
    - labels, shape (n,): True class of each record.

    Raises ValueError if there is no record.

    Source: Brodersen, Ong, Stephan and Buhmann (2010), The balanced accuracy and its posterior distribution.

    Examples
    --------
    >>> balanced_accuracy([0, 0, 0, 1], [0, 0, 1, 1])
    0.75
    """
    answers, truth = np.asarray(predicted), np.asarray(labels)
    require(truth.size, "balanced accuracy needs at least one record")
    return float(np.mean([(answers[truth == label] == label).mean() for label in np.unique(truth)]))
