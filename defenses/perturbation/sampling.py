"""Simple random sampling."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from defenses.base import Block, BlockwiseDefense, Channel, RecordsInBlocks, ReleasePlan, block_sizes
from metrics.columns import Integers, check_real


class Sampling(BlockwiseDefense):
    """A simple random sample of the records, drawn without replacement; the sampled records keep their order.

    It guarantees nothing: a sampled record is released unchanged.

    Parameters
    ----------
    rate : float
        Sampling rate in (0, 1]; the sample has rate times the number of records, rounded, but at least 1.

    Raises
    ------
    ValueError
        If the rate lies outside (0, 1].
    """

    called = ("Simple random sampling", "SRS", "Subsampling")

    def __init__(self, *, rate: float = 0.5) -> None:
        self.rate = check_real("rate", rate, low=0, high=1, open_low=True)

    def fit(self, records: RecordsInBlocks, rng: Generator) -> ReleasePlan:
        """Draw how many records of each block are sampled."""
        rows = np.array(block_sizes(len(records.counted)), dtype=np.int64)
        size = int(rows.sum())
        count = min(size, max(1, int(np.floor(self.rate * size + 0.5))))
        wanted = rng.multivariate_hypergeometric(rows, count, method="marginals") if size else rows

        def chosen(block: Block, rng: Generator) -> Integers:
            return np.sort(rng.choice(len(block), wanted[block.number], replace=False))

        return ReleasePlan((), Channel(sampling_rate=float(self.rate)), chosen)
