"""Microaggregation of k-means clusters."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.random import Generator

from defenses.grouping.microaggregation import mdav
from defenses.grouping.microaggregation.microaggregation import Microaggregation
from metrics.classes import group_starts
from metrics.columns import Floats, Integers

_ROUNDS = 10
"""Largest number of k-means iterations; later ones hardly move a record."""


class KMeansMicroaggregation(Microaggregation):
    """Microaggregation of k-means clusters, which are split by MDAV into groups of k to 2k - 1 records.

    It takes about n^(3/2) steps for n records, where `Microaggregation` takes n². Groups are about as homogeneous.
    Parameters, errors, distance, representatives, guarantee and channel are those of `Microaggregation`.

    Parameters
    ----------
    k : int
        Smallest group size, at least 1.
    columns : sequence of str, optional
        The columns to group by and to replace; by default the quasi-identifiers.
    representative : {"mean", "median", "mode"}
        What a group releases.

    Notes
    -----
    There are about sqrt(n / k) clusters, which balances the cost of k-means with that of MDAV. Clusters of fewer than k
    records dissolve: each of their records joins the nearest center of the other clusters. MDAV then splits each
    cluster.

    References
    ----------
    Domingo-Ferrer and Mateo-Sanz (2002), Practical data-oriented microaggregation (minimum group sizes).
    Laszlo and Mukherjee (2005), Minimum spanning tree partitioning algorithm for microaggregation (splitting of large
    groups).
    """

    called = ("k-means microaggregation",)

    def _groups(self, numbers: Floats, categories: Integers, rng: Generator) -> Integers:
        clusters = _clusters(_coordinates(numbers, categories), self.k, rng)
        order = np.argsort(clusters, kind="stable")
        groups = np.empty_like(clusters)
        group_count = 0
        for rows in np.split(order, group_starts(clusters[order])[1:]):
            cluster_groups = mdav.groups(numbers[rows], self.k, categories[rows])
            groups[rows] = group_count + cluster_groups
            group_count += int(cluster_groups.max()) + 1
        return groups


def _coordinates(numbers: Floats, categories: Integers) -> Floats:
    """Points with the squared distances of the records; categories are corners of a simplex with edges of length 1."""
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
        # If there are fewer distinct points than clusters, some clusters are empty, which does no harm here.
        warnings.simplefilter("ignore", ConvergenceWarning)
        clusters: Integers = model.fit_predict(points).astype(np.intp)
    # Clusters hold n / count >= k points on average, so at least one is large enough.
    large = np.flatnonzero(np.bincount(clusters, minlength=count) >= k)
    stray = np.flatnonzero(~np.isin(clusters, large))
    if stray.size:
        from sklearn.metrics import pairwise_distances_argmin

        clusters[stray] = large[pairwise_distances_argmin(points[stray], model.cluster_centers_[large])]
    return clusters
