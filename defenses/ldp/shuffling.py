"""Amplification by shuffling: the central privacy of local reports whose senders are hidden."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from defenses.base import Guarantee, Parametrized
from defenses.ldp.randomized_response import GeneralizedRandomizedResponse
from metrics.columns import Floats, Integers64, bisect, check_integer, check_real, require

# Standard deviations, and further numbers, around the mean of a binomial number; the rest counts as delta.
_DEVIATIONS, _FURTHER = 9.0, 60
# Largest local epsilon that is considered, and number of halvings in searches.
_LARGEST, _HALVINGS = 50.0, 30
# Number of groups of neighbouring numbers of uniform reports.
_GROUPS = 24


def shuffled_delta(epsilon: float, n: int, *, local_epsilon: float, d: int | None = None) -> float:
    """Upper bound on delta of n shuffled local reports for a given epsilon, between tables that differ in one person.

    Parameters
    ----------
    epsilon : float
        Central epsilon, at least 0.
    n : int
        Number of reports, at least 1.
    local_epsilon : float
        Epsilon of each report, in (0, 50].
    d : int, optional
        Number of values of randomized response, at least 2. By default nothing is known about the protocol but its
        epsilon.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Notes
    -----
    Let e = e^local_epsilon, and let x_0 and x_1 be the two values of the person in question.

    In general the reports of both values are mixtures e/(e + 1) Q_0 + 1/(e + 1) Q_1 and the reverse. Any other report
    has at least the density of (Q_0 + Q_1)/(2 e), so that it is a clone, a draw from Q_0 or Q_1, with probability 1/e.
    The output follows from the numbers (u, w) of draws from Q_0 and Q_1: C ~ Bin(n - 1, 1/e) clones, each from Q_0 with
    probability 1/2, and the person's draw.

    Randomized response with p = 1/(e + d - 1) sends a uniformly random value with probability d p, else the own one.
    Which others do the latter may be revealed, since that is independent of the person. The remaining B ~ Bin(n - 1,
    d p) reports are uniform. The person adds one to the count u of x_0, to the count w of x_1, or to neither, with
    probabilities e p, p and (d - 2) p under x_0, and p, e p and (d - 2) p under x_1.

    Delta is the hockey-stick divergence of the two distributions of (u, w), summed exactly for each B. It falls with B,
    as a further uniform report is independent of the person. So many neighbouring B share the value of the smallest.

    References
    ----------
    Feldman, McMillan and Talwar (2021), Hiding among the clones, theorem 3.1 and section 5, for the general bound;
    Feldman, McMillan and Talwar (2023), Stronger privacy amplification by shuffling for Renyi and approximate
    differential privacy; Balle, Bell, Gascon and Nissim (2019), The privacy blanket of the shuffle model, for
    randomized response; Kairouz, Oh and Viswanath (2015), The composition theorem for differential privacy.

    Examples
    --------
    >>> from defenses.ldp import shuffled_epsilon
    >>> round(shuffled_epsilon(1e-6, 10_000, local_epsilon=2.0), 3)
    0.155
    >>> round(shuffled_epsilon(1e-6, 10_000, local_epsilon=2.0, d=100), 3)
    0.029
    """
    odds = _checked(epsilon, n, local_epsilon)
    if d is None:
        return _hockey_stick(epsilon, int(n), 1 / (2 * odds), odds / (odds + 1), 1 / (odds + 1))
    check_integer("d", d, low=2)
    from scipy.stats import binom

    mass = 1 / (odds + d - 1)
    starts = np.unique(np.linspace(*_window(n - 1, d * mass), _GROUPS).astype(np.int64))
    # Fewer uniform reports than the least start have no probability to speak of, and count as delta.
    below = binom.cdf(np.append(starts, n) - 1, n - 1, d * mass)
    values = [_hockey_stick(epsilon, int(start) + 1, 1 / d, odds * mass, mass) for start in starts]
    return float(min(1.0, below[0] + np.dot(np.diff(below), values)))


@np.errstate(divide="ignore", invalid="ignore")
def attained_delta(epsilon: float, n: int, *, local_epsilon: float, d: int) -> float:
    """Delta of shuffled randomized response where one person has x_0 or x_1 and all others have one third value.

    It is exact for this pair of tables, and hence a lower bound on the delta of the mechanism, which `shuffled_delta`
    bounds from above. The parameters are those, with d of at least 3.

    Notes
    -----
    With e and p as there, let u, w and v be the counts of x_0, of x_1 and of the third value. The report of a person is
    x_0 with probability e p, p and p if the person has x_0, x_1 and the third value. So the counts have the likelihood
    ratio (e u + w + r)/(u + e w + r) with r = v/e + (n - u - w - v). For d of at least 4, u and w alone do not
    determine it.

    Given m = u + w, u and v are independent binomial numbers. For fixed m and v the positive terms of the hockey-stick
    divergence are those with u above a bound. Many neighbouring v share that bound, and are summed together.
    """
    odds = _checked(epsilon, n, local_epsilon)
    check_integer("d", d, low=3)
    from scipy.stats import binom

    n, factor, mass = int(n), math.exp(epsilon), 1 / (odds + d - 1)
    share = odds / (odds + (d - 3))
    low, high = _window(n, 2 * mass)
    total = np.arange(max(low, 1), high + 1)
    # The terms are proportional to slope * u - offset + fall * v.
    slope, fall = (odds - 1) * (1 + factor), (factor - 1) * (1 - 1 / odds)
    offset = (factor * odds - 1) * total + (factor - 1) * (n - total)
    third = _window(n - high, share)[0], _window(n - int(total[0]), share)[1]
    most, least = (np.floor((offset - fall * end) / slope).astype(np.int64) for end in third)
    # Larger bounds than these have no probability to speak of.
    largest = (total / 2 + _DEVIATIONS * np.sqrt(total) / 2 + _FURTHER).astype(np.int64)
    groups = np.maximum(np.minimum(most, largest) - least + 1, 0)
    group = np.arange(groups.sum()) - np.repeat(np.cumsum(groups) - groups, groups)
    total, offset, least, most = (np.repeat(values, groups) for values in (total, offset, least, most))
    bound, others = least + group, n - total
    start, end = ((offset - slope * (bound + step)) / fall for step in (1, 0))
    start, end = np.where(bound == most, -1.0, start), np.where(bound == least, others, end)
    third_mass = binom.cdf(end, others, share) - binom.cdf(start, others, share)
    fewer = np.maximum(others - 1, 0)
    third_mean = others * share * (binom.cdf(end - 1, fewer, share) - binom.cdf(start - 1, fewer, share))
    above = binom.sf(bound, total, 0.5)
    # Means of u and of w; slope * u - offset loses all digits for a large local epsilon.
    means = [total / 2 * binom.sf(bound - own, total - 1, 0.5) for own in (1, 0)]
    terms = third_mass * ((odds - factor) * means[0] - (factor * odds - 1) * means[1])
    terms -= (factor - 1) * (others * third_mass - (1 - 1 / odds) * third_mean) * above
    return min(1.0, float(np.dot(binom.pmf(total, n, 2 * mass), terms)) / n)


def shuffled_epsilon(delta: float, n: int, *, local_epsilon: float, d: int | None = None) -> float:
    """Central epsilon of n shuffled local reports for a given delta, an upper bound rounded up; 0 if none is needed.

    Parameters
    ----------
    delta : float
        Central delta, in (0, 1).
    n, local_epsilon, d
        See `shuffled_delta`.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """
    check_real("delta", delta, low=0, high=1, open_low=True, open_high=True)

    def exceeded(epsilon: float) -> bool:
        return shuffled_delta(epsilon, n, local_epsilon=local_epsilon, d=d) > delta

    return bisect(exceeded, 0.0, float(local_epsilon), _HALVINGS)[1] if exceeded(0.0) else 0.0


def clones_epsilon(delta: float, n: int, *, local_epsilon: float) -> float | None:
    """Closed form of the general bound on the central epsilon; None where it does not hold.

    It is ln(1 + (e - 1)/(e + 1) (8 sqrt(e ln(4/delta)/n) + 8 e/n)) with e = e^local_epsilon, for a local epsilon of at
    most ln(n/(16 ln(2/delta))). `shuffled_epsilon` is smaller.

    References
    ----------
    Feldman, McMillan and Talwar (2021), Hiding among the clones, theorem 3.1.
    """
    check_real("delta", delta, low=0, high=1, open_low=True, open_high=True)
    odds = _checked(0.0, n, local_epsilon)
    if odds > n / (16 * math.log(2 / delta)):
        return None
    noise = 8 * math.sqrt(odds * math.log(4 / delta) / n) + 8 * odds / n
    return math.log1p((odds - 1) / (odds + 1) * noise)


class ShuffledResponse(Parametrized):
    """Randomized response whose reports are shuffled: the server sees how many persons reported each value.

    The local epsilon of a report is the largest that gives the central guarantee (`shuffled_delta`). It exceeds the
    central one, the more the larger n is.

    Parameters
    ----------
    epsilon, delta : float
        Central privacy between tables that differ in one person: epsilon in [1e-6, 20], delta in (0, 1).
    d : int
        Number of values, at least 3.
    n : int
        Number of persons, at least 1; it is public.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Attributes
    ----------
    local : GeneralizedRandomizedResponse
        The protocol of one person.

    References
    ----------
    Erlingsson et al. (2019), Amplification by shuffling; Feldman, McMillan and Talwar (2023), section 4.

    Examples
    --------
    >>> import numpy as np
    >>> from defenses.ldp import ShuffledResponse
    >>> mechanism = ShuffledResponse(epsilon=0.5, delta=1e-6, d=4, n=1000)
    >>> mechanism.local.epsilon > 2
    True
    >>> counts = mechanism.release(np.repeat([0, 1, 2, 3], 250), np.random.default_rng(0))
    >>> int(counts.sum()), mechanism.estimate(counts).shape
    (1000, (4,))
    """

    called = ("Shuffle model", "Shuffle DP")

    def __init__(self, *, epsilon: float = 1.0, delta: float = 1e-6, d: int = 16, n: int = 100) -> None:
        self.epsilon = check_real("epsilon", epsilon, low=1e-6, high=20)
        self.delta = check_real("delta", delta, low=0, high=1, open_low=True, open_high=True)
        self.d = check_integer("d", d, low=3)
        self.n = check_integer("n", n, low=1)
        self.local = GeneralizedRandomizedResponse(
            epsilon=_largest_local_epsilon(float(epsilon), float(delta), int(d), int(n)), d=d
        )

    @property
    def guarantee(self) -> Guarantee:
        """Epsilon and delta of the counts."""
        return Guarantee(
            epsilon=float(self.epsilon),
            delta=float(self.delta),
            statement="one person's value replaced by any other, number of persons public; reports are shuffled",
        )

    def release(self, values: ArrayLike, rng: Generator) -> Integers64:
        """Return how many persons report each value, shape (d,).

        Raises
        ------
        ValueError
            If the values are not n integers in 0, ..., d - 1.
        """
        array = np.asarray(values)
        require(array.shape == (self.n,), f"values must hold {self.n} integers, one a person, got shape {array.shape}")
        return np.bincount(self.local.privatize(array, rng).parts["value"], minlength=self.d)

    def repeated(self, counts: Integers64, runs: int, rng: Generator) -> Integers64:
        """Draw the releases of `runs` tables with the same counts of values, shape (runs, d)."""
        rows = np.full((self.d, self.d), self.local.q)
        np.fill_diagonal(rows, self.local.p)
        rows /= rows.sum(axis=1, keepdims=True)
        drawn = [rng.multinomial(int(count), row, size=runs) for count, row in zip(counts, rows, strict=True)]
        return np.asarray(np.sum(drawn, axis=0))

    def estimate(self, counts: ArrayLike) -> Floats:
        """Unbiased estimates of the numbers of persons with each value, shape (d,), from released counts."""
        return np.asarray((np.asarray(counts) - self.n * self.local.q) / (self.local.p - self.local.q))

    def variance(self, frequencies: ArrayLike) -> Floats:
        """Variance of the estimates, shape (d,), for the persons' shares of values; shuffling adds none."""
        return self.local.variance(int(self.n), frequencies)

    def log_odds(self, counts: ArrayLike) -> Floats:
        """Log-likelihood ratio of releases between two tables: one person has value 0 or 1, all others value 2.

        Parameters
        ----------
        counts : array_like of int, shape (runs, d)
            Released counts.
        """
        released, odds = np.asarray(counts, dtype=float), math.exp(self.local.epsilon)
        u, w, third = released[:, 0], released[:, 1], released[:, 2]
        # See `attained_delta`.
        other = third / odds + (self.n - u - w - third)
        return np.asarray(np.log(odds * u + w + other) - np.log(u + odds * w + other))


