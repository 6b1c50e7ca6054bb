"""Utility of a release of a table that exceeds memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from numpy.random import Generator
from scipy.sparse import csr_array, vstack

from metrics.arrays import Integers
from metrics.counted_profile import CountedProfile
from metrics.counted_table_utility import CountedTableUtility
from metrics.profile import DenseProfile
from scenarios.tables.parts.binned_table import BinnedTable
from scenarios.tables.parts.progress import Progress, progress
from scenarios.tables.parts.records import Block, LargeRecords, over_parts
from scenarios.tables.parts.released import LargeReleased

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
    notes : tuple of str
        What was measured on drawn rows.
    """

    scores: dict[str, float | None]
    penalty: float
    notes: tuple[str, ...]


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
    notes = []
    if max(original.rows, released.rows) > SAMPLED:
        what = "classifiers and the noise of associations were" if scorer.held_out else "the noise of associations was"
        notes.append(f"{what} measured on {SAMPLED:,} drawn rows")
    return LargeUtility(scores, penalty, tuple(notes))


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
) -> tuple[CountedProfile, list[Block]]:
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
) -> tuple[Integers, list[Block], int]:
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


def _rows(block: Block, positions: Integers) -> Block:
    """Those rows of a block that are at some positions in the table."""
    first, last = np.searchsorted(positions, [block.start, block.start + len(block)])
    inside = positions[first:last] - block.start
    return Block(block.number, block.start, {name: stored[inside] for name, stored in block.columns.items()})
