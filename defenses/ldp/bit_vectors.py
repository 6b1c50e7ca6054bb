"""Protocols that report a vector of bits, one a value: unary encoding, fresh or memoized (RAPPOR), and subsets."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.ldp.encoding.packed_bits import column_counts, one_hot_reports, random_bits
from defenses.ldp.frequency_oracle import Part, PureOracle, ReportBatch, packed
from metrics.columns import Booleans, Floats, Integers64, check_integer, check_real, chunks, require


class BitVectorOracle(PureOracle):
    """Pure protocol whose report is a vector of d bits, eight to a byte; a set bit supports its value.

    - epsilon: Privacy of one report, in [1e-6, 100].
    - d: Number of values, at least 2.
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


class UnaryEncoding(BitVectorOracle):
    """Unary encoding: d bits, eight to a byte, the own bit set with probability p and each other bit with q.

    Two values differ in two bits, so that the largest ratio of likelihoods is p(1 - q)/((1 - p) q). Subclasses choose p
    and q so that it is at most e^epsilon.

    - epsilon: Privacy of one report, in [1e-6, 100].
    - d: Number of values, at least 2.
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


class LongitudinalUnaryEncoding(UnaryEncoding):
    """Base class of longitudinal unary encodings: a person randomizes the bits once, and again for every report.

    The memoized bits are drawn once for each value: the own one is set with probability p_1, another one with q_1. A
    report shows each memoized bit with probability p_2 and its opposite with 1 - p_2, afresh in every round. In one
    report the own bit is thus set with p = p_1 p_2 + (1 - p_1)(1 - p_2), another one with q = q_1 p_2 + (1 - q_1) (1 -
    p_2).

    All reports follow from the memoized bits, whose largest ratio of likelihoods p_1 (1 - q_1)/((1 - p_1) q_1) is
    e^epsilon. One report alone has the ratio p (1 - q)/((1 - p) q) = e^(alpha epsilon), from which p_2 follows. A
    person whose value changes memoizes anew, and epsilons of different values add up.

    Estimates from one report have the variance of `PureOracle` with p and q. The mean of T reports has less: with s =
    p_1 if a person has the value and s = q_1 if not, a bit's mean over T rounds has the variance s (1 - s)(2 p_2 - 1)^2
    + p_2 (1 - p_2)/T. Its first part, that of the memoized bits, remains for any T.

    - epsilon: Privacy of all reports of a value together, however many, in [1e-6, 100].
    - d: Number of values, at least 2.
    - alpha: Privacy of one report as a share of `epsilon`, in (0, 1).
    """

    def __init__(self, *, epsilon: float = 1.0, d: int = 128, alpha: float = 0.5) -> None:
        super().__init__(epsilon=epsilon, d=d)
        self.alpha = check_real("alpha", alpha, low=0, high=1, open_low=True, open_high=True)

    @property
    @abstractmethod
    def memoized(self) -> tuple[float, float]:
        """Probabilities p_1 and q_1 that the own bit, and another one, are set in the memoized bits."""

    @property
    def kept(self) -> float:
        """Probability p_2 that a report shows a memoized bit."""
        p, q = self.memoized
        return float((self.p - self.q + p - q) / (2 * (p - q)))

    def memoize(self, values: Integers64, rng: Generator) -> ReportBatch:
        """Draw the memoized bits of each person, which must not be sent."""
        p, q = self.memoized
        return ReportBatch(self, {"bits": one_hot_reports(np.asarray(values), self.d, 1 - p, q, rng)})

    def report(self, memory: ReportBatch, rng: Generator) -> ReportBatch:
        """Randomize memoized bits for one report of each person."""
        bits, flip = memory.parts["bits"], 1 - self.kept
        sent = np.empty_like(bits)
        for rows in chunks(len(bits), self.d):
            flips = rng.random((len(bits[rows]), self.d)) < flip
            sent[rows] = bits[rows] ^ np.packbits(flips, axis=1)
        return ReportBatch(self, {"bits": sent})

    def privatize_rounds(self, values: Integers64, rounds: int, rng: Generator) -> tuple[ReportBatch, ...]:
        """Return the reports of several rounds, all from one memory.

        Raises ValueError if the number of rounds is no integer of at least 1.
        """
        check_integer("rounds", rounds, low=1)
        memory_rng, *report_rngs = rng.spawn(1 + rounds)
        memory = self.memoize(values, memory_rng)
        return tuple(self.report(memory, child) for child in report_rngs)

    def rounds_log_likelihood(self, rounds: Sequence[ReportBatch]) -> Floats:
        """Log-likelihood of each value under all reports of a person, up to a constant for each person; shape (n, d).

        Given a memoized bit, the number c of rounds in which it shows is binomial. With the likelihoods A of c if the
        bit is set and B if it is not, value v has the ratio (p_1 A + (1 - p_1) B)/(q_1 A + (1 - q_1) B), for its own
        bit v. It is at most p_1/q_1 and at least (1 - p_1)/(1 - q_1), for any number of rounds. Raises ValueError if
        there is no round, or another protocol made the reports.
        """
        require(rounds, "rounds are empty: there is no report")
        times_set = np.sum([self.supports(reports) for reports in rounds], axis=0)
        # Odds of A against B by count.
        counts = np.arange(len(rounds) + 1)
        odds = (2 * counts - len(rounds)) * (np.log(self.kept) - np.log1p(-self.kept))
        (p, q), top = self.memoized, np.maximum(odds, 0)
        a, b = np.exp(odds - top), np.exp(-top)
        return np.asarray((np.log(p * a + (1 - p) * b) - np.log(q * a + (1 - q) * b))[times_set])

    def _randomized(self, values: Integers64, rng: Generator) -> dict[str, NDArray[Any]]:
        (reports,) = self.privatize_rounds(values, 1, rng)
        return dict(reports.parts)


class LongitudinalSymmetricUnaryEncoding(LongitudinalUnaryEncoding):
    """Longitudinal symmetric unary encoding (L-SUE), basic RAPPOR: symmetric bits are memoized and reported.

    p_1 = 1 - q_1 = e^(epsilon/2)/(e^(epsilon/2) + 1), and p = 1 - q is the same for alpha epsilon.

    Parameters
    ----------
    epsilon : float
        Privacy of all reports of a value together, in [1e-6, 100].
    d : int
        Number of values, at least 2.
    alpha : float
        Privacy of one report as a share of `epsilon`, in (0, 1).

    References
    ----------
    Erlingsson, Pihur and Korolova (2014), RAPPOR, section 3; Arcolezi et al. (2022), Improving the utility of locally
    differentially private protocols for longitudinal and multidimensional frequency estimates, section 4.

    Examples
    --------
    >>> import numpy as np
    >>> from defenses.ldp import LongitudinalSymmetricUnaryEncoding
    >>> protocol = LongitudinalSymmetricUnaryEncoding(epsilon=4.0, d=8, alpha=0.5)
    >>> rounds = protocol.privatize_rounds(np.arange(8), 20, np.random.default_rng(0))
    >>> len(rounds), round(protocol.support_odds, 6)  # one report has epsilon 2
    (20, 2.0)
    >>> largest = np.ptp(protocol.rounds_log_likelihood(rounds), axis=1).max()  # and all of them 4
    >>> bool(largest <= 4.0 + 1e-9)
    True
    """

    called = ("L-SUE",)

    @property
    def memoized(self) -> tuple[float, float]:
        """p_1 and q_1 = 1 - p_1."""
        q = float(1 / (np.exp(self.epsilon / 2) + 1))
        return 1 - q, q

    @property
    def p(self) -> float:
        """Probability that a report shows the own bit."""
        return float(1 / (1 + np.exp(-self.alpha * self.epsilon / 2)))

    @property
    def q(self) -> float:
        """Probability that a report shows another bit."""
        return float(1 / (np.exp(self.alpha * self.epsilon / 2) + 1))


class LongitudinalOptimizedUnaryEncoding(LongitudinalUnaryEncoding):
    """Longitudinal optimized unary encoding (L-OSUE): optimized bits are memoized, and flipped symmetrically.

    p_1 = 1/2 and q_1 = 1/(e^epsilon + 1), so that p = 1/2 and q = 1/(e^(alpha epsilon) + 1). Of the longitudinal
    encodings it has the least variance.

    Parameters
    ----------
    epsilon : float
        Privacy of all reports of a value together, in [1e-6, 100].
    d : int
        Number of values, at least 2.
    alpha : float
        Privacy of one report as a share of `epsilon`, in (0, 1).

    References
    ----------
    Arcolezi, Couchot, Al Bouna and Xiao (2022), Improving the utility of locally differentially private protocols for
    longitudinal and multidimensional frequency estimates, section 4.
    """

    called = ("L-OSUE", "L-OUE")

    @property
    def memoized(self) -> tuple[float, float]:
        """p_1 = 1/2 and q_1 = 1/(e^epsilon + 1)."""
        return 0.5, float(1 / (np.exp(self.epsilon) + 1))

    p = 0.5
    """1/2."""

    @property
    def q(self) -> float:
        """Probability that a report shows another bit."""
        return float(1 / (np.exp(self.alpha * self.epsilon) + 1))


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
