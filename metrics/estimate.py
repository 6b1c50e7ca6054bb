"""Estimated rates with confidence intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from metrics.columns import refuse, require


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

    Examples
    --------
    >>> from metrics import wilson
    >>> rate = wilson(76, 100)
    >>> rate.value, rate.n, rate.low < 0.7 < rate.high
    (0.76, 100, True)
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
    rate = successes / n
    return Estimate(rate, *_score_interval(rate, n, float(ndtri((1 + confidence) / 2))), n)


def across_plays(rates: ArrayLike, confidence: float = 0.95, *, trials: int | None = None) -> Estimate:
    r"""Mean of per-play rates with an interval across plays that also holds near 0 and 1.

    Plays are independent of each other, but the rows of one play are not, so that each play counts as one observation.
    The interval spans two others. One is Student's t interval, clipped to [0, 1]. Near 0 and 1 the rates of few plays
    are too skewed for it. The other is Wilson's score interval of the pooled rate p for n T / d trials, where n is the
    number of plays, T of trials in a play, and d = max(1, T s² / (p (1 - p))) the design effect (Kish). It estimates
    how much the variance s² between plays exceeds that of T independent trials. If d > 1, the quantile is Student's.

    A single play, or plays with equal rates, give no estimate of the variance. The interval is then Wilson's interval
    for the trials of all plays.

    In simulations of 5 to 50 plays the 95 % interval covered at least 94 % of the time. The plays had 20 to 1000 trials
    each and mean rates from .002 to .998. Their true rates varied by up to half of the rate, or of its distance to 1.

    Parameters
    ----------
    rates : array_like, shape (plays,)
        One finite rate per play.
    confidence : float
        Level of the interval, in (0, 1).
    trials : int, optional
        Number of trials (rows, persons) behind the rate of one play. Without it, the design effect may be below 1, and
        plays with equal rates count as one trial each.

    Raises
    ------
    ValueError
        If there is no rate, one is not finite or lies outside [0, 1], `trials` < 1 or `confidence` outside (0, 1).

    References
    ----------
    Kish (1965), Survey sampling, section 8.2, for the design effect; Dean and Pagano (2015), Evaluating confidence
    interval methods for binomial proportions in clustered surveys, for score intervals with it.
    """
    from scipy.special import stdtrit

    values = np.asarray(rates, dtype=float)
    require(
        values.ndim == 1 and values.size != 0,
        "rates must be a non-empty one-dimensional sequence, one number per play",
    )
    refuse(
        not np.isfinite(values).all() or values.min() < 0 or values.max() > 1, "rates must be finite and lie in [0, 1]"
    )
    refuse(trials is not None and trials < 1, f"trials must be at least 1, got {trials}")
    check_confidence(confidence)
    n = values.size
    mean = float(values.mean())
    if n == 1 or np.ptp(values) == 0:
        total = n * (trials or 1)
        pooled = wilson(min(total * mean, total), total, confidence)
        return Estimate(mean, pooled.low, pooled.high, n)
    quantile = float(stdtrit(n - 1, (1 + confidence) / 2))
    variance = float(values.var(ddof=1))
    half = quantile * float(np.sqrt(variance / n))
    # As many independent trials would vary as the mean does.
    equivalent = mean * (1 - mean) * n / variance
    if trials is not None and equivalent >= n * trials:
        pooled = wilson(min(n * trials * mean, n * trials), n * trials, confidence)
        low, high = pooled.low, pooled.high
    else:
        low, high = _score_interval(mean, equivalent, quantile)
    return Estimate(mean, min(low, max(0.0, mean - half)), max(high, min(1.0, mean + half)), n)


def _score_interval(rate: float, n: float, z: float) -> tuple[float, float]:
    """Ends of Wilson's score interval for a rate of n trials, with the quantile z."""
    center = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * float(np.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n)))
    return min(rate, max(0.0, center - half)), max(rate, min(1.0, center + half))


def check_successes(successes: float, n: int) -> None:
    """Raise ValueError unless `n` is at least 1 and `successes` lies in [0, n]."""
    require(n >= 1 and 0 <= successes <= n, f"successes must lie in 0..n with n >= 1, got {successes} of {n}")


def check_confidence(confidence: Any) -> None:
    """Raise ValueError unless the confidence is a number in (0, 1)."""
    number = isinstance(confidence, int | float | np.integer | np.floating) and not isinstance(confidence, bool)
    require(number and 0 < confidence < 1, f"confidence must be a number above 0 and below 1, got {confidence!r}")
