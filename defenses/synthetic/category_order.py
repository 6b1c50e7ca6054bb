"""Order of unordered categories that lets a tree split them like numbers."""

from __future__ import annotations

import numpy as np

from metrics.arrays import Floats, Integers


def category_order(codes: Integers, size: int, responses: Floats) -> Floats:
    """Rank of each category by the first principal component of its mean responses, shape (size,).

    With a single response this is the order of the category's means. A tree's best split of the categories into two
    sets is then a cut of that order (Breiman et al. 1984, theorem 4.5). With several responses it is an approximation.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        Category of each record.
    size : int
        Number of categories; those without records come last.
    responses : ndarray of float, shape (n, responses)
        Numbers, or indicators of classes.

    References
    ----------
    Coppersmith, Hong and Hosking (1999), Partitioning nominal attributes in decision trees, section 4.
    """
    counts = np.bincount(codes, minlength=size).astype(float)
    sums = np.column_stack([np.bincount(codes, weights=response, minlength=size) for response in responses.T])
    means = sums / np.maximum(counts, 1.0)[:, None]
    centered = means - responses.mean(axis=0)
    covariance = (centered * counts[:, None]).T @ centered
    component = np.linalg.eigh(covariance)[1][:, -1]
    scores = np.where(counts > 0, centered @ component, np.inf)
    rank = np.empty(size)
    rank[np.argsort(scores, kind="stable")] = np.arange(size)
    return rank
