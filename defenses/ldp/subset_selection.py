"""Subset selection: send a random set of values that is likely to contain one's own value."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.ldp.pure_oracle import BitVectorOracle
from defenses.ldp.report_batch import chunks
from metrics.columns import Integers64

# Number of random keys drawn at a time.
_AT_ONCE = 1 << 20


class SubsetSelection(BitVectorOracle):
    """Subset selection: each person sends a set of w = round(d/(e^epsilon + 1)) of the d values.

    With p = w e^epsilon/(w e^epsilon + d - w) the set holds the own value and w - 1 others, else w others, drawn
    without replacement. A set that holds the own value has the probability p/C(d - 1, w - 1), any other set
    (1 - p)/C(d - 1, w). Their ratio is p (d - w)/((1 - p) w) = e^epsilon. Another value is in the set with
    q = p (w - 1)/(d - 1) + (1 - p) w/(d - 1). The protocol is minimax optimal to first order in n: its largest risk is
    the least of all protocols.

    Parameters
    ----------
    epsilon : float
        Privacy of one report, in [1e-6, 100].
    d : int
        Number of values, at least 2.

    Notes
    -----
    A report is the set as one bit a value.

    Sets are drawn by the order of d random multiples of 2^-53. Two of them are equal with probability at most
    d (d - 1) 2^-54, and then the lower position comes first. So a report is (epsilon, delta)-private with a delta of at
    most d^2 2^-53: 2e-12 for d = 128.

    References
    ----------
    Ye and Barg (2018), Optimal schemes for discrete distribution estimation under locally differential privacy;
    Wang et al. (2016), Mutual information optimally local private discrete distribution estimation.
    """

    called = ("SS", "Subset selection")

    @property
    def size(self) -> int:
        """Number w of values in a set, at least 1."""
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
    def best_guess(self) -> float:
        """p/w: the guess is one of the w values of the set."""
        return self.p / self.size

    @property
    def report_bits(self) -> int:
        """Length of d bits, or of the list of the set's values where that is shorter."""
        return min(int(self.d), self.size * (int(self.d) - 1).bit_length())

    def _randomized(self, values: Integers64, rng: Generator) -> dict[str, NDArray[Any]]:
        sets = np.empty((values.size, self.parts["bits"].columns or 0), dtype=np.uint8)
        for rows in chunks(values.size, self.d, _AT_ONCE):
            own = values[rows]
            # The w smallest of random keys form a random set; the own key is set below or above all others.
            keys = rng.random((own.size, self.d))
            keys[np.arange(own.size), own] = np.where(rng.random(own.size) < self.left_out, 2.0, -1.0)
            members = np.argpartition(keys, self.size - 1, axis=1)[:, : self.size]
            bits = np.zeros((own.size, self.d), dtype=bool)
            np.put_along_axis(bits, members, True, axis=1)
            sets[rows] = np.packbits(bits, axis=1)
        return {"bits": sets}
