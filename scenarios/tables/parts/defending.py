"""``tokumei defend`` for tables that are read in parts."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from defenses import Guarantee, MicrodataDefense
from defenses.base import ReleasedBlock
from metrics.columns import SUPPRESSED, refuse
from scenarios.tables.empty_cells import empty_cells_words
from scenarios.tables.impossible_rows import with_rules
from scenarios.tables.note import Note, text_notes
from scenarios.tables.parts.files.shuffled_output import write_outputs
from scenarios.tables.parts.files.table_files import Engine, OneMachine
from scenarios.tables.parts.large_release import large_release
from scenarios.tables.parts.records import LargeRecords, large_records, over_parts
from scenarios.tables.parts.released_blocks import BlockByBlock, LargeRelease
from scenarios.tables.parts.validation import large_rows_of_people
from scenarios.tables.review.rows_of_people import RowsOfPeople

# Released cells that say nothing, counted while a release is written in parts.


@dataclass
class EmptyCells:
    """Counts of the cells of each column, as the blocks of a release pass.

    Parameters
    ----------
    release : LargeRelease
        The release.
    """

    release: LargeRelease
    rows: int = 0
    _counts: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    """Rows of each cell in the columns that are coded."""
    _same: dict[str, Any] = field(default_factory=dict)
    """The only value so far of each other column; absent once there are two."""

    def blocks(self) -> Iterator[ReleasedBlock]:
        """The blocks of the release, which are counted."""
        for block in self.release.blocks():
            if len(block):
                self._count(block)
            yield block

    def _count(self, block: ReleasedBlock) -> None:
        for name, values in block.columns.items():
            if name in self.release.cells:
                before = self._counts.get(name, np.zeros(0, dtype=np.int64))
                counts = np.bincount(values, minlength=before.size)
                counts[: before.size] += before
                self._counts[name] = counts
            elif not self.rows and (values == values[0]).all():
                self._same[name] = values[0]
            elif name in self._same and not (values == self._same[name]).all():
                del self._same[name]
        self.rows += len(block)

    def warnings(self, records: LargeRecords) -> list[Note]:
        """A warning of columns most of whose cells say nothing; see `empty_cells_warning`.

        Parameters
        ----------
        records : LargeRecords
            The original records.
        """
        if self.rows < 2:
            return []
        empty: dict[str, int | None] = {}
        for name in self.release.names:
            raw = records.columns[name].raw if name in records.columns else None
            differed = raw is not None and len(raw.values) + (raw.missing > 0) > 1
            empty[name] = None if differed and self._is_same(name) else self._suppressed(name)
        return empty_cells_words(empty, self.rows)

    def _is_same(self, name: str) -> bool:
        """Whether all rows have the same cell, which is not missing."""
        if name not in self._counts:
            return name in self._same
        codes = np.flatnonzero(self._counts[name])
        return codes.size == 1 and self.release.cells[name].cells[codes[0]] is not None

    def _suppressed(self, name: str) -> int:
        """Number of suppressed cells."""
        if name not in self._counts:
            return 0
        counts, cells = self._counts[name], self.release.cells[name].cells
        return sum(int(counts[code]) for code in np.flatnonzero(counts) if cells[code] == SUPPRESSED)


# Releases whose blocks are made on the workers of a cluster, part by part.


def distributed(release: LargeRelease, records: LargeRecords) -> LargeRelease:
    """The same release, whose blocks are made where the parts of the records are read.

    A release whose blocks depend on each other is made on this machine.

    Parameters
    ----------
    release : LargeRelease
        The release.
    records : LargeRecords
        Its records.
    """
    if isinstance(records.files.engine, OneMachine) or not isinstance(release.blocks, BlockByBlock):
        return release
    return replace(release, blocks=partial(_merged_blocks, release, records))


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


class DefendedInParts(NamedTuple):
    """What is said of a release that was written in parts.

    Parameters
    ----------
    released, records : int
        Number of released rows, and of records.
    guarantee : Guarantee
        What the release promises.
    notes : tuple of Note
        What the publisher should know beside it, and cells that say nothing.
    people : RowsOfPeople or None
        Numbers of rows and people, if a person has several rows.
    """

    released: int
    records: int
    guarantee: Guarantee
    notes: tuple[Note, ...]
    people: RowsOfPeople | None


def defend_in_parts(
    defense: MicrodataDefense,
    path: Path,
    roles: Path | None,
    *,
    reading: Mapping[str, Any],
    memory: int,
    rows: int | None,
    output: str,
    truth: str | None,
    channel: str | None,
    seed: int | None,
    describe: Callable[[LargeRecords, list[str]], None],
    engine: Engine | None = None,
) -> DefendedInParts:
    """Anonymize a table that is read, and a release that is written, in parts.

    Parameters
    ----------
    defense : MicrodataDefense
        The defense.
    path, roles : Path
        The table, and the roles of its columns.
    reading : mapping of str
        How the file is read.
    memory : int
        Bytes of memory; DuckDB may use half of it.
    rows : int, optional
        Mean number of rows of random blocks, for defenses that need all rows.
    output, truth, channel : str
        The outputs; None for none.
    seed : int, optional
        Seed that repeats the release.
    describe : callable
        ``describe(records, unique)`` is called before a row is released, with the columns whose texts all differ.
    engine : Engine, optional
        Where the parts are read; by default on this machine.

    Raises
    ------
    ValueError
        If a file cannot be read or the parameters do not fit it. No output is then written.
    """
    root = SeedSequence(seed)
    with large_records(path, roles, reading=reading, memory=memory // 2, engine=engine) as records:
        defense_name = type(defense).__name__
        defense = with_rules(defense, records.dataset.impossible)
        release = distributed(large_release(defense, records, root, rows=rows), records)
        refuse(channel and release.channel is None, f"--channel: this release of {defense_name} has none")
        describe(records, _unique_texts(records))
        empty_cells = EmptyCells(release)
        counted = replace(release, blocks=empty_cells.blocks)
        count = write_outputs(counted, records.dataset, root, output, truth=truth, channel=channel)
        notes = (*text_notes(release.notes), *empty_cells.warnings(records))
        return DefendedInParts(count, records.rows, release.guarantee(), notes, large_rows_of_people(records))


def _unique_texts(records: LargeRecords) -> list[str]:
    """Released text columns whose value differs in every record."""
    return [
        name
        for name, column in records.columns.items()
        if records.roles.frame[name].dtype == object
        and records.rows > 1
        and len(column.raw.values) + column.raw.missing == records.rows
        and column.raw.missing <= 1
    ]