@lru_cache(maxsize=1024)
def _largest_local_epsilon(epsilon: float, delta: float, d: int, n: int) -> float:
    """Largest local epsilon of randomized response whose shuffled reports keep the central guarantee, rounded down."""

    def within(local: float) -> bool:
        return shuffled_delta(epsilon, n, local_epsilon=local, d=d) <= delta

    return bisect(within, epsilon, _LARGEST, _HALVINGS)[0]


def _window(n: int, probability: float) -> tuple[int, int]:
    """Range of a binomial number that holds all but a negligible probability."""
    mean = n * probability
    half = _DEVIATIONS * math.sqrt(max(0.0, mean * (1 - probability))) + _FURTHER
    return max(0, math.floor(mean - half)), min(n, math.ceil(mean + half))


def _checked(epsilon: float, n: int, local_epsilon: float) -> float:
    """Check the parameters; returns e^local_epsilon."""
    check_real("epsilon", epsilon, low=0)
    check_integer("n", n, low=1)
    check_real("local_epsilon", local_epsilon, low=0, high=_LARGEST, open_low=True)
    return math.exp(local_epsilon)


@np.errstate(divide="ignore", invalid="ignore")
def _hockey_stick(epsilon: float, n: int, mass: float, own: float, other: float) -> float:
    """Sum of max(0, P - e^epsilon Q) over all numbers of draws, plus the probability left out.

    For a fixed total m = u + w the ratio P/Q grows with u, so that the positive terms are those with u above a bound.
    """
    from scipy.stats import binom

    nothing = max(0.0, 1 - own - other)
    low, high = _window(n - 1, 2 * mass)
    total = np.arange(low, high + 2)
    factor, rest = math.exp(epsilon), 1 - 2 * mass
    silent = 0.0 if nothing == 0 else (factor - 1) * nothing * mass * (n - total) / rest
    bound = (silent + total * (factor * own - other)) / ((own - other) * (1 + factor))
    least = np.floor(bound) + 1
    before = binom.pmf(total - 1, n - 1, 2 * mass)
    same = binom.pmf(total, n - 1, 2 * mass)
    joined, apart = binom.sf(least - 2, total - 1, 0.5), binom.sf(least - 1, total - 1, 0.5)
    joined, apart = (np.where(total >= 1, tail, 0.0) for tail in (joined, apart))
    silence = nothing * same * binom.sf(least - 1, total, 0.5)
    first = before * (own * joined + other * apart) + silence
    second = before * (other * joined + own * apart) + silence
    left_out = max(0.0, 1 - float(same.sum()))
    return min(1.0, float(np.maximum(first - factor * second, 0.0).sum()) + left_out)
