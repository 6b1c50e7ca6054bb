"""Optimal univariate microaggregation."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base.columns import filled, is_numeric
from defenses.base.defense import chosen_columns
from defenses.base.guarantee import Guarantee
from defenses.base.k_anonymous_defense import check_enough_records, k_anonymity_over
from defenses.base.microdata import Microdata
from defenses.base.release import MicrodataRelease
from defenses.grouping.microaggregation.optimal_grouping import optimal_groups
from defenses.grouping.microaggregation.representatives import (
    GroupedNumbers,
    RepresentativeDefense,
    read_grouped_column,
    release_replaced,
)


class UnivariateMicroaggregation(RepresentativeDefense):
    """Optimal univariate microaggregation: each numeric column on its own, with the least squared change.

    Parameters
    ----------
    k : int
        Smallest group size, at least 1.
    columns : sequence of str, optional
        Numeric columns; by default all numeric quasi-identifiers.
    representative : {"mean", "median", "mode"}
        What a group releases; the groups are optimal for the mean.

    Raises
    ------
    ValueError
        If `k` is not an integer of at least 1, or the representative is unknown.
        On `apply` and `guarantee`: if `k` exceeds the number of records, or a column is unknown or not numeric.
        On `apply`: if a number is infinite.

    Notes
    -----
    Numbers, representatives and the channel are those of `Microaggregation`. Missing numbers form a group of their own
    if there are at least k of them and at least k others. Otherwise they are grouped as if they were the mean.

    Guarantee: every released number of a column occurs at least k times. This is k-anonymity over the
    quasi-identifiers only if there is a single one.

    References
    ----------
    Hansen and Mukherjee (2003), A polynomial algorithm for optimal univariate microaggregation.
    """

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Release the representatives of every column."""
        replaced = {}
        for name in filled(records, self._checked_columns(records)):
            column = read_grouped_column(records, name)
            if isinstance(column, GroupedNumbers):
                replaced[name] = column.replaced(self._groups(column.numbers), self.representative)
        return release_replaced(records, replaced)

    def guarantee(self, records: Microdata) -> Guarantee:
        """Return k-anonymity if there is a single column, and otherwise k-anonymity over each column alone."""
        names = self._checked_columns(records)
        if len(names) == 1:
            return k_anonymity_over(self.k, records, names)
        statement = f"{self.k}-anonymity over each of {', '.join(names) or 'no column'} alone"
        return Guarantee(statement=statement, kept_in_parts=True)

    def _groups(self, numbers: NDArray[np.float64]) -> NDArray[np.intp]:
        missing = np.isnan(numbers)
        if 0 < missing.sum() < self.k or missing.sum() > missing.size - self.k:
            return optimal_groups(np.where(missing, np.nanmean(numbers), numbers), self.k)
        groups = np.zeros(numbers.size, dtype=np.intp)
        groups[~missing] = 1 + optimal_groups(numbers[~missing], self.k)
        return groups if missing.any() else groups - 1

    def _checked_columns(self, records: Microdata) -> tuple[str, ...]:
        check_enough_records(self.k, records)
        default = [name for name in records.quasi_identifiers if is_numeric(records, name)]
        names = chosen_columns(records, self.columns, default)
        for name in names:
            if not is_numeric(records, name):
                raise ValueError(f"columns: column {name!r} holds no numbers, which this method needs")
        return names
