"""Which defenses release tables that are read in parts, and how."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.random import SeedSequence

from defenses import (
    AdditiveNoise,
    Channel,
    Constant,
    Defense,
    GlobalRecoding,
    Guarantee,
    Microdata,
    MicrodataDefense,
    Mondrian,
    OptimalMatrix,
    OptimalRetention,
    OptimalRetentionByObjective,
    OptimalRetentionByOutput,
    OptimalRetentionFromNoisyHistogram,
    OptimalRetentionWithPrior,
    Pipeline,
    Pseudonymization,
    RecordSuppression,
    ReportedTable,
    RetentionReplacement,
    Sampling,
    Shuffle,
    StratifiedSampling,
    TopBottomCoding,
)
from defenses.base import check_enough, chosen_columns, code_column, k_anonymity_over
from defenses.grouping.counted_table import ClassCells, CountedDefense, CountedTable, Recoding
from defenses.grouping.incognito.lattice import number_tuples
from metrics.columns import Integers
from scenarios.tables.parts.blocked import blocked
from scenarios.tables.parts.combinations import TooManyCombinations
from scenarios.tables.parts.mondrian_parts import counted_release, parted_release
from scenarios.tables.parts.records import LargeRecords
from scenarios.tables.parts.released_blocks import LargeRelease
from scenarios.tables.parts.rowwise.columnwise import (
    additive_noise,
    columnwise,
    constant,
    is_columnwise,
    top_bottom_coding,
)
from scenarios.tables.parts.rowwise.pram import optimal_matrix, retention_replacement, retention_vectors
from scenarios.tables.parts.rowwise.samples import pseudonymization, sampling, shuffle, stratified_sampling
from scenarios.tables.parts.rowwise.steps import independent

# Releases of grouping methods: from counted combinations, or part by part where these do not fit.


def grouped_release(defense: CountedDefense, records: LargeRecords) -> LargeRelease:
    """Release a table from its distinct combinations of values; `Mondrian` goes part by part if these do not fit.

    Parameters
    ----------
    defense : CountedDefense
        The defense.
    records : LargeRecords
        The records.

    Raises
    ------
    TooManyCombinations
        If there are too many combinations for a method other than `Mondrian`.
    ValueError
        If the parameters do not fit the records.
    """
    try:
        return counted_release(defense, records)
    except TooManyCombinations:
        if isinstance(defense, Mondrian):
            return parted_release(defense, records)
        raise


# Defenses in the form that works on counted combinations of values.


def counted_form(defense: Defense) -> CountedDefense | None:
    """The defense as one that works on counted combinations; None if it has no such form.

    `Incognito` and strict `Mondrian` have it by themselves, `RecordSuppression` alone or after `GlobalRecoding`.
    """
    if isinstance(defense, CountedDefense):
        return defense if defense.works_on_counts else None
    if isinstance(defense, RecordSuppression):
        return CountedSteps((), (defense,), promises=True)
    if isinstance(defense, Pipeline):
        recodings = [step for step in defense.steps if isinstance(step, GlobalRecoding)]
        suppressions = [step for step in defense.steps if isinstance(step, RecordSuppression)]
        if suppressions and list(defense.steps) == [*recodings[:1], *suppressions]:
            return CountedSteps(tuple(recodings), tuple(suppressions), promises=False)
    return None


@dataclass(frozen=True)
class CountedSteps:
    """Full-domain generalization, followed by the suppression of records in small classes.

    Parameters
    ----------
    recodings : tuple of GlobalRecoding
        None or one.
    suppressions : tuple of RecordSuppression
        One at least.
    promises : bool
        Whether the release promises what its last step does; a `Pipeline` promises nothing.
    """

    recodings: tuple[GlobalRecoding, ...]
    suppressions: tuple[RecordSuppression, ...]
    promises: bool
    works_on_counts: ClassVar[bool] = True

    def counted_columns(self, roles: Microdata) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Columns that define the classes or are generalized; no sensitive ones."""
        names = [name for step in self.suppressions for name in _class_columns(step, roles)]
        changed = [name for step in self.recodings for name in sorted(_generalized(step, roles).columns)]
        return tuple(dict.fromkeys([*names, *changed])), ()

    def recode(self, records: CountedTable) -> Recoding:
        """Generalize, then suppress; nothing is drawn."""
        roles = records.roles
        cells, channel = {}, Channel()
        for step in self.recodings:
            release, channel = step.apply(roles, np.random.default_rng(0)), _generalized(step, roles)
            for name in channel.columns:
                cells[name] = _recoded_values(records, name, release.frame[name])
        classes = np.arange(records.counts.size)
        for suppression in self.suppressions:
            counts = np.where(classes < 0, 0, records.counts)
            check_enough(suppression.k, int(counts.sum()))
            groups = _groups(records, cells, _class_columns(suppression, roles))
            sizes = np.bincount(groups, weights=counts)
            classes = np.where(sizes[groups] >= suppression.k, classes, -1)
        last = self.suppressions[-1]
        guarantee = k_anonymity_over(last.k, roles, _class_columns(last, roles)) if self.promises else Guarantee()
        return Recoding(classes, cells, guarantee, channel)


