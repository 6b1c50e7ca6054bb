"""Multivariate microaggregation by MDAV."""

from __future__ import annotations

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
        names = filled(records, self._checked_columns(records))
        columns = [read_grouped_column(records, name) for name in names]
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
