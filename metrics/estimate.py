"""Estimated rates with their intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Estimate:
    """An estimated rate or mean with a confidence interval.

    Parameters
    ----------
    value : float
        The point estimate.
    low, high : float
        Ends of the interval.
    n : int
        How many independent observations stand behind it (plays, not rows).
    """

    value: float
    low: float
    high: float
    n: int


def wilson(successes: float, n: int, confidence: float = 0.95) -> Estimate:
    """Rate of successes in `n` independent trials with Wilson's score interval.

    Parameters
    ----------
    successes : float
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
    Wilson (1927), Probable inference, the law of succession, and statistical inference.

    Examples
    --------
    >>> rate = wilson(9, 20)
    >>> print(f"{rate.value:.2f} in [{rate.low:.2f}, {rate.high:.2f}]")
    0.45 in [0.26, 0.66]
    """
    from scipy.special import ndtri

    check_successes(successes, n)
    check_confidence(confidence)
    z = float(ndtri((1 + confidence) / 2))
    rate = successes / n
    center = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    return Estimate(rate, min(rate, max(0.0, center - half)), max(rate, min(1.0, center + half)), n)


def across_plays(rates: ArrayLike, confidence: float = 0.95, *, trials: int = 1) -> Estimate:
    """Mean of per-play rates with Student's t interval, clipped to [0, 1].

    Rows of one play are not independent of each other, plays are: each play counts once. A single play, and plays
    that all came out the same, have no spread to learn from; the interval then is Wilson's for all their trials.

    Parameters
    ----------
    rates : array_like, shape (plays,)
        One finite rate per play.
    confidence : float
        Level of the interval, in (0, 1).
    trials : int
        How many trials (rows, persons) the rate of one play is a share of.

    Raises
    ------
    ValueError
        If there is no rate, one is not finite or lies outside [0, 1], `trials` < 1 or `confidence` outside (0, 1).
    """
    from scipy.special import stdtrit

    values = np.asarray(rates, dtype=float)
    if values.ndim != 1 or values.size == 0:
        raise ValueError("rates must be a non-empty one-dimensional sequence, one number per play")
    if not np.isfinite(values).all() or values.min() < 0 or values.max() > 1:
        raise ValueError("rates must be finite and lie in [0, 1]")
    if trials < 1:
        raise ValueError(f"trials must be at least 1, got {trials}")
    check_confidence(confidence)
    n = values.size
    mean = float(values.mean())
    if n == 1 or np.ptp(values) == 0:
        pooled = wilson(min(n * trials * mean, n * trials), n * trials, confidence)
        return Estimate(mean, pooled.low, pooled.high, n)
    half = float(stdtrit(n - 1, (1 + confidence) / 2)) * float(values.std(ddof=1)) / np.sqrt(n)
    return Estimate(mean, max(0.0, mean - half), min(1.0, mean + half), n)


def check_successes(successes: float, n: int) -> None:
    """Raise ValueError unless there are trials, and no more successes among them."""
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"successes must lie in 0..n with n >= 1, got {successes} of {n}")


def check_confidence(confidence: float) -> None:
    """Raise ValueError unless the confidence lies in (0, 1)."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie in (0, 1), got {confidence}")
