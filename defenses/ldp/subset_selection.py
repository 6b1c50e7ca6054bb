"""Subset selection: send a set of values that contains one's own more often than not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.ldp.frequency_oracle import Part, PureOracle, ReportBatch, packed
from defenses.ldp.packed_bits import column_counts
from metrics.arrays import Booleans, Integers64

# Keys drawn at a time.
_AT_ONCE = 1 << 20


class SubsetSelection(PureOracle):
    """Sends w = round(d/(e^epsilon + 1)) of the d values: with p = w e^epsilon/(w e^epsilon + d - w) the own one and
    w - 1 others, else w others, drawn without replacement.

    A set that holds the value has the probability p/C(d - 1, w - 1), another (1 - p)/C(d - 1, w); their ratio is
    p (d - w)/((1 - p) w) = e^epsilon. Another value is in the set with q = p (w - 1)/(d - 1) + (1 - p) w/(d - 1).
    Its largest risk is the least of all protocols to first order in n.

    Parameters
    ----------
    epsilon : float
        Privacy of one report, in [1e-6, 100].
    d : int
        Number of values, at least 2.

    References
    ----------
    Ye and Barg (2018), Optimal schemes for discrete distribution estimation under locally differential privacy;
    Wang et al. (2016), Mutual information optimally local private discrete distribution estimation.
    """  # noqa: D205

    @property
    def size(self) -> int:
        """Number of values in a set, w; at least 1."""
        return max(1, round(self.d / (float(np.exp(self.epsilon)) + 1)))

    @property
    def left_out(self) -> float:
        """Probability 1 - p that the own value is not in the set."""
        return float((self.d - self.size) / (self.size * np.exp(self.epsilon) + self.d - self.size))

    @property
    def p(self) -> float:
        """Probability that the own value is in the set."""
        return 1 - self.left_out

    @property
    def q(self) -> float:
        """Probability that a given other value is in the set."""
        return (self.p * (self.size - 1) + self.left_out * self.size) / (self.d - 1)

    @property
    def report_bits(self) -> int:
        """A bit a value, or the set's values one by one where that is shorter."""
        return min(int(self.d), self.size * (int(self.d) - 1).bit_length())

    @property
    def parts(self) -> dict[str, Part]:
        """The set, a bit a value."""
        return {"bits": packed(self.d)}

    def _randomized(self, values: Integers64, rng: Generator) -> dict[str, NDArray[Any]]:
        sets = np.empty((values.size, self.parts["bits"].columns or 0), dtype=np.uint8)
        step = max(1, _AT_ONCE // self.d)
        for start in range(0, values.size, step):
            own = values[start : start + step]
            # The w smallest of random keys are a random set; the own key is put before or behind all others.
            order = rng.random((own.size, self.d))
            order[np.arange(own.size), own] = np.where(rng.random(own.size) < self.left_out, 2.0, -1.0)
            chosen = np.argpartition(order, self.size - 1, axis=1)[:, : self.size]
            bits = np.zeros((own.size, self.d), dtype=bool)
            np.put_along_axis(bits, chosen, True, axis=1)
            sets[start : start + step] = np.packbits(bits, axis=1)
        return {"bits": sets}

    def supports(self, reports: ReportBatch) -> Booleans:
        """Which values are in each set, shape (n, d)."""
        self.check_reports(reports)
        return np.unpackbits(reports.parts["bits"], axis=1, count=self.d).astype(bool)

    def support_counts(self, reports: ReportBatch) -> Integers64:
        """In how many sets each value is, shape (d,)."""
        return column_counts(reports.parts["bits"], self.d)
