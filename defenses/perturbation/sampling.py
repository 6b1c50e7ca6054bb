"""Simple random sampling."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from defenses.base import Block, BlockwiseDefense, Channel, RecordsInBlocks, ReleasePlan, block_sizes
from metrics.columns import Integers, check_real


class Sampling(BlockwiseDefense):
    """A simple random sample of the records, drawn without replacement; the sampled records keep their order.

    It guarantees nothing: a sampled record is released unchanged. Where the roles name the group or the person of each
    record, whole groups, or whole people, are sampled. In a pipeline it must then be the first step.

    Parameters
    ----------
    rate : float
        Sampling rate in (0, 1]; the sample has rate times the number of records, or of units, rounded, but at least
        1.

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
        size, channel = int(rows.sum()), Channel(sampling_rate=float(self.rate))
        units = records.whole_units()
        if units is not None:
            return self._whole(units, channel, rng)
        count = self._count(size)
        wanted = rng.multivariate_hypergeometric(rows, count, method="marginals") if size else rows

        def chosen(block: Block, rng: Generator) -> Integers:
            return np.sort(rng.choice(len(block), wanted[block.number], replace=False))

        return ReleasePlan((), channel, chosen)

    def _whole(self, units: Integers, channel: Channel, rng: Generator) -> ReleasePlan:
        """Sample whole units, given that of each record."""
        number = int(units.max()) + 1
        sampled = np.isin(units, rng.permutation(number)[: self._count(number)])

        def chosen(block: Block, rng: Generator) -> Integers:
            return np.flatnonzero(sampled[block.start : block.start + len(block)])

        return ReleasePlan((), channel, chosen)

    def _count(self, size: int) -> int:
        """Number of units that are sampled of so many."""
        return min(size, max(1, int(np.floor(self.rate * size + 0.5))))
