"""Defenses that need all rows, applied to random blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import SeedSequence
from numpy.typing import NDArray

from defenses.base.defense import MicrodataDefense
from defenses.base.guarantee import Guarantee
from defenses.base.microdata import Microdata
from defenses.base.release import MicrodataRelease
from metrics.domains import NumericDomain
from metrics.table_utility import TableUtility
from scenarios.large.private_folder import private_folder
from scenarios.large.records import Block, LargeRecords
from scenarios.large.released_blocks import CellList, LargeRelease, ReleasedBlock
from scenarios.large.rowwise.independent import released_block
from scenarios.large.rowwise.samples import selection
from scenarios.large.rowwise.steps import counted
from scenarios.large.seeds import block_generator
from scenarios.large.spool import Spool

LEAST_ROWS = 100
"""Least mean number of rows of a block."""
SAMPLED_BLOCKS, SAMPLED_ROWS = 4, 20_000
"""Number of blocks in the sample on which the loss is measured, and the largest number of its rows."""


def blocked(defense: MicrodataDefense, records: LargeRecords, root: SeedSequence, rows: int) -> LargeRelease:
    """Release of a defense that is applied to random blocks of rows, each as a table of its own.

    Each record draws its block, whatever its values. Meanwhile the records are in a private temporary folder, as codes
    without the values that they stand for. Numbers that are nearly all distinct are kept as they are.

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
    Guarantee: k-anonymity. If every record of a block shares its quasi-identifiers with at least k - 1 others of that
    block, it does so in the whole release. No other promise is made: a promise about a block's distribution, such as
    t-closeness, says nothing about the table's.
    """
    if rows < LEAST_ROWS:
        raise ValueError(f"--blocks {rows}: blocks must have at least {LEAST_ROWS} rows")
    defense.check(counted(records))
    sample = _sample(records, root, min(records.rows, SAMPLED_BLOCKS * rows, SAMPLED_ROWS))
    in_blocks, loss = _on_a_sample(defense, sample, root, rows)
    kinds = {str(name): _kind(records, str(name), column) for name, column in in_blocks.items()}
    cells = {name: CellList() for name, kind in kinds.items() if kind.kind == "O"}

    def blocks() -> Iterator[ReleasedBlock]:
        with private_folder() as folder:
            count = max(1, round(records.rows / rows))
            spool = Spool(folder / "rows", tuple(records.columns), count, root, origins=True, purpose="blocks")
            for block in records.blocks():
                origin = np.arange(block.start, block.start + len(block))
                spool.add(ReleasedBlock(block.number, block.columns, origin))
            for number, bucket in enumerate(spool.permuted()):
                if bucket.size:
                    stored = {name: np.ascontiguousarray(bucket[f"c{i}"]) for i, name in enumerate(records.columns)}
                    release = _applied(defense, records.records(Block(number, 0, stored)), root, number)
                    origin = np.where(release.origin < 0, -1, bucket["origin"][release.origin])
                    yield released_block(release.frame, origin, number, kinds, cells)

    promise = _promise(defense.guarantee(counted(records)), f"in random blocks of about {rows:,} rows")
    return LargeRelease(tuple(kinds), cells, blocks, records.rows, promise, None, (loss,))


def _applied(defense: MicrodataDefense, block: Microdata, root: SeedSequence, number: int) -> MicrodataRelease:
    try:
        return defense.apply(block, block_generator(root, "rows", number))
    except ValueError as error:
        raise ValueError(f"a block of {len(block):,} rows: {error}; --blocks may be larger") from None


def _promise(promised: Guarantee, about: str) -> Guarantee:
    if promised.k is None:
        return Guarantee(statement=f"none: the method was applied {about}, each as a table of its own")
    return Guarantee(k=promised.k, statement=", ".join(filter(None, [promised.statement, f"made {about}"])))


def _kind(records: LargeRecords, name: str, released: pd.Series[Any]) -> np.dtype[Any]:
    """Type of a released column. Means of integers are fractions, unless the domain holds integers only."""
    if not pd.api.types.is_numeric_dtype(released) or pd.api.types.is_bool_dtype(released):
        return np.dtype(object)
    domain = records.roles.domains.get(name)
    exact = released.dtype.kind in "iu" and (not isinstance(domain, NumericDomain) or domain.integer)
    return np.dtype(np.int64 if exact else np.float64)


def _sample(records: LargeRecords, root: SeedSequence, size: int) -> Microdata:
    """A simple random sample of the records in random order."""
    select = selection(records.rows, size, root, "loss")
    chosen: list[dict[str, NDArray[Any]]] = []
    for block in records.blocks():
        rows = select(block)
        chosen.append({name: stored[rows] for name, stored in block.columns.items()})
    order = block_generator(root, "loss").permutation(size)
    columns = {name: np.concatenate([part[name] for part in chosen])[order] for name in records.columns}
    return records.records(Block(0, 0, columns))


def _on_a_sample(
    defense: MicrodataDefense, sample: Microdata, root: SeedSequence, rows: int
) -> tuple[pd.DataFrame, str]:
    """Release of a sample in blocks, and its utility in words, beside that of the sample as one table."""
    count = max(1, len(sample) // rows)
    parts = np.array_split(np.arange(len(sample)), count)
    released = [_applied(defense, sample.take(part), root, number).frame for number, part in enumerate(parts)]
    in_blocks = pd.concat(released, ignore_index=True)
    whole = _applied(defense, sample, root, count).frame
    domains = {name: sample.domains[name] for name in whole.columns if name in sample.domains}
    utility = TableUtility(sample.frame, domains, sample.frame.head(0), None, block_generator(root, "utility"))
    scores = [_mean(utility.score(frame)) for frame in (in_blocks, whole)]
    return in_blocks, (
        f"loss by the blocks, on a sample of {len(sample):,} rows: utility {scores[0]:.3f} in blocks of "
        f"{len(parts[0]):,} rows, {scores[1]:.3f} as one table (1 is the original)"
    )


def _mean(components: dict[str, float | None]) -> float:
    values = [components[name] for name in ("marginals", "associations", "queries")]
    return float(np.mean([value for value in values if value is not None]))
