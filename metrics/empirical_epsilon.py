"""Empirical lower bounds on epsilon from repeated runs of a mechanism."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.columns.parameters import refuse, require
from metrics.estimate import Estimate, check_confidence, check_successes


def clopper_pearson(successes: int, n: int, confidence: float = 0.95) -> Estimate:
    """Success rate in `n` independent trials with the exact interval of Clopper and Pearson.

    The interval covers the true rate with probability at least `confidence`, for every rate and every `n`. Each side
    misses it with probability at most (1 - confidence) / 2.

    Parameters
    ----------
    successes : int
        Number of successes, between 0 and `n`.
    n : int
        Number of trials, at least 1.
    confidence : float
        Level of the interval, in (0, 1).

    Raises
    ------
    ValueError
        If `n` < 1, `successes` lies outside [0, n] or `confidence` outside (0, 1).

    References
    ----------
    Clopper and Pearson (1934), The use of confidence or fiducial limits illustrated in the case of the binomial.
    """
    check_successes(successes, n)
    check_confidence(confidence)
    tail = (1 - confidence) / 2
    return Estimate(successes / n, float(_lower(successes, n, tail)), float(_upper(successes, n, tail)), n)


def epsilon_lower_bound(
    first: ArrayLike, first_runs: int, second: ArrayLike, second_runs: int, *, delta: float = 0.0, confidence: float
) -> NDArray[np.float64]:
    """Lower bound on epsilon from the frequencies of an event on two neighbouring inputs.

    For every event with probabilities p and q on neighbouring inputs, an (epsilon, delta) private mechanism has p <=
    e^epsilon q + delta. By Clopper and Pearson, p >= p₋ and q <= q₊ hold with probability 1 - (1 - confidence)/2 each.
    Hence epsilon >= ln((p₋ - delta) / q₊) with probability `confidence`. The event must be fixed before these runs.

    Parameters
    ----------
    first, second : array_like of int, any common shape
        Number of runs with the event on the first and on the second input; one bound for each pair of entries.
    first_runs, second_runs : int
        Number of runs on each input.
    delta : float
        The claimed delta, in [0, 1).
    confidence : float
        Confidence level of each bound, in (0, 1).

    Returns
    -------
    ndarray of float, shape of `first`
        The bounds; 0 where the runs prove nothing.

    Raises
    ------
    ValueError
        If there are no runs, counts lie outside 0..runs, or `delta` or `confidence` outside its range.

    References
    ----------
    Jagielski, Ullman and Oprea (2020), Auditing differentially private machine learning, section 4.
    """
    first_counts, second_counts = np.asarray(first), np.asarray(second)
    for name, counts, runs in (("first", first_counts, first_runs), ("second", second_counts, second_runs)):
        refuse(
            runs < 1 or (counts.size and not (counts.min() >= 0 and counts.max() <= runs)),
            f"{name} must lie in 0..{name}_runs with {name}_runs >= 1",
        )
    require(0 <= delta < 1, f"delta must lie in [0, 1), got {delta}")
    check_confidence(confidence)
    tail = (1 - confidence) / 2
    excess = np.maximum(_lower(first_counts, first_runs, tail) - delta, 0)
    with np.errstate(divide="ignore"):
        bound: NDArray[np.float64] = np.log(excess) - np.log(_upper(second_counts, second_runs, tail))
    return np.maximum(bound, 0.0)


def _lower(successes: ArrayLike, n: int, tail: float) -> NDArray[np.float64]:
    from scipy.special import betaincinv

    counts = np.asarray(successes, dtype=float)
    # Without a success the bound is 0; the distribution Beta(0, ·) does not exist.
    return np.asarray(np.where(counts > 0, betaincinv(np.maximum(counts, 1), n - counts + 1, tail), 0.0))


def _upper(successes: ArrayLike, n: int, tail: float) -> NDArray[np.float64]:
    return 1 - _lower(n - np.asarray(successes, dtype=float), n, tail)
