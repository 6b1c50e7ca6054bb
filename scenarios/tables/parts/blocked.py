"""Defenses that need all rows, applied to random blocks of rows."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import threadpoolctl
from numpy.random import SeedSequence
from numpy.typing import NDArray
from scipy.sparse import csr_array

from defenses import Guarantee, Microdata, MicrodataDefense, MicrodataRelease
from defenses.base import (
    CellList,
    ReleasedBlock,
    StoredBlock,
    block_generator,
    guarantee_of_parts,
)
from defenses.grouping.constraints import ConstrainsValues, Constraint, SensitiveColumn, all_hold
from leaderboard.pages.number_text import counted as counted_text
from metrics import NumericDomain, TableUtility
from metrics.columns import Booleans, Integers, require
from scenarios.tables.parts.files.bucket_file import BucketFile
from scenarios.tables.parts.files.output_files import private_folder
from scenarios.tables.parts.records import CodedValues, LargeRecords
from scenarios.tables.parts.released_blocks import InOrder, LargeRelease, released_block

# Which block each row of a table draws, so that a defense can release every block by itself.


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

    def numbered(self, blocks: Iterable[StoredBlock]) -> Iterator[tuple[StoredBlock, Integers]]:
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
    totals = {name: records.columns[name].counts for name in constrained}
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
        f"{counted_text(drawn - joined.size, 'block')} did not have {demanded} and joined another; the largest "
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


LEAST_ROWS = 100
"""Least mean number of rows of a block."""
SAMPLED_BLOCKS, SAMPLED_ROWS = 4, 20_000
"""Number of blocks on which the loss is measured, and the number of rows up to which further ones join them."""


@dataclass(frozen=True)
class _Releasing:
    """Releases the rows of one random block, in this process or another.

    Parameters
    ----------
    defense : MicrodataDefense
        The defense.
    values : CodedValues
        What the codes of rows stand for.
    root : SeedSequence
        Root of the random generators.
    kinds : mapping of str to dtype
        Type of each released column.
    """

    defense: MicrodataDefense
    values: CodedValues
    root: SeedSequence
    kinds: Mapping[str, np.dtype[Any]]

    def __call__(self, task: tuple[int, NDArray[Any]]) -> tuple[ReleasedBlock, dict[str, CellList], Guarantee]:
        """Release a block, given its number and its stored rows; its lists of cells, and its guarantee."""
        number, bucket = task
        stored = {name: np.ascontiguousarray(bucket[f"c{i}"]) for i, name in enumerate(self.values.values)}
        table = self.values.records(StoredBlock(number, 0, stored))
        release = _applied(self.defense, table, self.root, number)
        origin = np.where(release.origin < 0, -1, bucket["origin"][release.origin])
        cells = {name: CellList() for name, kind in self.kinds.items() if kind.kind == "O"}
        return released_block(release.frame, origin, number, self.kinds, cells), cells, self.defense.guarantee(table)


def blocked(
    defense: MicrodataDefense, records: LargeRecords, root: SeedSequence, rows: int, in_order: InOrder = map
) -> LargeRelease:
    """Release of a defense that is applied to random blocks of rows, each as a table of its own.

    Meanwhile the records are in a private temporary folder, as codes without the values that they stand for. Numbers
    that are nearly all distinct are kept as they are.

    Parameters
    ----------
    defense : MicrodataDefense
        The defense.
    records : LargeRecords
        The records.
    root : SeedSequence
        Root of the random generators.
    rows : int
        Mean number of rows of a block.
    in_order : callable
        Where the blocks are released; the release does not depend on it.

    Raises
    ------
    ValueError
        If the blocks are too small, or the parameters do not fit the records.

    Notes
    -----
    Guarantee: what `guarantee_of_parts` makes of the blocks' guarantees. Blocks: see
    `scenarios.tables.parts.blocked`.
    """
    require(rows >= LEAST_ROWS, f"--blocks {rows}: blocks must have at least {LEAST_ROWS} rows")
    defense.check(records.counted)
    drawn = draw_blocks(defense, records, root, rows)
    in_blocks, loss = _on_a_sample(defense, _sample(records, drawn), root)
    kinds = {str(name): _kind(records, str(name), column) for name, column in in_blocks.items()}
    cells = {name: CellList() for name, kind in kinds.items() if kind.kind == "O"}
    guarantees: dict[int, Guarantee] = {}

    def blocks() -> Iterator[ReleasedBlock]:
        # Sums of linear algebra depend on the number of threads, and a release must not.
        with private_folder() as folder, threadpoolctl.threadpool_limits(1):
            bucketed = BucketFile(
                folder / "rows", tuple(records.columns), drawn.sizes.size, root, origins=True, purpose="blocks"
            )
            for block, numbers in drawn.numbered(records.blocks()):
                origin = np.arange(block.start, block.start + len(block))
                bucketed.place(ReleasedBlock(block.number, block.columns, origin), numbers)
            filled = (task for task in enumerate(bucketed.permuted()) if task[1].size)
            for block, listed, kept in in_order(_Releasing(defense, records.values, root, kinds), filled):
                guarantees[block.number] = kept
                codes = {name: cells[name].codes(listed[name].cells)[block.columns[name]] for name in cells}
                yield replace(block, columns={**block.columns, **codes})

    def guarantee() -> Guarantee:
        made = f"made in random blocks of about {rows:,} rows"
        return guarantee_of_parts(records.roles, list(guarantees.values()), made)

    return LargeRelease(tuple(kinds), cells, blocks, records.rows, guarantee, None, (*drawn.notes, loss))


def _applied(defense: MicrodataDefense, block: Microdata, root: SeedSequence, number: int) -> MicrodataRelease:
    try:
        return defense.apply(block, block_generator(root, "rows", number))
    except ValueError as error:
        raise ValueError(f"a block of {len(block):,} rows: {error}; --blocks may be larger") from None


def _kind(records: LargeRecords, name: str, released: pd.Series[Any]) -> np.dtype[Any]:
    """Type of a released column. Means of integers are fractions, unless the domain holds integers only."""
    if not pd.api.types.is_numeric_dtype(released) or pd.api.types.is_bool_dtype(released):
        return np.dtype(object)
    domain = records.roles.domains.get(name)
    exact = released.dtype.kind in "iu" and (not isinstance(domain, NumericDomain) or domain.integer)
    return np.dtype(np.int64 if exact else np.float64)


def _sample(records: LargeRecords, drawn: DrawnBlocks) -> list[Microdata]:
    """The first blocks: at most `SAMPLED_BLOCKS`, and no further one beyond `SAMPLED_ROWS` rows."""
    fitting = np.count_nonzero(np.cumsum(drawn.sizes) <= SAMPLED_ROWS)
    count = max(1, min(int(fitting), SAMPLED_BLOCKS))
    parts: list[dict[str, list[NDArray[Any]]]] = [{name: [] for name in records.columns} for _ in range(count)]
    for block, numbers in drawn.numbered(records.blocks()):
        for number, part in enumerate(parts):
            for name, stored in block.columns.items():
                part[name].append(stored[numbers == number])
    return [
        records.records(StoredBlock(number, 0, {name: np.concatenate(stored) for name, stored in part.items()}))
        for number, part in enumerate(parts)
    ]


def _on_a_sample(defense: MicrodataDefense, parts: Sequence[Microdata], root: SeedSequence) -> tuple[pd.DataFrame, str]:
    """Release of some blocks, and its utility in words, beside that of their records as one table."""
    released = [_applied(defense, part, root, number).frame for number, part in enumerate(parts)]
    in_blocks = pd.concat(released, ignore_index=True)
    sample = parts[0].with_frame(pd.concat([part.frame for part in parts], ignore_index=True))
    whole = in_blocks if len(parts) == 1 else _applied(defense, sample, root, len(parts)).frame
    domains = {name: sample.domains[name] for name in whole.columns if name in sample.domains}
    utility = TableUtility(sample.frame, domains, sample.frame.head(0), None, block_generator(root, "utility"))
    components = (utility.score(frame) for frame in (in_blocks, whole))
    measured = ([one[name] for name in ("marginals", "associations", "queries")] for one in components)
    scores = [np.mean([value for value in values if value is not None]) for values in measured]
    return in_blocks, (
        f"loss by the blocks, on {len(sample):,} rows in {counted_text(len(parts), 'block')}: utility {scores[0]:.3f} "
        f"in blocks, {scores[1]:.3f} as one table (1 is the original)"
    )
