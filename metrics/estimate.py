"""Estimated rates with confidence intervals."""

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
        Number of independent observations (plays, not rows).
    """

    value: float
    low: float
    high: float
    n: int


def wilson(successes: float, n: int, confidence: float = 0.95) -> Estimate:
    """Success rate in `n` independent trials with Wilson's score interval.

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
    >>> from metrics import wilson
    >>> rate = wilson(76, 100)
    >>> print(f"{rate.value} [{rate.low:.4f}, {rate.high:.4f}]")
    0.76 [0.6677, 0.8331]
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

    Plays are independent of each other, but the rows of one play are not, so that each play counts as one observation.
    A single play, or plays with equal rates, give no estimate of the variance. The interval is then Wilson's interval
    for the trials of all plays.

    Parameters
    ----------
    rates : array_like, shape (plays,)
        One finite rate per play.
    confidence : float
        Level of the interval, in (0, 1).
    trials : int
        Number of trials (rows, persons) behind the rate of one play.

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
    """Raise ValueError unless `n` is at least 1 and `successes` lies in [0, n]."""
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"successes must lie in 0..n with n >= 1, got {successes} of {n}")


def check_confidence(confidence: float) -> None:
    """Raise ValueError unless the confidence lies in (0, 1)."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie in (0, 1), got {confidence}")
