"""Mechanisms on streams: running counts by a binary tree, and values above a threshold by sparse vectors."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from defenses.base import Guarantee
from defenses.dp.exact import fraction, two_sided_geometric
from defenses.dp.mechanism import (
    PureMechanism,
    checked_integers,
    checked_number,
    checked_numbers,
    drawn_in_bulk,
    on_lattice,
    steps_between,
)
from defenses.dp.pure_noise import DiscreteLaplace
from metrics.columns import Booleans, Floats, Integers64, check_integer, check_real, require
from metrics.estimate import check_confidence


class BinaryTree(PureMechanism):
    """Binary tree mechanism: after each event of a stream, the number of events so far, with noise.

    Use it for counts that are published again and again while the data arrives, such as cases per day.

    Parameters
    ----------
    epsilon : float
        In [2^-20, 2^20], for the whole stream.
    horizon : int
        Largest length of the stream, from 1 to 2^30.
    sensitivity : int
        Largest change of one event between neighbouring streams, at least 1.

    Raises
    ------
    ValueError
        If a parameter is refused.

    Notes
    -----
    The node of time t sums the events from t - b + 1 to t, where b is the largest power of two that divides t. The
    running sum up to t adds the nodes of t, t - b, and so on, as many as t has ones in binary. An event lies in at most
    h = floor(log2 horizon) + 1 nodes, one for each power of two. Each node has discrete Laplace noise of epsilon / h.

    Proof. Neighbouring streams differ in one event, and so in at most h nodes, by at most the sensitivity each. The
    noisy nodes together cost h (epsilon / h) = epsilon. All running sums are functions of them.

    Error. The sum at t has a variance of (ones of t in binary) times that of one node. It grows with the cube of
    log(horizon). Fresh noise for every sum would cost a variance that grows with the square of the horizon.

    References
    ----------
    Dwork, Naor, Pitassi and Rothblum (2010), Differential privacy under continual observation, section 3.
    Chan, Shi and Song (2011), Private and continual release of statistics, section 3.2.

    Examples
    --------
    >>> import numpy as np
    >>> from defenses.dp import BinaryTree
    >>> counter = BinaryTree(epsilon=200.0, horizon=8)
    >>> counter.release([1, 0, 1, 1], np.random.default_rng(0)).tolist()
    [1, 1, 2, 3]
    >>> stream = counter.start(np.random.default_rng(0))
    >>> [stream.add(event) for event in (1, 0, 1, 1)]
    [1, 1, 2, 3]
    """

    called = ("Binary tree mechanism", "Tree aggregation")

    def __init__(self, *, epsilon: float = 1.0, horizon: int = 1024, sensitivity: int = 1) -> None:
        super().__init__(epsilon=epsilon, sensitivity=sensitivity)
        self.horizon = check_integer("horizon", horizon, low=1)
        require(horizon <= 2**30, f"horizon must be at most 2^30, got {horizon}")
        check_integer("sensitivity", sensitivity, low=1)

    @property
    def guarantee(self) -> Guarantee:
        """Epsilon for streams that differ in one event; all running counts together."""
        return Guarantee(
            epsilon=float(self.epsilon),
            delta=0.0,
            statement=f"neighbours: streams that differ in one event, by at most {self.sensitivity:g}; "
            f"all {self.horizon} running counts together",
        )

    @property
    def levels(self) -> int:
        """Largest number of nodes that one event lies in."""
        return int(self.horizon).bit_length()

    @property
    def node_noise(self) -> DiscreteLaplace:
        """Noise of one node."""
        return DiscreteLaplace(epsilon=float(self.epsilon) / self.levels, sensitivity=self.sensitivity)

    def variance(self, time: int) -> float:
        """Variance of the running count after `time` events."""
        check_integer("time", time, low=1)
        return int(time).bit_count() * self.node_noise.variance

    def error_bound(self, confidence: float) -> float:
        """Return a bound that the largest error of all running counts exceeds with probability 1 - confidence at most.

        Each node's noise exceeds its own bound at level 1 - (1 - confidence) / horizon with probability
        (1 - confidence) / horizon. At most `levels` nodes are added.
        """
        check_confidence(confidence)
        return self.levels * self.node_noise.error_bound(1 - (1 - confidence) / self.horizon)

    def start(self, rng: Generator) -> BinaryTreeStream:
        """Open a stream, to which events are added one by one."""
        return BinaryTreeStream(self, rng)

    @drawn_in_bulk
    def release(self, events: ArrayLike, rng: Generator) -> Integers64:
        """Return the running counts of a stream, shape (events,).

        Raises
        ------
        ValueError
            If an event is no integer, or there are more than `horizon`; nothing is released then.
        """
        return np.asarray(self.repeated(events, 1, rng)[0])

    def repeated(self, events: ArrayLike, runs: int, rng: Generator) -> Integers64:
        """Running counts of independent runs, shape (runs, events). For simulations: every run costs epsilon.

        Raises
        ------
        ValueError
            If an event is no integer, there are more than `horizon`, or `runs` is not an integer of at least 1.
        """
        values = checked_integers(events).ravel()
        check_integer("runs", runs, low=1)
        require(values.size <= self.horizon, f"events: {values.size} are more than the horizon of {self.horizon}")
        # Drawn in the order of time, as a stream does.
        noise = np.asarray(self.node_noise.sample(runs * values.size, rng)).reshape(runs, values.size)
        times = np.arange(1, values.size + 1)
        counts = np.broadcast_to(np.cumsum(values), noise.shape).astype(np.int64)
        remaining = times.copy()
        while remaining.any():
            visited = remaining > 0
            counts[:, visited] += noise[:, remaining[visited] - 1]
            remaining &= remaining - 1
        return counts


class BinaryTreeStream:
    """A stream whose events arrive one by one; it keeps the noise of as many nodes as a time has bits.

    - mechanism: Gives the horizon and the noise.
    """

    def __init__(self, mechanism: BinaryTree, rng: Generator) -> None:
        self._mechanism = mechanism
        self._rng = rng
        self._count = 0
        self._time = 0
        self._noise: dict[int, int] = {}

    def add(self, event: int) -> int:
        """Add an event and return the noisy number of events so far.

        Raises ValueError if the event is no integer, or the horizon is reached; nothing is released then.
        """
        value = int(checked_integers([event])[0])
        require(self._time != self._mechanism.horizon, f"events: the horizon of {self._mechanism.horizon} is reached")
        self._time += 1
        self._count += value
        below = self._time & (self._time - 1)
        self._noise = {time: noise for time, noise in self._noise.items() if time <= below}
        self._noise[self._time] = int(self._mechanism.node_noise.sample(1, self._rng)[0])
        return self._count + sum(self._noise.values())


class SparseVector(PureMechanism):
    """Sparse vector technique (AboveThreshold): compares values with a threshold until `count` of them lie above.

    Parameters
    ----------
    epsilon : float
        In [2^-20, 2^20], for the whole stream.
    threshold : float
        The public threshold.
    sensitivity : float
        Largest change of any value between neighbouring tables; positive.
    count : int
        Number of answers "above" after which it stops, from 1 to 2^20.

    Attributes
    ----------
    bias : float
        Bias of a noisy value less the noisy threshold, 0.

    Raises
    ------
    ValueError
        If a parameter is refused.

    Notes
    -----
    Values and threshold are rounded to a lattice, on which values move by at most d steps between neighbours. The
    threshold has noise r with P(r) proportional to e^(-epsilon_1 |r| / d), drawn once. Every value has independent
    noise with rate epsilon_2 / (2 c d), where c is `count`.

    Proof (Lyu, Su and Li, theorem 2). Compare the run on one table with threshold noise r and that on a neighbour with
    r + d. "Below": the neighbour's value is at most d higher and its threshold d higher, so every "below" is at least
    as likely, at no cost. "Above": the value's noise must make up for 2 d, a factor of e^(epsilon_2 / c) each, c times.
    The shift of r costs e^epsilon_1. In sum epsilon_1 + epsilon_2 = epsilon, for any number of values.

    The ratio epsilon_1 : epsilon_2 is 1 : (2 c)^(2/3), which minimizes the variance of the comparison. Sampling is
    exact (`defenses.dp.exact`). Published variants that draw no noise for values, or do not scale it by c, are not
    private at all.

    References
    ----------
    Dwork, Naor, Reingold, Rothblum and Vadhan (2009); Lyu, Su and Li (2017), Understanding the sparse vector technique.

    Examples
    --------
    >>> import numpy as np
    >>> from defenses.dp import SparseVector
    >>> mechanism = SparseVector(epsilon=20.0, threshold=100.0, count=1)
    >>> mechanism.release([0.0, 0.0, 200.0, 200.0], np.random.default_rng(0)).tolist()
    [False, False, True]
    """

    called = ("Sparse vector technique", "SVT", "AboveThreshold")

    bias: float = 0.0

    def __init__(
        self, *, epsilon: float = 1.0, threshold: float = 0.0, sensitivity: float = 1.0, count: int = 1
    ) -> None:
        super().__init__(epsilon=epsilon, sensitivity=sensitivity)
        self.threshold = check_real("threshold", threshold, low=-math.inf)
        self.count = check_integer("count", count, low=1)
        require(count <= 2**20, f"count must be at most 2^20, got {count}")

    @property
    def guarantee(self) -> Guarantee:
        """Epsilon for tables between which no value differs by more than the sensitivity."""
        return Guarantee(
            epsilon=float(self.epsilon),
            delta=0.0,
            statement=f"neighbours: tables between which no value differs by more than {self.sensitivity:g}; "
            f"the whole stream up to {self.count} above",
        )

    @property
    def shares(self) -> tuple[float, float]:
        """Shares of epsilon for the threshold and for the values."""
        first = float(self.epsilon) / (1 + (2 * self.count) ** (2 / 3))
        return first, float(self.epsilon) - first

    @property
    def variance(self) -> float:
        """Variance of a noisy value less the noisy threshold."""
        first, second = self._scales()
        return 2 * first**2 + 2 * second**2

    def error_bound(self, confidence: float, values: int) -> float:
        """Return a margin a > 0 beyond which all comparisons are correct with the given confidence.

        That is, no value below threshold - a is called above, and none above threshold + a is called below. With
        beta = 1 - confidence, the threshold's noise of scale b exceeds b ln(2 / beta) with probability beta / 2. Some
        value's noise of scale b exceeds b ln(2 values / beta) with probability at most beta / 2.

        Parameters
        ----------
        confidence : float
            In (0, 1).
        values : int
            Number of values that are compared, at least 1.

        Raises
        ------
        ValueError
            If a parameter is refused.
        """
        check_confidence(confidence)
        check_integer("values", values, low=1)
        first, second = self._scales()
        tail = 1 - confidence
        return first * math.log(2 / tail) + second * math.log(2 * values / tail) + 4 * self._step()

    def start(self, rng: Generator) -> SparseVectorSession:
        """Open a stream."""
        return SparseVectorSession(self, rng)

    @drawn_in_bulk
    def release(self, values: ArrayLike, rng: Generator) -> Booleans:
        """Return for each value in turn whether it lies above the threshold, until `count` do; shape (answers,).

        Raises
        ------
        ValueError
            If a value is NaN or infinite; nothing is answered then.
        """
        (answers,) = self.repeated(values, 1, rng)
        return np.asarray(answers[answers >= 0] == 1)

    def repeated(self, values: ArrayLike, runs: int, rng: Generator) -> NDArray[np.int8]:
        """Answer a stream in independent runs, shape (runs, values). For simulations: every run costs epsilon.

        An answer is 1 (above), 0 (below) or -1 (the run has stopped).

        Raises
        ------
        ValueError
            If a value is NaN or infinite, or `runs` is not an integer of at least 1; nothing is answered then.
        """
        numbers = checked_numbers(values).ravel()
        check_integer("runs", runs, low=1)
        threshold = self._noisy_threshold(runs, rng)[:, None]
        above = self._noisy(np.broadcast_to(numbers, (runs, numbers.size)), rng) >= threshold
        before: Integers64 = np.cumsum(above, axis=1) - above
        return np.where(before < self.count, above, -1).astype(np.int8)

    def _noisy_threshold(self, size: int, rng: Generator) -> Integers64:
        noise = two_sided_geometric(fraction(self.shares[0]) / self._between(), size, rng)
        return on_lattice(np.array([float(self.threshold)]), self._step()) + noise

    def _noisy(self, numbers: Floats, rng: Generator) -> Integers64:
        rate = fraction(self.shares[1]) / (2 * self.count * self._between())
        noise = two_sided_geometric(rate, numbers.size, rng).reshape(numbers.shape)
        return on_lattice(numbers, self._step()) + noise

    def _between(self) -> int:
        return steps_between(self.sensitivity, self._step())

    def _scales(self) -> tuple[float, float]:
        """Scales of the noise on the threshold and on a value."""
        first, second = self.shares
        moved = self._between() * self._step()
        return moved / first, 2 * self.count * moved / second


class SparseVectorSession:
    """A stream of comparisons with one noisy threshold."""

    def __init__(self, mechanism: SparseVector, rng: Generator) -> None:
        self._mechanism = mechanism
        self._rng = rng
        self._left = mechanism.count
        self._threshold = mechanism._noisy_threshold(1, rng)

    def above(self, value: float) -> bool:
        """Return whether a value lies above the threshold.

        Raises ValueError if the value is not a finite number. Raises BudgetSpent if `count` earlier values were above;
        nothing is computed then.
        """
        from defenses.base.queries import BudgetSpent

        require(
            self._left, f"{self._mechanism.count} values were above the threshold: the budget is spent", BudgetSpent
        )
        answer = bool((self._mechanism._noisy(checked_number(value), self._rng) >= self._threshold)[0])
        self._left -= answer
        return answer
