"""Unary encoding: the one-hot vector of the value, with every bit flipped with some probability."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.ldp.encoding.packed_bits import one_hot_reports, random_bits
from defenses.ldp.pure_oracle import BitVectorOracle
from defenses.ldp.report_batch import ReportBatch
from metrics.columns import Integers64


class UnaryEncoding(BitVectorOracle):
    """Unary encoding: d bits, eight to a byte, the own bit set with probability p and each other bit with q.

    Two values differ in two bits, so that the largest ratio of likelihoods is p(1 - q)/((1 - p) q). Subclasses choose
    p and q so that it is at most e^epsilon.

    Parameters
    ----------
    epsilon : float
        Privacy of one report, in [1e-6, 100].
    d : int
        Number of values, at least 2.
    """

    @property
    def unset(self) -> float:
        """Probability 1 - p that the own bit is not set."""
        return 1 - self.p

    @property
    def support_odds(self) -> float:
        """Logarithm of p(1 - q)/((1 - p) q)."""
        return float(np.log(self.p) + np.log1p(-self.q) - np.log(self.unset) - np.log(self.q))

    def _randomized(self, values: Integers64, rng: Generator) -> dict[str, NDArray[Any]]:
        return {"bits": one_hot_reports(values, self.d, self.unset, self.q, rng)}

    def blank_reports(self, n: int, rng: Generator) -> ReportBatch:
        """Randomize n vectors of zeros, the reports of persons without a value."""
        bits = random_bits(n * self.d, self.q, rng).reshape(n, self.d)
        return ReportBatch(self, {"bits": np.packbits(bits, axis=1)})


class SymmetricUnaryEncoding(UnaryEncoding):
    """Symmetric unary encoding (basic RAPPOR): every bit is flipped with probability 1/(e^(epsilon/2) + 1).

    p(1 - q)/((1 - p) q) = (e^(epsilon/2))^2 = e^epsilon: each bit has half of the budget, because two values differ in
    two bits.

    Parameters
    ----------
    epsilon : float
        Privacy of one report, in [1e-6, 100].
    d : int
        Number of values, at least 2.

    References
    ----------
    Erlingsson, Pihur and Korolova (2014); Wang et al. (2017), section 4.3.
    """

    called = ("SUE", "Basic RAPPOR", "RAPPOR")

    @property
    def unset(self) -> float:
        """Probability of flipping a bit."""
        return self.q

    @property
    def p(self) -> float:
        """Probability of keeping a bit."""
        return float(1 / (1 + np.exp(-self.epsilon / 2)))

    @property
    def q(self) -> float:
        """Probability of flipping a bit."""
        return float(1 / (np.exp(self.epsilon / 2) + 1))


class OptimizedUnaryEncoding(UnaryEncoding):
    """Optimized unary encoding (OUE): sets the own bit with p = 1/2 and each other bit with q = 1/(e^epsilon + 1).

    p(1 - q)/((1 - p) q) = (1 - q)/q = e^epsilon. Of all p and q with that ratio, these have the least variance for
    rare values, n q(1 - q)/(p - q)^2 = 4 n e^epsilon/(e^epsilon - 1)^2. Most of the budget goes to the many bits
    that are 0.

    Parameters
    ----------
    epsilon : float
        Privacy of one report, in [1e-6, 100].
    d : int
        Number of values, at least 2.

    References
    ----------
    Wang et al. (2017), section 4.3.
    """

    called = ("OUE",)

    p = 0.5
    """Probability that the own bit is set."""

    @property
    def q(self) -> float:
        """Probability that another bit is set."""
        return float(1 / (np.exp(self.epsilon) + 1))
