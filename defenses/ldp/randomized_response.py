"""Randomized response: send one's value or, with some probability, a random other one."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.ldp.frequency_oracle import Part, PureOracle, ReportBatch, numbers_to
from metrics.columns import Booleans, Integers64


class GeneralizedRandomizedResponse(PureOracle):
    """Generalized randomized response (GRR), also called direct encoding.

    A person sends the own value with p = e^epsilon/(e^epsilon + d - 1) and each other value with
    q = 1/(e^epsilon + d - 1). The ratio p/q = e^epsilon is the guarantee. The variance grows with d, so that the
    protocol is best for d below about 3 e^epsilon + 2.

    Parameters
    ----------
    epsilon : float
        Privacy of one report, in [1e-6, 100].
    d : int
        Number of values, at least 2.

    References
    ----------
    Warner (1965); Kairouz, Bonawitz and Ramage (2016); Wang et al. (2017), section 4.1.
    """

    called: ClassVar[tuple[str, ...]] = ("GRR", "k-RR", "kRR", "Direct encoding")

    @property
    def lie(self) -> float:
        """Probability of sending a value other than the own one."""
        return float((self.d - 1) / (np.exp(self.epsilon) + self.d - 1))

    @property
    def p(self) -> float:
        """Probability of sending the own value."""
        return float(np.exp(self.epsilon) / (np.exp(self.epsilon) + self.d - 1))

    @property
    def q(self) -> float:
        """Probability of sending a given other value."""
        return float(1 / (np.exp(self.epsilon) + self.d - 1))

    @property
    def best_guess(self) -> float:
        """p: the guess is the value sent."""
        return self.p

    @property
    def parts(self) -> dict[str, Part]:
        """The value sent."""
        return {"value": numbers_to(self.d - 1)}

    def _randomized(self, values: Integers64, rng: Generator) -> dict[str, NDArray[Any]]:
        # Comparing the double with the probability of lying rounds that probability up, never down.
        liars = np.flatnonzero(rng.random(values.size) < self.lie)
        other = rng.integers(self.d - 1, size=liars.size)
        sent = values.astype(self.parts["value"].dtype)
        sent[liars] = other + (other >= values[liars])
        return {"value": sent}

    def supports(self, reports: ReportBatch) -> Booleans:
        """Return for each report and value whether the value was sent, shape (n, d)."""
        self.check_reports(reports)
        return np.asarray(reports.parts["value"][:, None] == np.arange(self.d))

    def support_counts(self, reports: ReportBatch) -> Integers64:
        """Number of reports of each value, shape (d,)."""
        return np.bincount(reports.parts["value"], minlength=self.d)


class BinaryRandomizedResponse(GeneralizedRandomizedResponse):
    """Warner's randomized response on two values, 0 and 1: the truth with probability e^epsilon/(e^epsilon + 1).

    Parameters
    ----------
    epsilon : float
        Privacy of one report, in [1e-6, 100].

    References
    ----------
    Warner (1965), Randomized response: a survey technique for eliminating evasive answer bias.
    """

    called: ClassVar[tuple[str, ...]] = ("Warner", "Warner's randomized response")

    def __init__(self, *, epsilon: float = 1.0) -> None:
        super().__init__(epsilon=epsilon, d=2)
