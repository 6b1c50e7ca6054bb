"""Utility measures that a tournament may list: the contract of a host's own, and those that are built in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd

from defenses.base import Parametrized
from metrics.columns import (
    SUPPRESSED,
    Domain,
    NumericDomain,
    escape_column,
    read_cells,
    require,
)
from metrics.fidelity import propensity_mean_squared_error, tail_fidelity, worst_pair_fidelity
from metrics.profile import original_profile, profile
from scenarios.assessment.choosing.column_costs import rank_correlations

ROUNDING = 1e-9
"""How far a value may lie beyond 0 and 1."""


def escaped(records: pd.DataFrame, domains: Mapping[str, Domain]) -> pd.DataFrame:
    """Originals as released cells."""
    return pd.DataFrame({name: escape_column(records[name], domain) for name, domain in domains.items()})


@dataclass(frozen=True)
class ComparedTables:
    """A released table, and the originals with which a measure compares it.

    Attributes
    ----------
    records : DataFrame, shape (originals, columns)
        The originals as they were read.
    cells : DataFrame, shape (rows, columns)
        Released cells, some of which may be generalized.
    domains : mapping of str to Domain
        Public domains of the columns.
    statistics, similarity : float
        Utility of the table's statistics, and similarity of the originals to their own rows, both anchored.
    """

    records: pd.DataFrame
    cells: pd.DataFrame
    domains: Mapping[str, Domain]
    statistics: float = 0.0
    similarity: float = 0.0

    @cached_property
    def original(self) -> pd.DataFrame:
        """The originals as values: numbers as floats, categories as text, missing values as NaN or None."""
        return self._values(escaped(self.records, self.domains))

    @cached_property
    def released(self) -> pd.DataFrame:
        """The released table as values: a range counts as its middle, ``*`` and sets of categories as missing."""
        return self._values(self.cells)

    def _values(self, cells: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame(
            {name: read_cells(cells[name], domain).row_values() for name, domain in self.domains.items()}
        )


class UtilityMeasure(Parametrized, ABC):
    """A measure of how useful a released table is.

    A host's own measure is a subclass in one file, which settings name as ``module:Class``. Its parameters are keyword
    arguments of the constructor, as those of defenses.

    Examples
    --------
    >>> class SameMean(UtilityMeasure):
    ...     def value(self, tables):
    ...         means = [table["age"].mean() for table in (tables.original, tables.released)]
    ...         return max(0.0, 1 - abs(means[1] - means[0]) / means[0]) if means[1] == means[1] else 0.0
    """

    @abstractmethod
    def value(self, tables: ComparedTables) -> float:
        """Utility of a released table, from 0 to 1: 1 for the originals themselves, 0 where nothing can be measured."""


def measured(measure: UtilityMeasure, tables: ComparedTables) -> float:
    """Value of a measure; ValueError if it is no number from 0 to 1."""
    value = float(measure.value(tables))
    require(
        -ROUNDING <= value <= 1 + ROUNDING, f"{type(measure).__name__}: must give a number from 0 to 1, got {value:g}"
    )
    return value


def uninformative(records: pd.DataFrame, domains: Mapping[str, Domain]) -> list[ComparedTables]:
    """Tables without information as long as the originals: the most frequent value of each column, and ``*``."""
    frequent = escaped(records, domains).mode().head(1)
    tables = (frequent, frequent.assign(**dict.fromkeys(domains, SUPPRESSED)))
    rows = np.zeros(len(records), dtype=np.intp)
    return [ComparedTables(records, one.iloc[rows].reset_index(drop=True), domains) for one in tables]


class TableStatistics(UtilityMeasure):
    """Mean fidelity of marginals, associations, range counts and a classifier."""

    def value(self, tables: ComparedTables) -> float:
        """The mean, which is known."""
        return tables.statistics


class RecordSimilarity(UtilityMeasure):
    """Mean similarity of each original to the row that is declared as its own."""

    def value(self, tables: ComparedTables) -> float:
        """The mean, which is known."""
        return tables.similarity


class WorstTwoWay(UtilityMeasure):
    """1 - the largest difference of two-way tables: total variation distance over all pairs of columns."""

    def value(self, tables: ComparedTables) -> float:
        """Compare the counts in public bins."""
        return worst_pair_fidelity(
            original_profile(tables.records, tables.domains), profile(tables.cells, tables.domains)
        )


class RankCorrelations(UtilityMeasure):
    """1 - the largest change of Spearman's rank correlation over all pairs of number columns, at least 0."""

    def value(self, tables: ComparedTables) -> float:
        """Compare the correlations; a range counts as its middle."""
        changes = [
            abs(one.after - one.before) for one in rank_correlations(tables.records, tables.cells, tables.domains)
        ]
        return 1 - min(1.0, max(changes, default=0.0))


class Propensity(UtilityMeasure):
    """1 - the propensity score mean squared error (pMSE) over columns and pairs of columns, relative to its maximum."""

    def value(self, tables: ComparedTables) -> float:
        """Train the model that tells released rows from originals."""
        share = len(tables.cells) / (len(tables.cells) + len(tables.records))
        return 1 - propensity_mean_squared_error(tables.records, tables.cells, tables.domains) / (share * (1 - share))


class Tails(UtilityMeasure):
    """1 - the largest distance of the quantiles at 1, 5, 95 and 99 % over all number columns, relative to the span."""

    def value(self, tables: ComparedTables) -> float:
        """Compare the quantiles; a range counts as its middle, ``*`` is left out."""
        numbers = [name for name, domain in tables.domains.items() if isinstance(domain, NumericDomain)]
        pairs = ((tables.original[name].to_numpy(), tables.released[name].to_numpy()) for name in numbers)
        return min((tail_fidelity(*pair) for pair in pairs), default=1.0)


COMBINATIONS: dict[str, Callable[[list[float]], float]] = {"mean": np.mean, "product": np.prod, "minimum": np.min}
"""How the values of several measures become one."""
Combination = Literal["mean", "product", "minimum"]
