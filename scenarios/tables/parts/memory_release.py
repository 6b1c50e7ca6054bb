"""Releases of tables in memory, with the rows that a release in parts has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.random import SeedSequence

from defenses import Microdata, MicrodataDefense, MicrodataRelease
from defenses.base import BlockwiseDefense, RecordsInMemory, applied, block_generator


def is_planned(defense: MicrodataDefense) -> bool:
    """Whether a defense releases tables by its plan alone; a subclass may apply something else."""
    return isinstance(defense, BlockwiseDefense) and type(defense).apply is BlockwiseDefense.apply


def release_in_memory(defense: MicrodataDefense, records: Microdata, root: SeedSequence) -> MicrodataRelease:
    """Release of records in memory; it has the rows that a release in parts has."""
    table = RecordsInMemory(records)
    if isinstance(defense, BlockwiseDefense) and is_planned(defense):
        return table.released(defense.fit(table, block_generator(root, "fit")), root)
    if defense.columnwise or not defense.randomizes_records_independently:
        whole: MicrodataRelease = applied(defense, records, block_generator(root, "fit"))
        return whole
    blocks = list(table.blocks())
    made: list[MicrodataRelease] = [
        applied(defense, table.records(block), block_generator(root, "rows", block.number)) for block in blocks
    ]
    if len(made) == 1:
        return made[0]
    origin = np.concatenate([each.origin + block.start for each, block in zip(made, blocks, strict=True)])
    return replace(
        made[0], frame=pd.concat([each.frame for each in made], ignore_index=True), origin=origin, analysis=None
    )
