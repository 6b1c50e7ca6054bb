"""Which defenses release tables that are read in parts, and how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.random import SeedSequence

from defenses import (
    Channel,
    Defense,
    GlobalRecoding,
    Guarantee,
    Microdata,
    MicrodataDefense,
    Mondrian,
    Pipeline,
    RecordSuppression,
)
from defenses.base import (
    BlockwiseDefense,
    CellList,
    RecordsInBlocks,
    ReleasedBlock,
    ReleasePlan,
    block_generator,
    check_enough,
    chosen_columns,
    code_column,
    k_anonymity_over,
    recoded_step,
    unchanged_step,
)
from defenses.grouping.counted_table import ClassCells, CountedDefense, CountedTable, Recoding
from defenses.grouping.incognito.lattice import number_tuples
from metrics.columns import Integers, refuse
from scenarios.tables.parts.blocked import blocked
from scenarios.tables.parts.combinations import TooManyCombinations
from scenarios.tables.parts.memory_release import is_planned
from scenarios.tables.parts.mondrian_parts import counted_release, parted_release
from scenarios.tables.parts.records import LargeRecords
from scenarios.tables.parts.released_blocks import BlockByBlock, LargeRelease, released_block

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


# Releases that are planned by a defense, or made of each column or row by itself.


def planned(defense: BlockwiseDefense, records: RecordsInBlocks, root: SeedSequence) -> LargeRelease:
    """Release of a defense that plans its blocks.

    Parameters
    ----------
    defense : BlockwiseDefense
        The defense.
    records : RecordsInBlocks
        The records.
    root : SeedSequence
        Root of the random generators.
    """
    promised = defense.guarantee(records.counted)
    plan = defense.fit(records, block_generator(root, "fit"))
    return _release_of(plan, records, root, promised)


def columnwise(defense: MicrodataDefense, records: LargeRecords, root: SeedSequence) -> LargeRelease:
    """Release of a defense whose cells follow from the values in their columns and from parameters alone.

    All else that it reads of a table are roles, domains, hierarchies, and whether a column has a value or holds
    integers only. The values that occur in each column show these as the table does.

    Parameters
    ----------
    defense : MicrodataDefense
        The defense; see `MicrodataDefense.columnwise`.
    records : LargeRecords
        The records.
    root : SeedSequence
        Root of the random generators; only the order of the rows takes any.
    """
    roles = records.roles
    channel = defense.apply(roles, np.random.default_rng(0)).channel
    names = roles.released_columns if channel is None else channel.columns

    def recode(name: str, values: pd.Series[Any]) -> pd.Series[Any]:
        # The values beside this column do not matter; repeating one keeps the types of their columns.
        rows = roles.frame.iloc[np.zeros(len(values), dtype=np.intp)].reset_index(drop=True)
        block = roles.with_frame(rows.assign(**{name: values.reset_index(drop=True)}))
        return defense.apply(block, np.random.default_rng(0)).frame[name]

    plan = ReleasePlan([recoded_step(records, name, partial(recode, name)) for name in names], channel)
    return _release_of(plan, records, root, defense.guarantee(records.counted))


def _release_of(plan: ReleasePlan, records: RecordsInBlocks, root: SeedSequence, promised: Guarantee) -> LargeRelease:
    """Release of a plan; other columns stay as they are."""
    names = (*plan.first, *records.counted.released_columns)
    unchanged = [unchanged_step(records, name) for name in names if name not in plan.changed]
    whole = replace(plan, steps=[*plan.steps, *unchanged])
    by_itself = type(plan).blocks is ReleasePlan.blocks
    blocks = (
        BlockByBlock(records, partial(whole.release, root=root)) if by_itself else partial(whole.blocks, records, root)
    )
    return LargeRelease(names, whole.cells, blocks, len(records.counted), lambda: promised, plan.channel)


def independent(defense: MicrodataDefense, records: LargeRecords, root: SeedSequence) -> LargeRelease:
    """Release of a defense whose `randomizes_records_independently` is set, applied to each block by itself.

    Such a defense promises that the distribution of a released row depends on its record and the domains alone. All
    blocks have the domains of the whole table.

    Parameters
    ----------
    defense : MicrodataDefense
        The defense.
    records : LargeRecords
        The records.
    root : SeedSequence
        Root of the random generators.
    """
    defense.check(records.counted)
    # The table of distinct values shows whether the defense accepts all values, and the types of its columns.
    example = defense.apply(records.roles, np.random.default_rng(0))
    kinds = {str(name): column.to_numpy().dtype for name, column in example.frame.items()}
    cells = {name: CellList() for name, kind in kinds.items() if kind.kind not in "iuf"}

    def released(block: Any) -> ReleasedBlock:
        release = defense.apply(records.records(block), block_generator(root, "rows", block.number))
        return released_block(release.frame, release.origin + block.start, block.number, kinds, cells)

    promised = defense.guarantee(records.counted)
    blocks = BlockByBlock(records, released)
    return LargeRelease(tuple(kinds), cells, blocks, records.rows, lambda: promised, example.channel)


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
    name = type(defense).__name__
    row_by_row = is_planned(defense) or defense.columnwise or defense.randomizes_records_independently
    if rows is not None:
        refuse(row_by_row, f"--blocks: {name} takes tables of any size as they are; leave the option out")
        return blocked(defense, records, root, rows)
    if isinstance(defense, BlockwiseDefense) and is_planned(defense):
        return planned(defense, records, root)
    if row_by_row:
        return (columnwise if defense.columnwise else independent)(defense, records, root)
    form = counted_form(defense)
    if form is None:
        raise ValueError(f"{name} needs all rows in memory, and {records.files.path} is read in parts; {_OFFER}")
    try:
        return grouped_release(form, records)
    except TooManyCombinations as error:
        raise ValueError(f"{error}; {_OFFER}") from None
