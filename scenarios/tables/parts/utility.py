"""Utility of a release of a table that exceeds memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pandas as pd
from numpy.random import Generator
from scipy.sparse import csr_array, hstack, vstack

from metrics.columns import Domain, Integers
from metrics.information_loss import normalized_certainty_penalty
from metrics.profile import CodedProfile, CountedProfile, DenseProfile, original_profile, profile
from metrics.table_utility import CountedTableUtility
from scenarios.tables.note import Note
from scenarios.tables.parts.progress import Progress, progress
from scenarios.tables.parts.records import LargeRecords, StoredBlock, over_parts
from scenarios.tables.parts.released import LargeReleased

# Tables that are read in parts, spread over the public bins of their columns.


@dataclass(frozen=True)
class BinnedTable:
    """Mass of the rows of a table in the bins of its columns; see `metrics.profile.Profile.mass`.

    Parameters
    ----------
    table : LargeRecords or LargeReleased
        The table: original values, or released cells.
    domains : mapping of str to Domain
        Its columns, with their public bins.
    masses : mapping of str to csr_array, each of shape (codes, bins of the column)
        Mass of each code's value or cell. Columns of `LargeColumn.numbers_only` of original values have none: the
        mass of their rows follows from the numbers.
    """

    table: LargeRecords | LargeReleased
    domains: Mapping[str, Domain]
    masses: Mapping[str, csr_array] = field(repr=False)

    @classmethod
    def of_records(cls, records: LargeRecords, domains: Mapping[str, Domain]) -> BinnedTable:
        """Spread original values."""
        masses = {}
        for name, domain in domains.items():
            column = records.columns[name]
            if not column.numbers_only:
                kind = records.roles.frame[name].to_numpy().dtype
                values = pd.Series(column.values.astype(kind), name=name)
                distinct = original_profile(values.to_frame(), {name: domain})
                # The code of a missing value exists even where none is missing.
                masses[name] = _with_missing(_sparse(distinct), column.missing)
        return cls(records, domains, masses)

    @classmethod
    def of_release(
        cls, released: LargeReleased, domains: Mapping[str, Domain], measured: Sequence[str]
    ) -> tuple[BinnedTable, float]:
        """Spread released cells, and measure the normalized certainty penalty of some columns.

        Raises
        ------
        ValueError
            If the release lacks a column or holds a cell that cannot be read.
        """
        masses, penalties = {}, []
        for name, domain in domains.items():
            if name not in released.columns:
                raise ValueError(f"the released table has no column {name!r}")
            counts, parts, penalty = released.columns[name].counts, [], 0.0
            start = 0
            for cells in released.cells(name):
                frame = pd.DataFrame({name: pd.Series(cells, dtype=object)})
                parts.append(_sparse(profile(frame, {name: domain})))
                weights = counts[start : start + len(cells)]
                if name in measured and weights.any():
                    part = normalized_certainty_penalty(frame, {name: domain}, weights=weights)
                    penalty += part * float(weights.sum())
                start += len(cells)
            masses[name] = csr_array(vstack(parts))
            penalties += [penalty / released.rows] if name in measured else []
        return cls(released, domains, masses), float(np.mean(penalties))

    @property
    def starts(self) -> Integers:
        """First bin of each column's block, shape (columns,)."""
        return np.cumsum([0, *(domain.size + 1 for domain in self.domains.values())])[:-1].astype(np.intp)

    @property
    def bins(self) -> int:
        """Number of bins of all columns."""
        return sum(domain.size + 1 for domain in self.domains.values())

    def mass(self, columns: Mapping[str, Integers]) -> csr_array:
        """Mass of rows, shape (rows, bins), given the code or number of each row in every column."""
        parts = []
        for name, domain in self.domains.items():
            if name in self.masses:
                parts.append(self.masses[name][columns[name]])
            else:
                parts.append(_sparse(original_profile(pd.DataFrame({name: columns[name]}), {name: domain})))
        return csr_array(hstack(parts, format="csr"))


def _sparse(distinct: CodedProfile) -> csr_array:
    """Mass of the rows of a profile of one column."""
    return csr_array(csr_array(distinct.cells[0])[distinct.codes[0]])


def _with_missing(mass: csr_array, missing: int) -> csr_array:
    """Masses of all codes, among them that of a missing value, which lies in the last bin."""
    if missing < mass.shape[0]:
        return mass
    last = csr_array(([1.0], ([0], [mass.shape[1] - 1])), shape=(1, mass.shape[1]))
    return csr_array(vstack([mass, last]))


SAMPLED = 100_000
"""Number of drawn rows on which classifiers are trained and the noise of associations is measured."""
UNIT = 1 << 30
"""Units of a row in which expected counts are summed, so that the sum is the same in any order."""


