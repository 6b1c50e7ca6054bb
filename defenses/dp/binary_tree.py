"""The binary tree mechanism: running counts of a stream."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from defenses.base import Guarantee
from defenses.dp.laplace import DiscreteLaplace
from defenses.dp.mechanism import PureMechanism, checked_integers, drawn_in_bulk
from metrics.columns import Integers64, check_integer, require
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

    Parameters
    ----------
    mechanism : BinaryTree
        Gives the horizon and the noise.
    rng : Generator
        Draws the noise.
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
