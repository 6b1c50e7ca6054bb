"""Release of a random sample, from all records or from each stratum."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from defenses.base import (
    Block,
    BlockwiseDefense,
    Channel,
    Needs,
    RecordsInBlocks,
    ReleasePlan,
    block_sizes,
    check_columns,
    chosen_columns,
)
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


class StratifiedSampling(BlockwiseDefense):
    """A random sample with the same sampling rate in every stratum; the sampled records keep their order.

    It guarantees nothing: a sampled record is released unchanged.

    Parameters
    ----------
    by : str
        The column whose values are the strata; missing values form a stratum of their own.
    rate : float
        Inclusion probability of every record, in (0, 1].

    Raises
    ------
    ValueError
        If the rate lies outside (0, 1]. On `apply`, if there is no such column.

    Notes
    -----
    Records are ordered by stratum. With U uniform on [0, 1), a stratum from position i to j has floor(rate j + U) -
    floor(rate i + U) sampled records: rate (j - i), rounded up or down, and so has the table. These are a simple random
    sample of the stratum, so that each record is sampled with probability `rate` exactly. A small stratum may have no
    sampled record.

    The number sampled from the next block of the table is hypergeometric, given the numbers of the stratum's records
    that are still to be read and still to be sampled. All sets of that many records are then equally likely.

    References
    ----------
    Särndal, Swensson and Wretman (1992), Model Assisted Survey Sampling, sections 3.4 and 3.7.
    """

    needs: Needs = "histograms"

    def __init__(self, *, by: str, rate: float = 0.5) -> None:
        check_columns([by])
        self.rate = check_real("rate", rate, low=0, high=1, open_low=True)
        self.by = by

    def fit(self, records: RecordsInBlocks, rng: Generator) -> ReleasePlan:
        """Draw how many records of each stratum are sampled, and how many of them in each block."""
        (name,) = chosen_columns(records.counted, [self.by], ())
        counts = records.column(name).counts
        ends = np.floor(self.rate * np.append(0, np.cumsum(counts)) + rng.random())
        wanted = np.minimum(np.diff(ends).astype(np.int64), counts)
        taken = []
        left = counts.astype(np.int64)
        for block in records.blocks([name]):
            sizes = np.bincount(block.codes(name), minlength=left.size)
            # numpy draws no sample of nothing.
            some = np.flatnonzero((sizes > 0) & (wanted > 0))
            drawn = rng.hypergeometric(wanted[some], left[some] - wanted[some], sizes[some])
            wanted[some] -= drawn
            left -= sizes
            taken.append((some, drawn))

        def chosen(block: Block, rng: Generator) -> Integers:
            strata = block.codes(name)
            sizes = np.bincount(strata, minlength=counts.size)
            size = np.zeros(counts.size, dtype=np.int64)
            size[taken[block.number][0]] = taken[block.number][1]
            order = np.lexsort((rng.random(strata.size), strata))
            place = np.arange(strata.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            return np.sort(order[place < size[strata[order]]])

        return ReleasePlan((), Channel(sampling_rate=float(self.rate)), chosen)