@dataclass(frozen=True)
class LargeUtility:
    """Utility of a release of a large table.

    Attributes
    ----------
    scores : dict of str to float or None
        Components; see `metrics.table_utility.TableUtility.score`.
    penalty : float
        Normalized certainty penalty of the quasi-identifiers.
    notes : tuple of Note
        What was measured on drawn rows.
    """

    scores: dict[str, float | None]
    penalty: float
    notes: tuple[Note, ...]


def large_utility(
    original: LargeRecords, released: LargeReleased, held_out: pd.DataFrame, target: str | None, seed: int
) -> LargeUtility:
    """Measure the utility of a release of a table that exceeds memory.

    Parameters
    ----------
    original : LargeRecords
        The records.
    released : LargeReleased
        The release, with all columns of the records.
    held_out : DataFrame
        Further real records, on which a classifier is tested; may be empty.
    target : str, optional
        The column that it predicts.
    seed : int
        Seed of the drawn rows, range queries and reference tables. Queries are those of a table in memory.

    Raises
    ------
    ValueError
        If the release lacks a column or holds a cell that cannot be read.
    """
    domains = {name: original.roles.domain(name) for name in original.columns}
    binned, penalty = BinnedTable.of_release(released, domains, original.roles.quasi_identifiers)
    rng = np.random.default_rng([seed, 1])
    counts, sample = _original(original, BinnedTable.of_records(original, domains), rng)
    scorer = CountedTableUtility(counts, sample, domains, held_out, target, np.random.default_rng(seed))
    released_counts, mass = _release(binned, rng)
    scores = scorer.score_counts(released_counts, DenseProfile(mass.toarray(), binned.starts))
    what = "classifiers and the noise of associations were" if scorer.held_out else "the noise of associations was"
    drawn = Note("drawn rows", numbers={"what": what, "rows": SAMPLED})
    return LargeUtility(scores, penalty, (drawn,) if max(original.rows, released.rows) > SAMPLED else ())


def _original(records: LargeRecords, binned: BinnedTable, rng: Generator) -> tuple[CountedProfile, pd.DataFrame]:
    """Profile of the records, and drawn rows; the table is read once."""
    counts, blocks = _counted(records, binned, _drawn(records.rows, rng), "original rows")
    return counts, pd.concat([records.frame(block) for block in blocks], ignore_index=True)


def _release(binned: BinnedTable, rng: Generator) -> tuple[CountedProfile, csr_array]:
    """Profile of a release, and the mass of drawn rows; the table is read once."""
    counts, blocks = _counted(binned.table, binned, _drawn(binned.table.rows, rng), "released rows")
    return counts, csr_array(vstack([binned.mass(block.columns) for block in blocks]))


def _counted(
    table: LargeRecords | LargeReleased, binned: BinnedTable, drawn: Integers, words: str
) -> tuple[CountedProfile, list[StoredBlock]]:
    """Profile of a table, and its rows at some positions."""
    joint, drawn_blocks = np.zeros((binned.bins, binned.bins), dtype=np.int64), []
    with progress(words, table.rows) as done:
        for part_joint, part_blocks, last_row in over_parts(table, partial(_counted_part, binned, drawn, done)):
            joint += part_joint
            drawn_blocks += part_blocks
            done.reach(last_row)
    return CountedProfile(joint / UNIT, binned.starts, table.rows), drawn_blocks


def _counted_part(
    binned: BinnedTable, drawn: Integers, done: Progress, table: LargeRecords | LargeReleased
) -> tuple[Integers, list[StoredBlock], int]:
    """Expected units of rows in each pair of bins, drawn rows, and the end of a part."""
    joint, blocks, end = np.zeros((binned.bins, binned.bins), dtype=np.int64), [], table.first_row
    for block in table.blocks(list(binned.domains)):
        mass = binned.mass(block.columns)
        joint += np.rint((mass.T @ mass).toarray() * UNIT).astype(np.int64)
        blocks.append(_rows(block, drawn))
        end = block.start + len(block)
        done.add(len(block))
    return joint, blocks, end


def _drawn(rows: int, rng: Generator) -> Integers:
    """Positions of drawn rows, ascending; all of them if they are few."""
    return np.arange(rows) if rows <= SAMPLED else np.sort(rng.choice(rows, SAMPLED, replace=False, shuffle=False))


def _rows(block: StoredBlock, positions: Integers) -> StoredBlock:
    """Those rows of a block that are at some positions in the table."""
    first, last = np.searchsorted(positions, [block.start, block.start + len(block)])
    inside = positions[first:last] - block.start
    return block.take(inside)