def _class_columns(step: RecordSuppression, roles: Microdata) -> tuple[str, ...]:
    return chosen_columns(roles, step.columns, roles.quasi_identifiers)


def _generalized(step: GlobalRecoding, roles: Microdata) -> Channel:
    """Channel of a generalization, whose parts name the columns that it changes."""
    return step.apply(roles, np.random.default_rng(0)).channel or Channel()


def _recoded_values(records: CountedTable, name: str, released: pd.Series[Any]) -> ClassCells:
    """Cell of each combination, given the cell of each row of the roles' frame."""
    coded = code_column(records.roles.frame[name], records.roles.domain(name))
    row = np.zeros(coded.size, dtype=np.intp)
    row[coded.codes] = np.arange(coded.codes.size)
    return ClassCells.of(records.columns[name].codes, released.to_numpy(dtype=object)[row])


def _groups(records: CountedTable, cells: Mapping[str, ClassCells], names: Sequence[str]) -> Integers:
    """Number of the distinct tuple of cells of each combination, shape (combinations,)."""
    if not names:
        return np.zeros(records.counts.size, dtype=np.intp)
    codes: list[Any] = [cells[name].codes if name in cells else records.columns[name].codes for name in names]
    sizes = [cells[name].cells.size if name in cells else records.columns[name].size for name in names]
    return number_tuples(codes, sizes)[0]


# Producers are listed by the exact class, since a subclass may release something else.
ROWWISE: dict[type[MicrodataDefense], Callable[..., LargeRelease]] = {
    AdditiveNoise: additive_noise,
    Constant: constant,
    OptimalMatrix: optimal_matrix,
    OptimalRetention: retention_vectors,
    OptimalRetentionByObjective: retention_vectors,
    OptimalRetentionByOutput: retention_vectors,
    OptimalRetentionFromNoisyHistogram: retention_vectors,
    OptimalRetentionWithPrior: retention_vectors,
    Pseudonymization: pseudonymization,
    ReportedTable: independent,
    RetentionReplacement: retention_replacement,
    Sampling: sampling,
    Shuffle: shuffle,
    StratifiedSampling: stratified_sampling,
    TopBottomCoding: top_bottom_coding,
}
"""Defenses that release each row by itself, given counts of the whole table, and how."""

_OFFER = "`--blocks 10000` applies the method to random blocks of about 10,000 rows"


def large_release(
    defense: MicrodataDefense, records: LargeRecords, root: SeedSequence, *, rows: int | None = None
) -> LargeRelease:
    """Make a release of records that are read in parts.

    Parameters
    ----------
    defense : MicrodataDefense
        The defense.
    records : LargeRecords
        The records.
    root : SeedSequence
        Root of the random generators.
    rows : int, optional
        Mean number of rows of the random blocks to which a defense is applied that needs the whole table.

    Raises
    ------
    ValueError
        If the parameters do not fit the records, or the defense needs all rows, or counts too many combinations, and
        `rows` is not given.
    """
    produce = ROWWISE.get(type(defense))
    if produce is None and is_columnwise(defense):
        produce = columnwise
    if produce is None and defense.randomizes_records_independently:
        produce = independent
    form = counted_form(defense) if produce is None else None
    name = type(defense).__name__
    if rows is not None:
        if produce is not None:
            raise ValueError(f"--blocks: {name} takes tables of any size as they are; leave the option out")
        return blocked(defense, records, root, rows)
    if form is not None:
        try:
            return grouped_release(form, records)
        except TooManyCombinations as error:
            raise ValueError(f"{error}; {_OFFER}") from None
    if produce is None:
        raise ValueError(f"{name} needs all rows in memory, and {records.files.path} is read in parts; {_OFFER}")
    return produce(defense, records, root)
