"""``tokumei defend``: the release of a table in memory or in parts, written, with the counts of its cells."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import SeedSequence
from numpy.typing import NDArray

from defenses import Microdata, MicrodataDefense
from defenses.base import CountedCells, RecordsInBlocks, ReleasedBlock
from metrics.classes import SizeCounts, agreeing_records
from metrics.columns import SUPPRESSED, Booleans, Integers, unchanged_cells
from metrics.risk import GroupRisk
from scenarios.tables.note import Note
from scenarios.tables.parts.files.table_files import OneMachine
from scenarios.tables.parts.large_release import large_release
from scenarios.tables.parts.records import LargeRecords, over_parts
from scenarios.tables.parts.released_blocks import BlockByBlock, InOrder, LargeRelease
from scenarios.tables.review import ClassMembers, ReviewedTable, numbers_of, risk_of_rows

LISTED = 1 << 20
"""Mean number of records up to which all numbers of a column are kept for notes; of more, evenly spaced ones are."""

CHANGED = 0.01
"""Share of the cells of a column that are changed, from which the column is not named."""
MOST_MATCHED = 1 << 22
"""Largest number of records up to which the people of each class are counted."""


def release_of(
    table: ReviewedTable,
    defense: MicrodataDefense,
    root: SeedSequence,
    *,
    rows: int | None = None,
    in_order: InOrder = map,
) -> LargeRelease:
    """Release of a table, block by block.

    `rows` is the mean number of rows of random blocks, for tables in parts, and `in_order` releases them.
    """
    return distributed(large_release(defense, table.records, root, rows=rows, in_order=in_order), table.records)


# Counts of the cells of a release, as its blocks are written.


@dataclass
class ReleaseCounts:
    """A release of a table whose cells, and whose classes of people, are counted as its blocks pass."""

    release: LargeRelease
    table: ReviewedTable
    _rows: dict[str, Integers] = field(default_factory=dict)
    """Rows of each cell in the columns that are coded."""
    _some: dict[str, list[NDArray[Any]]] = field(default_factory=dict)
    """Cells of each other column."""
    _classes: list[pd.DataFrame] = field(default_factory=list)
    """Key of the class, the record, and whether all quasi-identifiers are ``*``, of each row."""
    _combinations: list[Integers] = field(default_factory=list)
    """Distinct codes of the quasi-identifiers in each block, with the number of rows; none if a column has no codes."""
    _kept: list[str] = field(default_factory=list)
    """Quasi-identifiers whose cells in the first block are hardly changed."""

    def blocks(self) -> Iterator[ReleasedBlock]:
        """The blocks of the release, which are counted."""
        names = [name for name in self.table.dataset.records.quasi_identifiers if name in self.release.names]
        several = self.table.people is not None or self.table.groups is not None
        is_matched = several and self.table.rows <= MOST_MATCHED
        is_combined = self.table.rows <= MOST_MATCHED and all(name in self.release.cells for name in names)
        original = self._first_block() if names else None
        for block in self.release.blocks():
            if original is not None and not block.number and len(block):
                self._compare(block, names, original)
            if is_combined and names:
                coded = np.stack([block.columns[name] for name in names], axis=1)
                self._combinations.append(np.column_stack(np.unique(coded, axis=0, return_counts=True)))
            if is_matched and names:
                keys = pd.util.hash_pandas_object(pd.DataFrame({name: block.columns[name] for name in names}), False)
                starred = self._wholly_suppressed(block, names)
                self._classes.append(pd.DataFrame({"class": keys, "record": block.origin, "starred": starred}))
            for name, stored in block.columns.items() if len(block) else ():
                if name not in self.release.cells:
                    self._some.setdefault(name, []).append(self._telling(stored))
                    continue
                before = self._rows.get(name, np.zeros(0, dtype=np.int64))
                rows = np.bincount(stored, minlength=before.size)
                rows[: before.size] += before
                self._rows[name] = rows
            yield block

    def _first_block(self) -> Microdata:
        """The first records of the table."""
        records = self.table.records
        # No other query runs while blocks are read.
        return records.records(next(records.blocks(records.counted.released_columns)))

    def _compare(self, block: ReleasedBlock, names: Sequence[str], original: Microdata) -> None:
        """Compare the quasi-identifiers of the first block with the records that its rows stem from."""
        rows = np.flatnonzero((block.origin >= 0) & (block.origin < len(original)))
        for name in names if rows.size else ():
            stored = block.columns[name][rows]
            cells = self.release.cells[name].column(stored) if name in self.release.cells else pd.Series(stored)
            values = original.frame[name].iloc[block.origin[rows]]
            # Cells that are none of the domain, such as pseudonyms, are no values of it.
            with suppress(ValueError):
                same = unchanged_cells(values, cells, original.domain(name))
                if same.mean() > 1 - CHANGED and len(values.unique()) > 1:
                    self._kept.append(name)

    def hardly_changed(self) -> list[Note]:
        """A note on quasi-identifiers of which less than `CHANGED` of the cells of the first block are changed."""
        return [Note("hardly changed", tuple(self._kept))] if self._kept else []

    def people(self, k: int | None) -> SizeCounts | None:
        """Sizes in people of the classes of k rows each, as guaranteed; None without k, or if rows are too many."""
        if k is None or self.table.people is None or not self._classes:
            return None
        return SizeCounts.of_classes(ClassMembers.of(*self._with_numbers(self.table.dataset.records.person)).sizes)

    def by_convention(self) -> tuple[int, int, int] | None:
        """Smallest class if ``*`` is a value, and fewest records that agree with one if it is any value; see `risk`.

        Third, the number of wholly suppressed rows, which are in no class. None if no cell is ``*``, all rows are
        wholly suppressed, or there are too many rows or combinations.
        """
        if not self._combinations:
            return None
        names = [name for name in self.table.dataset.records.quasi_identifiers if name in self.release.names]
        starred = self._starred(names)
        found = np.concatenate(self._combinations)
        codes, number = np.unique(found[:, :-1], axis=0, return_inverse=True)
        rows = np.bincount(number.ravel(), found[:, -1]).astype(np.int64)
        inside = (codes != [starred.get(name, -1) for name in names]).any(axis=1)
        if not starred or not inside.any():
            return None
        agreeing = agreeing_records(dict(zip(names, codes.T, strict=True)), rows, starred)
        return None if agreeing is None else (int(rows[inside].min()), int(agreeing.min()), int(rows[~inside].sum()))

    def groups(self) -> GroupRisk | None:
        """Risk of the groups of people; None without groups, or if rows are too many."""
        if self.table.groups is None or not self._classes:
            return None
        records = self.table.dataset.records
        return risk_of_rows(*self._with_numbers(records.group), self._with_numbers(records.person)[1])

    def _with_numbers(self, name: str | None) -> tuple[Integers, Integers]:
        """Class of each released row in a class, and number of its person or group.

        A row that stems from no record has its own number. Wholly suppressed rows are in no class, as in `ClassCounts`.
        """
        rows = pd.concat(self._classes, ignore_index=True)
        rows = rows if rows["starred"].all() else rows[~rows["starred"]]
        numbers = pd.Series(self.table.numbers_in(name)).reindex(rows["record"])
        return pd.factorize(rows["class"])[0], numbers_of(numbers)

    def _starred(self, names: Sequence[str]) -> dict[str, int]:
        """Code of ``*`` in those of some columns that hold it."""
        listed = {name: self.release.cells[name].cells for name in names if name in self.release.cells}
        return {name: cells.index(SUPPRESSED) for name, cells in listed.items() if SUPPRESSED in cells}

    def _wholly_suppressed(self, block: ReleasedBlock, names: Sequence[str]) -> Booleans:
        """Which rows of a block are ``*`` in all of some columns; none if a column has no codes."""
        starred = self._starred(names)
        return np.asarray(np.logical_and.reduce([block.columns[name] == starred.get(name, -1) for name in names]))

    def _telling(self, stored: NDArray[Any]) -> NDArray[Any]:
        """Evenly spaced cells of a block, all if the table is small, with the extremes or a missing one."""
        if stored.dtype.kind == "S":
            return np.unique(stored)[:3]
        step = -(-self.release.records // LISTED)
        return stored if step <= 1 else np.append(stored[::step], stored[[stored.argmin(), stored.argmax()]])

    @property
    def cells(self) -> dict[str, CountedCells]:
        """Counts of the cells of each released column, of some of them where a column has more than `LISTED`."""
        counted = {}
        for name in self.release.names:
            if name in self._rows:
                codes = np.flatnonzero(self._rows[name])
                cells: pd.Series[Any] = self.release.cells[name].column(codes.astype(np.int32))
                counted[name] = CountedCells(cells, self._rows[name][codes])
            elif name in self._some:
                stored = np.concatenate(self._some[name])
                is_text = stored.dtype.kind == "S"
                counted[name] = CountedCells.of(
                    pd.Series([text.decode() or None for text in stored.tolist()] if is_text else stored)
                )
        return counted


# Releases whose blocks are made on the workers of a cluster, part by part.


def distributed(release: LargeRelease, records: RecordsInBlocks) -> LargeRelease:
    """The same release, whose blocks are made where the parts of the records are read.

    A release whose blocks depend on each other is made on this machine.
    """
    if (
        isinstance(records, LargeRecords)
        and not isinstance(records.files.engine, OneMachine)
        and isinstance(release.blocks, BlockByBlock)
    ):
        return replace(release, blocks=partial(_merged_blocks, release, records))
    return release


def _merged_blocks(release: LargeRelease, records: LargeRecords) -> Iterator[ReleasedBlock]:
    """Blocks of all parts, whose new cells join the lists of cells in the order of the parts."""
    import cloudpickle

    known = {name: len(listed) for name, listed in release.cells.items()}
    # Functions inside of functions are no part of a module, and plain pickles leave them out.
    packed = cloudpickle.dumps((release.cells, release.blocks))
    for blocks, new_cells in over_parts(records, partial(_blocks_of_part, packed, known)):
        recoded = {name: release.cells[name].codes(cells) for name, cells in new_cells.items() if cells}
        for block in blocks:
            columns = dict(block.columns)
            for name, codes in recoded.items():
                is_new = columns[name] >= known[name]
                columns[name] = columns[name].copy()
                columns[name][is_new] = codes[columns[name][is_new] - known[name]]
            yield replace(block, columns=columns)


def _blocks_of_part(
    packed: bytes, known: dict[str, int], records: LargeRecords
) -> tuple[list[ReleasedBlock], dict[str, list[Any]]]:
    """Released blocks of a part, and the cells that they add to the lists."""
    cells, made = pickle.loads(packed)  # noqa: S301 (from the machine that gave the work)
    blocks = [made.released(block) for block in records.blocks()]
    return blocks, {name: listed.cells[known[name] :] for name, listed in cells.items()}
