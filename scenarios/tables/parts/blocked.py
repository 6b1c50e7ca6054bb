"""Defenses that need all rows, applied to random blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import SeedSequence
from numpy.typing import NDArray

from defenses import Guarantee, Microdata, MicrodataDefense, MicrodataRelease
from defenses.base import promise_of_parts
from leaderboard.pages.number_text import counted as counted_text
from metrics import NumericDomain, TableUtility
from scenarios.tables.parts.drawn_blocks import DrawnBlocks, draw_blocks
from scenarios.tables.parts.files.private_folder import private_folder
from scenarios.tables.parts.files.spool import Spool, block_generator
from scenarios.tables.parts.records import Block, LargeRecords
from scenarios.tables.parts.released_blocks import CellList, LargeRelease, ReleasedBlock
from scenarios.tables.parts.rowwise.steps import counted, released_block

LEAST_ROWS = 100
"""Least mean number of rows of a block."""
SAMPLED_BLOCKS, SAMPLED_ROWS = 4, 20_000
"""Number of blocks on which the loss is measured, and the number of rows up to which further ones join them."""


def blocked(defense: MicrodataDefense, records: LargeRecords, root: SeedSequence, rows: int) -> LargeRelease:
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

    Raises
    ------
    ValueError
        If the blocks are too small, or the parameters do not fit the records.

    Notes
    -----
    Guarantee: what `promise_of_parts` makes of the blocks' guarantees. Blocks: see
    `scenarios.tables.parts.drawn_blocks`.
    """
    if rows < LEAST_ROWS:
        raise ValueError(f"--blocks {rows}: blocks must have at least {LEAST_ROWS} rows")
    defense.check(counted(records))
    drawn = draw_blocks(defense, records, root, rows)
    in_blocks, loss = _on_a_sample(defense, _sample(records, drawn), root)
    kinds = {str(name): _kind(records, str(name), column) for name, column in in_blocks.items()}
    cells = {name: CellList() for name, kind in kinds.items() if kind.kind == "O"}
    promises: dict[int, Guarantee] = {}

    def blocks() -> Iterator[ReleasedBlock]:
        with private_folder() as folder:
            spool = Spool(folder / "rows", tuple(records.columns), drawn.count, root, origins=True, purpose="blocks")
            for block, numbers in drawn.numbered(records.blocks()):
                origin = np.arange(block.start, block.start + len(block))
                spool.place(ReleasedBlock(block.number, block.columns, origin), numbers)
            for number, bucket in enumerate(spool.permuted()):
                if bucket.size:
                    stored = {name: np.ascontiguousarray(bucket[f"c{i}"]) for i, name in enumerate(records.columns)}
                    table = records.records(Block(number, 0, stored))
                    release = _applied(defense, table, root, number)
                    promises[number] = defense.guarantee(table)
                    origin = np.where(release.origin < 0, -1, bucket["origin"][release.origin])
                    yield released_block(release.frame, origin, number, kinds, cells)

    def promise() -> Guarantee:
        made = f"made in random blocks of about {rows:,} rows"
        return promise_of_parts(records.roles, list(promises.values()), made)

    return LargeRelease(tuple(kinds), cells, blocks, records.rows, promise, None, (*drawn.notes, loss))


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
        records.records(Block(number, 0, {name: np.concatenate(stored) for name, stored in part.items()}))
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
    scores = [_mean(utility.score(frame)) for frame in (in_blocks, whole)]
    return in_blocks, (
        f"loss by the blocks, on {len(sample):,} rows in {counted_text(len(parts), 'block')}: utility {scores[0]:.3f} "
        f"in blocks, {scores[1]:.3f} as one table (1 is the original)"
    )


def _mean(components: dict[str, float | None]) -> float:
    values = [components[name] for name in ("marginals", "associations", "queries")]
    return float(np.mean([value for value in values if value is not None]))
