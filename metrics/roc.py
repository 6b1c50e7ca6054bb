"""True positives at a small rate of false positives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.estimate import Estimate, across_plays

# Below this many false positives that are to be expected, a rate of them is a matter of single people.
FEWEST = 10


def true_positive_rate(scores: ArrayLike, positive: ArrayLike, false_positive_rate: float) -> float:
    r"""Share of positives found where a given share of negatives is found too.

    The threshold is the negative of rank k = f (n + 1) from above, of n negatives, at the false positive rate f;
    between whole ranks the rate is interpolated, and is 0 at rank 0. Whoever scores as high as others does so in random
    order, over which the rate is averaged: of q negatives and p positives with one score, p j / (q + 1) positives
    stand above the j-th negative.

    Where scores say nothing, all orders are alike, and k / (n + 1) of the positives stand above the k-th negative: the
    expected rate is exactly f, which makes rates comparable, and averages over plays free of bias, however few
    negatives there are. (The share above a threshold that lets k of n negatives pass would be (k + 1) / (n + 1).)

    Parameters
    ----------
    scores : array_like of float, shape (n,)
        No NaN; infinities are fine.
    positive : array_like of bool, shape (n,)
        Which are positives.
    false_positive_rate : float
        In [0, 1].

    Raises
    ------
    ValueError
        If positives or negatives are missing, a score is NaN or the rate is outside [0, 1].

    References
    ----------
    Carlini and others (2022), Membership inference attacks from first principles, section III, for why small rates of
    false positives matter; Fawcett (2006), An introduction to ROC analysis, section 7, for averaging over plays.
    """
    values, labels = _checked(scores, positive)
    if not 0 <= false_positive_rate <= 1:
        raise ValueError(f"false_positive_rate must lie in [0, 1], got {false_positive_rate!r}")
    _, group = np.unique(-values, return_inverse=True)
    positives = np.bincount(group[labels], minlength=group.max() + 1)
    negatives = np.bincount(group[~labels], minlength=group.max() + 1)
    rank = false_positive_rate * (negatives.sum() + 1)
    low = int(np.floor(rank))
    ends = [_above(positives, negatives, k) for k in (low, low + 1)]
    found = ends[0] + (rank - low) * (ends[1] - ends[0])
    return float(found / positives.sum())


def _above(positives: NDArray[np.intp], negatives: NDArray[np.intp], rank: int) -> float:
    """Expected number of positives above the negative of a rank, from counts by score, highest first."""
    if rank == 0:
        return 0.0
    total = np.cumsum(negatives)
    if rank > total[-1]:
        return float(positives.sum())
    place = int(np.searchsorted(total, rank))
    inside = rank - (total[place] - negatives[place])
    return float(positives[:place].sum() + positives[place] * inside / (negatives[place] + 1))


def pooled_true_positive_rate(
    rates: Sequence[float], negatives: Sequence[float], false_positive_rate: float, confidence: float = 0.95
) -> Estimate | None:
    """Mean over plays of `true_positive_rate`, where there are negatives enough to say anything.

    Parameters
    ----------
    rates : sequence of float
        The rate of each play.
    negatives : sequence of float
        Number of negatives of each play.
    false_positive_rate : float
        At which the rates were measured, in [0, 1].
    confidence : float
        Level of the interval, in (0, 1).

    Returns
    -------
    Estimate or None
        None where fewer than 10 false positives are to be expected in all plays together.
    """
    if false_positive_rate * sum(negatives) < FEWEST:
        return None
    return across_plays(rates, confidence)


def _checked(scores: ArrayLike, positive: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    values, labels = np.asarray(scores, dtype=float), np.asarray(positive, dtype=bool)
    if values.shape != labels.shape or values.ndim != 1:
        raise ValueError("scores and positive must be one-dimensional and of one length")
    if np.isnan(values).any():
        raise ValueError("scores must not be NaN")
    if labels.all() or not labels.any():
        raise ValueError("a rate of true positives needs positives and negatives")
    return values, labels
