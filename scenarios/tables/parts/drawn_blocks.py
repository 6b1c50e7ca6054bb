"""Which block each row of a table draws, so that a defense can release every block by itself."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from numpy.random import SeedSequence
from scipy.sparse import csr_array

from defenses.base import MicrodataDefense
from defenses.grouping.constraints import ConstrainsValues, Constraint, SensitiveColumn, all_hold
from leaderboard.pages.number_text import counted
from metrics.columns import Booleans, Integers
from scenarios.tables.parts.files.spool import block_generator
from scenarios.tables.parts.records import Block, LargeRecords
from scenarios.tables.parts.rowwise.steps import code_counts


@dataclass(frozen=True)
class DrawnBlocks:
    """Random blocks of rows.

    Attributes
    ----------
    root : SeedSequence
        Root of the random generators.
    drawn : int
        Number of blocks that rows draw.
    number : ndarray of int, shape (drawn,)
        Block that each drawn block is part of; less than `drawn` where blocks are joined.
    sizes : ndarray of int, shape (count,)
        Number of rows of each block, or about so.
    dealt : str or None
        Sensitive column whose values are dealt evenly.
    turns : ndarray of int
        Random turn of each round of dealing.
    firsts : ndarray of int
        Number of rows with a value of a lower code, by code of the dealt column.
    notes : tuple of str
        What the publisher should know.
    """

    root: SeedSequence = field(repr=False)
    drawn: int
    number: Integers = field(repr=False)
    sizes: Integers = field(repr=False)
    dealt: str | None = None
    turns: Integers = field(default_factory=lambda: np.empty(0, dtype=np.intp), repr=False)
    firsts: Integers = field(default_factory=lambda: np.empty(0, dtype=np.intp), repr=False)
    notes: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """Number of blocks."""
        return int(self.sizes.size)

    def numbered(self, blocks: Iterable[Block]) -> Iterator[tuple[Block, Integers]]:
        """Blocks of records in the order of the table, each with the random block of every row."""
        places = self.firsts.copy()
        for block in blocks:
            if self.dealt is None:
                rng = block_generator(self.root, "blocks: bucket", block.number)
                drawn = rng.integers(self.drawn, size=len(block))
            else:
                codes = block.columns[self.dealt]
                # Rows of a code follow those before them.
                place = places[codes] + pd.Series(codes).groupby(codes).cumcount().to_numpy()
                places += np.bincount(codes, minlength=places.size)
                drawn = (place + self.turns[place // self.drawn]) % self.drawn
            yield block, self.number[drawn]


def draw_blocks(defense: MicrodataDefense, records: LargeRecords, root: SeedSequence, rows: int) -> DrawnBlocks:
    """Draw random blocks of rows that the defense can release.

    Parameters
    ----------
    defense : MicrodataDefense
        The defense, which can release the whole table.
    records : LargeRecords
        The records.
    root : SeedSequence
        Root of the random generators.
    rows : int
        Mean number of rows of a block.

    Notes
    -----
    Each row draws its block, whatever its values, unless the defense constrains sensitive values: l-diversity, say,
    cannot be had where one value is too frequent. Then the values are dealt. Rows are numbered by value; each round of
    consecutive numbers gives one row to every block, and starts at a random block. The counts of a value in two blocks
    differ by at most 1. Where rounding or a further sensitive column still spoils a block, it is joined with others. A
    constraint that two blocks satisfy holds for both together, and the table as a whole satisfies it, so that this
    ends.
    """
    drawn = max(1, round(records.rows / rows))
    each, expected = np.arange(drawn), np.full(drawn, records.rows // drawn)
    constrained = _constrained(defense, records)
    if not constrained:
        return DrawnBlocks(root, drawn, each, expected)
    totals = {name: code_counts(records.columns[name]) for name in constrained}
    dealt = max(totals, key=lambda name: int(totals[name].max()))
    rounds = -(-records.rows // drawn)
    turns = block_generator(root, "blocks: turns").integers(drawn, size=rounds)
    firsts = np.cumsum(totals[dealt]) - totals[dealt]
    plan = DrawnBlocks(root, drawn, each, expected, dealt, turns, firsts)
    number = _joined(plan, records, constrained, totals)
    joined = np.bincount(number)
    sizes = joined * records.rows // drawn
    demanded = " and ".join(dict.fromkeys(str(each) for demands in constrained.values() for each in demands))
    note = (
        f"{counted(drawn - joined.size, 'block')} did not have {demanded} and joined another; the largest "
        f"has about {int(sizes.max()):,} rows"
    )
    return replace(plan, number=number, sizes=sizes, notes=(note,) if joined.size < drawn else ())


def _constrained(defense: MicrodataDefense, records: LargeRecords) -> dict[str, tuple[Constraint, ...]]:
    """Constraints on the values of each column in every block; nearly distinct numbers satisfy them."""
    demanded = defense.value_constraints(records.roles) if isinstance(defense, ConstrainsValues) else {}
    return {name: demands for name, demands in demanded.items() if not records.columns[name].numbers_only}


def _joined(
    plan: DrawnBlocks,
    records: LargeRecords,
    constrained: Mapping[str, tuple[Constraint, ...]],
    totals: Mapping[str, Integers],
) -> Integers:
    """Number of the block that each drawn block is part of, so that every block satisfies the constraints."""
    histograms = {name: csr_array((plan.drawn, counts.size), dtype=np.int64) for name, counts in totals.items()}
    for block, numbers in plan.numbered(records.blocks(list(constrained))):
        for name, counts in totals.items():
            one = (np.ones_like(numbers), (numbers, block.columns[name]))
            histograms[name] = histograms[name] + csr_array(one, shape=(plan.drawn, counts.size))
    columns = {name: SensitiveColumn(name, np.empty(0, dtype=np.intp), counts) for name, counts in totals.items()}

    def satisfied(name: str, histogram: csr_array) -> Booleans:
        # A block is 0-close to itself.
        demands = [each for each in constrained[name] if each.kept_in_parts]
        return all_hold(demands, [columns[name]], [histogram], histogram.shape[0])

    def good(group: list[int]) -> bool:
        return all(satisfied(name, csr_array(each[group].sum(axis=0)[None, :]))[0] for name, each in histograms.items())

    holds = np.all([satisfied(name, each) for name, each in histograms.items()], axis=0)
    waiting = [[int(number)] for number in np.flatnonzero(~holds)]
    groups = deque([int(number)] for number in np.flatnonzero(holds))
    while waiting:
        group = waiting.pop()
        if not groups and not waiting:
            groups.append(group)
            break
        group = group + (groups.popleft() if groups else waiting.pop())
        (groups if good(group) else waiting).append(group)
    number = np.empty(plan.drawn, dtype=np.intp)
    for new, group in enumerate(sorted(groups)):
        number[group] = new
    return number
