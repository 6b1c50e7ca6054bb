"""Local hashing: each person draws a hash function and sends the value's bucket by randomized response."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.ldp.encoding.hashing import buckets, hits
from defenses.ldp.frequency_oracle import Part, PureOracle, ReportBatch, numbers_to
from metrics.columns import Booleans, Integers64

# More buckets would not reduce the variance measurably, and would make the probabilities 1/g inexact.
_MOST_BUCKETS = 1 << 16


class LocalHashing(PureOracle):
    """Local hashing: a person sends a random hash function into g buckets, and the randomized bucket of the value.

    The function is drawn independently of the value, so that the report's guarantee is that of randomized response on g
    values, epsilon. A report supports every value that its function maps to the reported bucket. It supports the
    person's value with p = e^epsilon/(e^epsilon + g - 1). Another value it supports with q = 1/g, because a fresh
    function maps it to each bucket with equal probability.

    - epsilon: Privacy of one report, in [1e-6, 100].
    - d: Number of values, at least 2.
    """

    @property
    @abstractmethod
    def buckets(self) -> int:
        """Number of buckets g."""

    @property
    def p(self) -> float:
        """Probability that the reported bucket is that of the own value."""
        return float(np.exp(self.epsilon) / (np.exp(self.epsilon) + self.buckets - 1))

    @property
    def q(self) -> float:
        """Probability that a given other value falls into the reported bucket."""
        return 1 / self.buckets

    @property
    def parts(self) -> dict[str, Part]:
        """The hash function's seed, and the reported bucket."""
        return {"seed": Part(np.uint64, bits=64), "bucket": numbers_to(self.buckets - 1)}

    def _randomized(self, values: Integers64, rng: Generator) -> dict[str, NDArray[Any]]:
        g = self.buckets
        seeds = rng.integers(1 << 64, size=values.size, dtype=np.uint64)
        sent = buckets(seeds, values, g)
        liars = np.flatnonzero(rng.random(values.size) < (g - 1) / (np.exp(self.epsilon) + g - 1))
        sent[liars] = (sent[liars] + rng.integers(1, g, size=liars.size)) % g
        return {"seed": seeds, "bucket": sent.astype(self.parts["bucket"].dtype)}

    def supports(self, reports: ReportBatch) -> Booleans:
        """Return for each report and value whether the function maps the value to the bucket, shape (n, d)."""
        self.check_reports(reports)
        hashed = buckets(reports.parts["seed"][:, None], np.arange(self.d), self.buckets)
        return np.asarray(hashed == reports.parts["bucket"][:, None])

    def support_counts(self, reports: ReportBatch) -> Integers64:
        """Number of reports whose function maps each value to the reported bucket, shape (d,), in n d steps."""
        return hits(reports.parts["seed"], reports.parts["bucket"], self.buckets, self.d)


class BinaryLocalHashing(LocalHashing):
    """Binary local hashing (BLH): local hashing into two buckets, one randomized bit.

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

    called = ("BLH",)

    buckets = 2
    """Two."""


class OptimizedLocalHashing(LocalHashing):
    """Optimized local hashing (OLH): local hashing into g = round(e^epsilon) + 1 buckets.

    This number has the least variance for rare values. The variance a person,
    q(1 - q)/(p - q)^2 = (e^epsilon + g - 1)^2/((g - 1)(e^epsilon - 1)^2), is least at g = e^epsilon + 1. There it is
    4 e^epsilon/(e^epsilon - 1)^2, that of `OptimizedUnaryEncoding`, with 64 bits instead of d. Above epsilon = 11 the
    number stays at 65,536.

    Parameters
    ----------
    epsilon : float
        Privacy of one report, in [1e-6, 100].
    d : int
        Number of values, at least 2.

    References
    ----------
    Wang et al. (2017), section 4.4.

    Examples
    --------
    >>> import math
    >>> import numpy as np
    >>> from defenses.ldp import OptimizedLocalHashing
    >>> protocol = OptimizedLocalHashing(epsilon=math.log(3), d=100)
    >>> protocol.buckets
    4
    >>> shares = np.r_[1.0, np.zeros(99)]  # every person has value 0
    >>> protocol.variance(1000, shares)[:2].round(6).tolist()  # 4 n e^epsilon/(e^epsilon - 1)^2 for absent values
    [4000.0, 3000.0]
    >>> reports = protocol.privatize(np.zeros(1000, dtype=int), np.random.default_rng(0))
    >>> protocol.estimate(reports).shape
    (100,)
    """

    called = ("OLH",)

    @property
    def buckets(self) -> int:
        """Number of buckets g."""
        return min(round(float(np.exp(self.epsilon))) + 1, _MOST_BUCKETS)
