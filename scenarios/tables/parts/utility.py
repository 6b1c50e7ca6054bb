"""Utility of a release beside its original table, both in memory or read in parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from math import fsum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.random import Generator
from scipy.sparse import csr_array, hstack, vstack

from defenses.base import blocks as sizes
from metrics.columns import Domain, Integers, read_cells
from metrics.information_loss import certainty_penalties
from metrics.profile import CodedProfile, CountedProfile, DenseProfile, original_profile, profile
from metrics.table_utility import TableUtility
from scenarios.tables.finished_table import read_finished
from scenarios.tables.note import READ, Note
from scenarios.tables.parts.files.table_files import Engine
from scenarios.tables.parts.progress import Progress, progress
from scenarios.tables.parts.records import LargeRecords, StoredBlock, over_parts
from scenarios.tables.parts.released import LargeReleased, large_released
from scenarios.tables.parts.validation import ReviewedInParts
from scenarios.tables.reading.text_table import HINT, rows_from_one
from scenarios.tables.released import refuse_lacking
from scenarios.tables.review.release_notes import CountedCells, counted_cells
from scenarios.tables.review.reviewed_table import ReviewedTable
from scenarios.tables.roles import read_roles
from scenarios.tables.toml.toml_file import read_bytes

# Tables spread over the public bins of their columns.


@dataclass(frozen=True)
class BinnedFrame:
    """A table in memory, or some of its rows, spread over the public bins of its columns."""

    frame: pd.DataFrame = field(repr=False)
    profile: CodedProfile = field(repr=False)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.frame)

    def counted(self, drawn: Integers, words: str) -> tuple[CountedProfile, BinnedFrame]:
        """Expected counts of all rows, and the rows at some positions."""
        with progress(words, self.rows) as done:
            counts = CountedProfile.of(self.profile, sizes.BLOCK)
            done.reach(self.rows)
        return counts, BinnedFrame(self.frame.iloc[drawn], self.profile.take(drawn))


@dataclass(frozen=True)
class BinnedTable:
    """Mass of the rows of a table in parts in the public bins of its columns; see `metrics.profile.Profile.mass`.

    `masses` holds that of each code by column, sparse and of shape (codes, bins of the column). Columns of original
    numbers without codes have none: the mass of their rows follows from the numbers.
    """

    table: LargeRecords | LargeReleased
    domains: Mapping[str, Domain]
    masses: Mapping[str, csr_array] = field(repr=False)

    @classmethod
    def of_records(cls, records: LargeRecords, domains: Mapping[str, Domain]) -> BinnedTable:
        """Original values in parts."""
        masses = {}
        for name, domain in domains.items():
            column = records.columns[name]
            if not column.numbers_only:
                kind = records.roles.frame[name].to_numpy().dtype
                values = pd.Series(column.values.astype(kind), name=name)
                distinct = original_profile(values.to_frame(), {name: domain})
                masses[name] = _sparse(distinct)
        return cls(records, domains, masses)

    @classmethod
    def of_release(cls, released: LargeReleased, domains: Mapping[str, Domain]) -> BinnedTable:
        """Released cells in parts; ValueError if one cannot be read."""
        masses = {}
        for name, domain in domains.items():
            frames = (pd.DataFrame({name: pd.Series(cells, dtype=object)}) for cells in released.cells(name))
            masses[name] = csr_array(vstack([_sparse(profile(frame, {name: domain})) for frame in frames]))
        return cls(released, domains, masses)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.table.rows

    def counted(self, drawn: Integers, words: str) -> tuple[CountedProfile, DrawnRows]:
        """Expected counts of all rows, and the rows at some positions; the table is read once."""
        counts, blocks = self.empty, []
        with progress(words, self.rows) as done:
            counted = partial(_counted_part, self, drawn, done)
            # Records and releases are read in the same way.
            parts: Iterator[Any] = over_parts(self.table, counted)
            for part, found, end in parts:
                counts.merge(part)
                blocks += found
                done.reach(end)
        return counts, DrawnRows(self, blocks)

    @property
    def empty(self) -> CountedProfile:
        """Profile of no row."""
        starts = np.cumsum([0, *(domain.size + 1 for domain in self.domains.values())])
        return CountedProfile(starts[:-1].astype(np.intp), int(starts[-1]))

    def mass(self, columns: Mapping[str, Integers]) -> csr_array:
        """Mass of rows, shape (rows, bins), given the code or number of each row in every column."""
        parts = []
        for name, domain in self.domains.items():
            if name in self.masses:
                parts.append(self.masses[name][columns[name]])
            else:
                parts.append(_sparse(original_profile(pd.DataFrame({name: columns[name]}), {name: domain})))
        return csr_array(hstack(parts, format="csr"))


@dataclass(frozen=True)
class DrawnRows:
    """Some rows of a table in parts."""

    binned: BinnedTable
    blocks: Sequence[StoredBlock] = field(repr=False)

    @property
    def frame(self) -> pd.DataFrame:
        """Original values; a release has cells instead."""
        assert isinstance(self.binned.table, LargeRecords)  # noqa: S101
        return pd.concat(map(self.binned.table.values.frame, self.blocks), ignore_index=True)

    @property
    def profile(self) -> DenseProfile:
        """The rows, spread."""
        masses = [self.binned.mass(block.columns) for block in self.blocks]
        empty = self.binned.empty
        return DenseProfile(vstack([csr_array((0, empty.bins)), *masses]).toarray(), empty.starts)


def _sparse(distinct: CodedProfile) -> csr_array:
    """Mass of the rows of a profile of one column."""
    return csr_array(csr_array(distinct.cells[0])[distinct.codes[0]])


# A release beside its original table.


class Comparison(NamedTuple):
    """Both tables, the cells of each released column in pieces, and what was recognized of the release."""

    original: BinnedFrame | BinnedTable
    released: BinnedFrame | BinnedTable
    domains: Mapping[str, Domain]
    pieces: Callable[[str], Iterable[CountedCells]]
    listed: Sequence[str]
    """Released columns whose cells come in one piece."""
    notes: Sequence[Note]

    def penalty(self, names: Sequence[str]) -> float:
        """Normalized certainty penalty of some columns; its exact sum does not depend on the order of cells."""
        penalties = []
        for name in names:
            lost: list[float] = []
            rows = 0
            for cells, counts in self.pieces(name):
                read = read_cells(cells, self.domains[name])
                lost += (certainty_penalties(read)[read.codes] * counts).tolist()
                rows += int(counts.sum())
            penalties.append(fsum(lost) / rows)
        return float(np.mean(penalties))

    @property
    def cells(self) -> dict[str, CountedCells]:
        """Counts of the cells of the released columns that come in one piece."""
        return {name: piece for name in self.listed for piece in self.pieces(name)}


@contextmanager
def compared(
    reviewed: ReviewedTable,
    path: Path,
    roles: Path | None,
    *,
    reading: Mapping[str, Any],
    memory: int | None = None,
    engine: Engine | None = None,
) -> Iterator[Comparison]:
    """Open a release beside its original table, in parts if that one is; DuckDB gets some bytes of memory."""
    dataset, records = reviewed.dataset, reviewed.dataset.records
    domains = {name: records.domain(name) for name in records.released_columns}
    if not isinstance(reviewed, ReviewedInParts):
        declared = read_roles(roles, reading)
        table = read_finished(str(path), read_bytes(path), dataset, declared, domains, widen=False)
        refuse_lacking(path, [*table.frame, *table.unknown], domains)
        cells = counted_cells(table.frame, domains)
        yield Comparison(
            BinnedFrame(records.frame, original_profile(records.frame, domains)),
            BinnedFrame(table.frame, profile(table.frame, domains)),
            domains,
            lambda name: [cells[name]],
            list(cells),
            [note for note in table.notes if note.kind not in READ],
        )
        return
    with large_released(
        path,
        roles,
        reading=reading,
        written=dataset.written,
        domains=domains,
        never_missing=[name for name, column in reviewed.records.columns.items() if not column.has_missing],
        others=tuple(domains),
        memory=memory,
        engine=engine,
    ) as released:
        refuse_lacking(path, released.files.columns, domains)
        with rows_from_one(f"{path}: ", "" if roles is not None else f"; {HINT}"):
            binned = BinnedTable.of_release(released, domains)
        yield Comparison(
            BinnedTable.of_records(reviewed.records, domains),
            binned,
            domains,
            partial(_pieces, released),
            [name for name in domains if released.columns[name].cells is not None],
            released.unknown,
        )


def _pieces(released: LargeReleased, name: str) -> Iterator[CountedCells]:
    """Counts of the cells of a release in parts, piece by piece."""
    start = 0
    for cells in released.cells(name):
        counts = released.columns[name].counts[start : start + len(cells)]
        yield CountedCells(pd.Series(cells[counts > 0], name=name, dtype=object), counts[counts > 0])
        start += len(cells)


# Utility from one reading of either table.

SAMPLED = 100_000
"""Number of drawn rows on which classifiers are trained and the noise of associations is measured."""


def utility_scores(
    tables: Comparison, held_out: pd.DataFrame, target: str | None, seed: int
) -> tuple[dict[str, float | None], list[Note]]:
    """Components of the utility of a release, and a note where some were measured on drawn rows.

    Queries and reference tables are drawn by the seed, and so are the rows of long tables. `held_out` holds further
    real records, on which a classifier of `target` is tested; it may be empty.
    """
    rng = np.random.default_rng([seed, 1])
    original, released = tables.original, tables.released
    counts, rows = original.counted(_drawn(original.rows, rng), "original rows")
    rng_of_utility = np.random.default_rng(seed)
    utility = TableUtility(rows.frame, tables.domains, held_out, target, rng_of_utility, reference=counts)
    counts, rows = released.counted(_drawn(released.rows, rng), "released rows")
    scores = utility.components(counts, rows.profile)
    what = "classifiers and the noise of associations were" if utility.held_out else "the noise of associations was"
    note = Note("drawn rows", numbers={"what": what, "rows": SAMPLED})
    return scores, [note] if max(original.rows, released.rows) > SAMPLED else []


def _counted_part(
    binned: BinnedTable, drawn: Integers, done: Progress, table: LargeRecords | LargeReleased
) -> tuple[CountedProfile, list[StoredBlock], int]:
    """Profile of a part, drawn rows, and the end of the part."""
    counts, blocks, end = binned.empty, [], table.files.first_row
    for block in table.blocks(list(binned.domains)):
        counts.update(binned.mass(block.columns))
        blocks.append(_rows(block, drawn))
        end = block.start + len(block)
        done.add(len(block))
    return counts, blocks, end


def _drawn(rows: int, rng: Generator) -> Integers:
    """Positions of drawn rows, ascending; all of them if they are few."""
    return np.arange(rows) if rows <= SAMPLED else np.sort(rng.choice(rows, SAMPLED, replace=False, shuffle=False))


def _rows(block: StoredBlock, positions: Integers) -> StoredBlock:
    """Those rows of a block that are at some positions in the table."""
    first, last = np.searchsorted(positions, [block.start, block.start + len(block)])
    return block.take(positions[first:last] - block.start)
