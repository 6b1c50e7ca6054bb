"""Pure protocols: reports support some values, and counts follow from the numbers of supporting reports."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from defenses.ldp.encoding.packed_bits import column_counts
from defenses.ldp.frequency_oracle import FrequencyOracle
from defenses.ldp.report_batch import Part, ReportBatch, packed
from metrics.columns import Booleans, Floats, Integers64


class PureOracle(FrequencyOracle):
    """Pure protocol: a report supports its person's own value with probability p and every other value with q < p.

    With S_v reports that support value v among n, E[S_v] = c_v p + (n - c_v) q, so that (S_v - n q)/(p - q) estimates
    the count c_v without bias. The support of v by one report has variance p(1 - p) if its person has value v, and
    q(1 - q) otherwise. Persons are independent, so that the variance of the estimate is
    [n q(1 - q) + c_v (p(1 - p) - q(1 - q))]/(p - q)^2 = n q(1 - q)/(p - q)^2 + c_v (1 - p - q)/(p - q).

    A report's likelihood under a value depends only on whether the report supports the value.
    """

    @property
    @abstractmethod
    def p(self) -> float:
        """Probability that a report supports its person's own value."""

    @property
    @abstractmethod
    def q(self) -> float:
        """Probability that a report supports a given other value."""

    @property
    def support_odds(self) -> float:
        """Log-likelihood ratio of a report between a value that it supports and one that it does not."""
        return float(self.epsilon)

    @property
    def best_guess(self) -> float:
        """Probability that the best guess from one report is right, for a uniformly distributed value.

        The best guess is any of the supported values, or any value at all where none is supported. By default, other
        values count as supported independently (see `guess_among_independent`); with hashes that is an approximation.

        References
        ----------
        Gursoy, Liu, Chow, Truex and Wei (2022), An adversarial approach to protocol analysis and selection in local
        differential privacy, section 4; Arcolezi, Gambs, Couchot and Palamidessi (2023), On the risks of collecting
        multidimensional data under local differential privacy, section 3.
        """
        return guess_among_independent(self.p, self.q, int(self.d))

    @abstractmethod
    def supports(self, reports: ReportBatch) -> Booleans:
        """Return for each report and value whether the report supports the value, shape (n, d).

        Raises
        ------
        ValueError
            If another protocol made the reports.
        """

    @abstractmethod
    def support_counts(self, reports: ReportBatch) -> Integers64:
        """Number of reports that support each value, shape (d,)."""

    def log_likelihood(self, reports: ReportBatch) -> Floats:
        """Log-likelihood of each value up to a constant for each report: `support_odds` if supported, else 0."""
        return np.asarray(self.support_odds * self.supports(reports), dtype=float)

    def indicators(self, reports: ReportBatch) -> Floats:
        """Return (support - q)/(p - q) for each report and value, shape (n, d)."""
        return np.asarray((self.supports(reports) - self.q) / (self.p - self.q))

    def _estimated(self, reports: ReportBatch) -> Floats:
        return np.asarray((self.support_counts(reports) - len(reports) * self.q) / (self.p - self.q))

    def _variance(self, n: int, shares: Floats) -> Floats:
        p, q = self.p, self.q
        return n * q * (1 - q) / (p - q) ** 2 + n * shares * (1 - p - q) / (p - q)


def guess_among_independent(p: float, q: float, d: int) -> float:
    """Probability of a right guess where each of the d - 1 other values is supported independently with q.

    With B other values supported, B being binomial, the guess is right with probability p E[1/(1 + B)] if the own value
    is supported, where E[1/(1 + B)] = (1 - (1 - q)^d)/(d q). If none is, it is right with probability 1/d.
    """
    return float(p * -np.expm1(d * np.log1p(-q)) / (d * q) + (1 - p) * (1 - q) ** (d - 1) / d)


# Pure protocols whose report is one bit for each value.


class BitVectorOracle(PureOracle):
    """Pure protocol whose report is a vector of d bits, eight to a byte; a set bit supports its value.

    Parameters
    ----------
    epsilon : float
        Privacy of one report, in [1e-6, 100].
    d : int
        Number of values, at least 2.
    """

    @property
    def parts(self) -> dict[str, Part]:
        """The bits, one for each value."""
        return {"bits": packed(self.d)}

    def supports(self, reports: ReportBatch) -> Booleans:
        """Return the bits of each report, shape (n, d)."""
        self.check_reports(reports)
        return np.unpackbits(reports.parts["bits"], axis=1, count=self.d).astype(bool)

    def support_counts(self, reports: ReportBatch) -> Integers64:
        """Number of reports in which each bit is set, shape (d,)."""
        return column_counts(reports.parts["bits"], self.d)
