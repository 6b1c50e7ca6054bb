"""Local hashing: each person draws a hash function and answers by randomized response on its few buckets."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.ldp.frequency_oracle import Part, PureOracle, ReportBatch, numbers_to
from defenses.ldp.hashing import buckets, hits
from metrics.arrays import Booleans, Integers64

# More buckets than this spare no variance that could be measured, and would bend the probabilities 1/g.
_MOST_BUCKETS = 1 << 16


class LocalHashing(PureOracle):
    """Draws a hash function into g buckets and sends it with one's bucket, randomized over the g buckets.

    The function is drawn without regard to the value, so that the report's guarantee is that of randomized response on
    g values, epsilon. A report supports every value that its function maps to the bucket sent: the own one with
    p = e^epsilon/(e^epsilon + g - 1), another with q = 1/g, since a fresh function maps it to any bucket alike.

    Parameters
    ----------
    epsilon : float
        Privacy of one report, in [1e-6, 100].
    d : int
        Number of values, at least 2.
    """

    @property
    @abstractmethod
    def buckets(self) -> int:
        """Number of buckets g."""

    @property
    def p(self) -> float:
        """Probability of the own bucket."""
        return float(np.exp(self.epsilon) / (np.exp(self.epsilon) + self.buckets - 1))

    @property
    def q(self) -> float:
        """Probability that a value that is not the own falls into the bucket sent."""
        return 1 / self.buckets

    @property
    def report_bits(self) -> int:
        """A 64-bit seed and a bucket."""
        return 64 + (self.buckets - 1).bit_length()

    @property
    def parts(self) -> dict[str, Part]:
        """The hash function's seed, and the bucket sent."""
        return {"seed": Part(np.uint64), "bucket": numbers_to(self.buckets - 1)}

    def _randomized(self, values: Integers64, rng: Generator) -> dict[str, NDArray[Any]]:
        g = self.buckets
        seeds = rng.integers(1 << 64, size=values.size, dtype=np.uint64)
        sent = buckets(seeds, values, g)
        liars = np.flatnonzero(rng.random(values.size) < (g - 1) / (np.exp(self.epsilon) + g - 1))
        sent[liars] = (sent[liars] + rng.integers(1, g, size=liars.size)) % g
        return {"seed": seeds, "bucket": sent.astype(self.parts["bucket"].dtype)}

    def supports(self, reports: ReportBatch) -> Booleans:
        """Which values each report's function maps to its bucket, shape (n, d)."""
        self.check_reports(reports)
        mapped = buckets(reports.parts["seed"][:, None], np.arange(self.d), self.buckets)
        return np.asarray(mapped == reports.parts["bucket"][:, None])

    def support_counts(self, reports: ReportBatch) -> Integers64:
        """How many reports' functions map each value to their bucket, shape (d,), in n d steps."""
        return hits(reports.parts["seed"], reports.parts["bucket"], self.buckets, self.d)


class BinaryLocalHashing(LocalHashing):
    """Local hashing into two buckets: one randomized bit.

    Parameters
    ----------
    epsilon : float
        Privacy of one report, in [1e-6, 100].
    d : int
        Number of values, at least 2.

    References
    ----------
    Bassily and Smith (2015); Wang et al. (2017), section 4.4.
    """

    @property
    def buckets(self) -> int:
        """Two."""
        return 2


class OptimizedLocalHashing(LocalHashing):
    """Local hashing into g = round(e^epsilon) + 1 buckets, the number of least variance for rare values.

    The variance q(1 - q)/(p - q)^2 = (e^epsilon + g - 1)^2/((g - 1)(e^epsilon - 1)^2) is least at g = e^epsilon + 1,
    where it is 4 e^epsilon/(e^epsilon - 1)^2, that of `OptimizedUnaryEncoding`, at 64 bits instead of d. Above
    epsilon = 11 the number stays at 65,536.

    Parameters
    ----------
    epsilon : float
        Privacy of one report, in [1e-6, 100].
    d : int
        Number of values, at least 2.

    References
    ----------
    Wang et al. (2017), section 4.4.
    """

    @property
    def buckets(self) -> int:
        """Number of buckets g."""
        return min(round(float(np.exp(self.epsilon))) + 1, _MOST_BUCKETS)
