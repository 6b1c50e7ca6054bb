"""Microaggregation by k-means clusters."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.random import Generator

from defenses.grouping.microaggregation import mdav
from defenses.grouping.microaggregation.microaggregation import Microaggregation
from metrics.arrays import Floats, Integers
from metrics.classes import group_starts

_ROUNDS = 10
"""Most rounds of k-means: later ones hardly move a record."""


class KMeansMicroaggregation(Microaggregation):
    """Microaggregation of k-means clusters, repaired until every group holds k to 2k - 1 records.

    Parameters, errors, representatives, guarantee and channel are those of `Microaggregation`, and so is the
    distance. Groups are about as alike as there, and a table of n records takes about n^(3/2) steps instead of n².

    Parameters
    ----------
    k : int
        Smallest group, at least 1.
    columns : sequence of str, optional
        The columns to group by and to replace; by default the quasi-identifiers.
    representative : {"mean", "median", "mode"}
        What a group releases.

    Notes
    -----
    There are about sqrt(n / k) clusters, which balances their search with what follows. Clusters of fewer than k
    records dissolve: each of their records joins the nearest center of the others. What is left is divided by MDAV,
    cluster by cluster.

    References
    ----------
    Domingo-Ferrer and Mateo-Sanz (2002), Practical data-oriented microaggregation (minimum group sizes); Laszlo and
    Mukherjee (2005), Minimum spanning tree partitioning algorithm for microaggregation (dividing what is too large).
    """

    def _groups(self, numbers: Floats, categories: Integers, rng: Generator) -> Integers:
        clusters = _clusters(_coordinates(numbers, categories), self.k, rng)
        order = np.argsort(clusters, kind="stable")
        groups = np.empty_like(clusters)
        formed = 0
        for rows in np.split(order, group_starts(clusters[order])[1:]):
            inside = mdav.groups(numbers[rows], self.k, categories[rows])
            groups[rows] = formed + inside
            formed += int(inside.max()) + 1
        return groups


def _coordinates(numbers: Floats, categories: Integers) -> Floats:
    """Points whose squared distances are those of the records: categories at corners of a simplex with edges of 1."""
    corners = [np.eye(codes.max() + 1)[codes] / np.sqrt(2) for codes in categories.T]
    return np.hstack([numbers, *corners])


def _clusters(points: Floats, k: int, rng: Generator) -> Integers:
    """k-means clusters of at least k points, shape (n,)."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    count = max(1, round(np.sqrt(len(points) / k)))
    if points.shape[1] == 0 or count == 1:
        return np.zeros(len(points), dtype=np.intp)
    model = KMeans(count, n_init=1, max_iter=_ROUNDS, random_state=int(rng.integers(2**31)))
    with warnings.catch_warnings():
        # Fewer different points than clusters leave some of these empty, which does no harm here.
        warnings.simplefilter("ignore", ConvergenceWarning)
        clusters: Integers = model.fit_predict(points).astype(np.intp)
    # Clusters hold n / count >= k points on average, so that some cluster is large enough.
    large = np.flatnonzero(np.bincount(clusters, minlength=count) >= k)
    stray = np.flatnonzero(~np.isin(clusters, large))
    if stray.size:
        from sklearn.metrics import pairwise_distances_argmin

        clusters[stray] = large[pairwise_distances_argmin(points[stray], model.cluster_centers_[large])]
    return clusters
