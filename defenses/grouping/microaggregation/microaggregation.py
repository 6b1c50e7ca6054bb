"""Multivariate microaggregation: groups by MDAV, under Euclidean or Gower's distance, and by k-means."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base import Microdata, MicrodataRelease, filled
from defenses.grouping.microaggregation import mdav
from defenses.grouping.microaggregation.representatives import (
    GroupedCategories,
    GroupedNumbers,
    RepresentativeDefense,
    read_grouped_column,
    release_representatives,
)
from metrics.classes import group_starts
from metrics.columns import Floats, Integers


class Microaggregation(RepresentativeDefense):
    """Microaggregation by MDAV: each record is replaced by the representative of its group of k to 2k - 1 records.

    Parameters
    ----------
    k : int
        Smallest group size, at least 1.
    columns : sequence of str, optional
        The columns to group by and to replace; by default the quasi-identifiers.
    representative : {"mean", "median", "mode"}
        What a group releases.

    Raises
    ------
    ValueError
        If `k` is not an integer of at least 1, or the representative is unknown.
        On `apply` and `guarantee`: if `k` exceeds the number of records, or a column is unknown.
        On `apply`: if a column holds an infinity, or a value that its domain lacks.

    Notes
    -----
    Distance. Squared distances add up over the columns. Numbers are divided by their standard deviation, which the
    publisher computes from the records. Two different categories are at distance 1. In the mean squared distance of
    two random records, a column of numbers thus has weight 2. A column of categories has weight 1 - sum of squared
    shares. A missing value is a category of its own, at distance 1 from any number. Its own number is taken to be
    the mean.

    Representative. For numbers it is the mean of the group, the lower median, or the mode (the smallest one if there
    are several). In an integer domain, means are rounded to integers, with halves to the even one. For categories it
    is the mode (the first one in the domain if there are several). In an ordered domain, "median" selects the lower
    median category. Missing numbers are replaced by the representative of the numbers in their group. A group without
    numbers releases missing values.

    Guarantee: k-anonymity over the columns. It extends to the quasi-identifiers if all of them are among the columns.
    Channel: for numbers, a normal density with the root mean square change. For categories, the share of unchanged
    records. There is no channel if a group mixes numbers and missing values.

    References
    ----------
    Domingo-Ferrer and Mateo-Sanz (2002), Practical data-oriented microaggregation for statistical disclosure control.
    Domingo-Ferrer and Torra (2005), Ordinal, continuous and heterogeneous k-anonymity through microaggregation.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from defenses import Microaggregation, Microdata
    >>> table = pd.DataFrame({"age": [20, 60, 21, 61, 22, 64], "job": list("xyxyzz"), "ill": list("uvwuvw")})
    >>> records = Microdata(table, quasi_identifiers=("age", "job"), sensitive=("ill",))
    >>> print(Microaggregation(k=3).apply(records, np.random.default_rng(0)).frame)
       age job ill
    0   21   x   u
    1   62   y   v
    2   21   x   w
    3   62   y   u
    4   21   x   v
    5   62   y   w
    """

    called: ClassVar[tuple[str, ...]] = (
        "MDAV",
        "Microaggregation",
        "Maximum distance to average vector",
    )

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Replace the values of each record by the representatives of its group."""
        columns = [read_grouped_column(records, name) for name in filled(records, self._checked_columns(records))]
        groups = self._groups(*group_coordinates(columns, len(records)), rng)
        return release_representatives(records, columns, groups, self.representative)

    def _groups(self, numbers: NDArray[np.float64], categories: NDArray[np.intp], rng: Generator) -> NDArray[np.intp]:
        """Group of each record, shape (n,), given standardised numbers and category codes."""
        return mdav.groups(numbers, self.k, categories)


def group_coordinates(
    columns: Sequence[GroupedNumbers | GroupedCategories], n: int
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Standardised numbers and category codes of n records, one row each; missingness of a number is a category."""
    coordinates: list[NDArray[np.float64]] = []
    categories: list[NDArray[np.intp]] = []
    for column in columns:
        if isinstance(column, GroupedCategories):
            categories.append(column.codes)
        else:
            coordinates.append(column.standardized())
            categories.append(np.isnan(column.numbers).astype(np.intp))
    varying = [codes for codes in categories if codes.any()]
    return np.reshape(coordinates, (-1, n)).T, np.reshape(varying, (-1, n)).T.astype(np.intp)


class GowerMicroaggregation(Microaggregation):
    """Microaggregation by MDAV under Gower's distance, which weights numbers and categories equally.

    Gower's distance of two records is the mean over the columns of |x - y| / range for numbers, and of 0 or 1 for
    categories. `Microaggregation` uses squared differences divided by the standard deviation instead, which gives
    outliers and numbers more weight. Parameters, errors, representatives, guarantee and channel are those of
    `Microaggregation`.

    Parameters, errors, representatives, guarantee and channel are those of `Microaggregation`. The distance of two
    records is the mean over the columns of |x - y| / range for numbers and of 0 or 1 for categories. There numbers
    differ by squares and are divided by their standard deviation, so that outliers and columns of numbers count for
    more.

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
    Ranges are those of the records. A missing number is at distance 1 from any number, plus the distance of that number
    from the mean. Gower instead omits the column from the comparison. The penalty here discourages groups that mix
    missing numbers with others.

    References
    ----------
    Gower (1971), A general coefficient of similarity and some of its properties.
    Templ, Kowarik and Meindl (2015), Statistical disclosure control for micro-data using the R package sdcMicro.
    """

    called = ("MDAV-generic", "Gower MDAV")

    def _groups(self, numbers: NDArray[np.float64], categories: NDArray[np.intp], rng: Generator) -> NDArray[np.intp]:
        span = np.ptp(numbers, axis=0)
        return mdav.groups(numbers / np.where(span > 0, span, 1.0), self.k, categories, distance="absolute")


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
