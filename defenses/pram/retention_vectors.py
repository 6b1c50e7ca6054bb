"""Base of PRAM defenses with one retention probability per category."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base import (
    BlockwiseDefense,
    Channel,
    Guarantee,
    Microdata,
    Needs,
    RecordsInBlocks,
    ReleasePlan,
    category_count,
    check_columns,
    chosen_columns,
    public_or_filled,
)
from defenses.base.channel_parts import RetentionVector
from defenses.pram.matrix import public_tables, unless_public
from defenses.pram.randomized import Categories, histogram, randomized
from metrics.columns import Floats, check_boolean, require

MOST_CELLS = 10_000_000
"""Largest number of combinations of categories that are randomized jointly."""


class RetentionVectors(BlockwiseDefense):
    """PRAM with one retention probability per category, which subclasses choose.

    The categories of a column are those of its domain, or the public bins of numbers; a number is released as a bin.
    Missing values form a further category of columns that have any. Columns are randomized independently and share the
    budget evenly, or jointly, with the combinations of their values as categories.

    Parameters
    ----------
    columns : sequence of str, optional
        All quasi-identifiers where not given.
    jointly : bool
        Whether to randomize combinations of the columns' categories, instead of each column separately.

    Raises
    ------
    ValueError
        If `columns` is not a list of different names or `jointly` is not a boolean.
    """

    needs: Needs = "histograms"

    def __init__(self, *, columns: Sequence[str] | None, jointly: bool) -> None:
        self.columns = check_columns(columns)
        self.jointly = check_boolean("jointly", jointly)

    def fit(self, records: RecordsInBlocks, rng: Generator) -> ReleasePlan:
        """Choose the retention probabilities of each group of columns by its histogram."""
        groups = self._groups(records.counted)
        steps, parts = [], []
        for names, generator in zip(groups, rng.spawn(len(groups)), strict=True):
            columns = tuple(Categories.of(records, name) for name in names)
            counts = histogram(records, columns)
            retention = self._retention(records.counted, names, counts, len(groups), generator)
            steps.append(randomized(columns, retention))
            domains, sizes = tuple(column.domain for column in columns), tuple(column.size for column in columns)
            parts.append(RetentionVector(names, domains, sizes, tuple(retention.tolist())))
        return ReleasePlan(steps, Channel(tuple(parts)))

    @abstractmethod
    def _retention(
        self, records: Microdata, names: tuple[str, ...], counts: NDArray[np.intp], share: int, rng: Generator
    ) -> Floats:
        """Retention probabilities of a group of columns; its budget is one of `share` equal parts."""

    def _groups(self, records: Microdata) -> tuple[tuple[str, ...], ...]:
        names = public_or_filled(records, chosen_columns(records, self.columns, records.quasi_identifiers))
        if self.jointly and names:
            cells = np.prod([float(category_count(records, name)) for name in names])
            require(
                cells <= MOST_CELLS,
                f"jointly: the columns {', '.join(names)} have {cells:.3g} cells, at most {MOST_CELLS:,}",
            )
            return (names,)
        return tuple((name,) for name in names)

    def _not_public(self, records: Microdata) -> Guarantee | None:
        """The empty guarantee if categories derive from the records, else None."""
        return unless_public(records, self._names(records))

    def _names(self, records: Microdata) -> list[str]:
        """The columns of all groups."""
        return [name for group in self._groups(records) for name in group]

    def _about(self, records: Microdata) -> str:
        names = self._names(records)
        return (
            f"one record replaced by any other, of the columns {', '.join(names)} together, {public_tables(names)}; "
            "other columns are released as is"
        )
