"""Microaggregation: every record is replaced by the representative of its group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base.columns import filled
from defenses.base.microdata import Microdata
from defenses.base.release import MicrodataRelease
from defenses.grouping.microaggregation import mdav
from defenses.grouping.microaggregation.representatives import (
    GroupedCategories,
    GroupedNumbers,
    RepresentativeDefense,
    read_grouped_column,
    release_representatives,
)


class Microaggregation(RepresentativeDefense):
    """Microaggregation by MDAV: groups of k to 2k - 1 similar records that all release their group's representative.

    Parameters
    ----------
    k : int
        Smallest group, at least 1.
    columns : sequence of str, optional
        The columns to group by and to replace; by default the quasi-identifiers.
    representative : {"mean", "median", "mode"}
        What a group releases.

    Raises
    ------
    ValueError
        If `k` is not an integer of at least 1 or the representative is unknown; on `apply` and `guarantee`, if `k`
        exceeds the number of records or a column is unknown; on `apply`, if a column holds an infinity or a value
        that its domain lacks.

    Notes
    -----
    Distance. Numbers are divided by their standard deviation (which the publisher computes from the records), and
    two categories that differ are at distance 1; squared distances add up over the columns. A column of numbers thus
    weighs 2 in the mean squared distance of two random records, a column of categories 1 - sum of squared shares.
    A missing value is a category of its own: it is at distance 1 from any number, itself taken for the mean.

    Representative. The mean of the group's numbers, rounded to an integer where the domain has no others
    (halves to the even one), their lower median, or the most frequent one (of several, the smallest). For categories
    the most frequent one (of several, the first in the domain), unless the median is asked for and their domain is
    ordered. Missing numbers take what represents their group's others, and are released as missing where there are
    none.

    Guarantee: k-anonymity over the columns, and thus over the quasi-identifiers if these are among them. Channel: a
    normal density with the root mean square change of each number, the share of unchanged records of each category;
    none where numbers and missing values share a group.

    References
    ----------
    Domingo-Ferrer and Mateo-Sanz (2002), Practical data-oriented microaggregation for statistical disclosure control;
    Domingo-Ferrer and Torra (2005), Ordinal, continuous and heterogeneous k-anonymity through microaggregation.
    """

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Release every group's representative in the place of its records."""
        names = filled(records, self._checked_columns(records))
        columns = [read_grouped_column(records, name) for name in names]
        groups = self._groups(*group_coordinates(columns, len(records)), rng)
        return release_representatives(records, columns, groups, self.representative)

    def _groups(self, numbers: NDArray[np.float64], categories: NDArray[np.intp], rng: Generator) -> NDArray[np.intp]:
        """Group of each record, shape (n,), from standardised numbers and codes of categories."""
        return mdav.groups(numbers, self.k, categories)


def group_coordinates(
    columns: Sequence[GroupedNumbers | GroupedCategories], n: int
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Standardised numbers and categories of n records, a row each; missing or not is a category too."""
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
