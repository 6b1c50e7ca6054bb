"""Statistical tests of change: paired Student's t, Wilcoxon's signed ranks, Holm's correction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metrics.arrays import Floats


@dataclass(frozen=True)
class TestedChange:
    """Estimate of a change, its confidence interval and its p-value.

    Attributes
    ----------
    estimate, low, high : float
        Change, and the ends of its interval.
    p : float
        Two-sided p-value of the hypothesis that the change does not exceed the tolerance.
    """

    estimate: float
    low: float
    high: float
    p: float


def student_test(mean: float, deviation: float, n: int, tolerance: float, level: float) -> TestedChange:
    """Student's t-test of a mean difference over n plays against a tolerance.

    Parameters
    ----------
    mean : float
        Mean difference.
    deviation : float
        Standard deviation of that mean.
    n : int
        Number of plays, at least 2.
    tolerance : float
        Absolute difference under the null hypothesis, at least 0.
    level : float
        One minus the confidence level of the interval, in (0, 1).
    """
    from scipy.special import stdtr, stdtrit

    half = float(stdtrit(n - 1, 1 - level / 2)) * deviation
    excess = max(abs(mean) - tolerance, 0.0)
    p = 1.0
    if excess > 0:
        p = 2 * float(stdtr(n - 1, -excess / deviation)) if deviation > 0 else 0.0
    return TestedChange(mean, mean - half, mean + half, max(p, smallest_p(n)))


def signed_rank_test(log_ratios: Floats, tolerance: float, level: float) -> TestedChange:
    """Wilcoxon's signed-rank test of time ratios against a tolerance, with the Hodges-Lehmann estimate.

    The estimate is the median of the pairwise means of the log ratios. Estimate and interval are given as head / base
    - 1.

    Parameters
    ----------
    log_ratios : ndarray of float, shape (plays,)
        Logarithms of head / base, at least 2.
    tolerance : float
        Slowdown or speed-up under the null hypothesis, as a share, at least 0.
    level : float
        One minus the confidence level of the interval, in (0, 1).

    References
    ----------
    Hodges and Lehmann (1963), Estimates of location based on rank tests.
    """
    from scipy.stats import norm, wilcoxon

    n = log_ratios.size
    first, second = np.triu_indices(n)
    walsh = np.sort((log_ratios[first] + log_ratios[second]) / 2)
    location = float(np.median(walsh))
    spread = norm.ppf(1 - level / 2) * np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    rank = int(np.clip(np.floor(n * (n + 1) / 4 - spread), 0, (walsh.size - 1) // 2))
    excess = np.sign(location) * max(abs(location) - np.log1p(tolerance), 0.0)
    p = 1.0
    if excess != 0:
        shifted = log_ratios - (location - excess)
        p = max(float(wilcoxon(shifted).pvalue), smallest_p(n)) if shifted.any() else 1.0
    estimate, low, high = (float(np.expm1(value)) for value in (location, walsh[rank], walsh[walsh.size - 1 - rank]))
    return TestedChange(estimate, low, high, p)


def smallest_p(n: int) -> float:
    """Smallest two-sided p-value of a sign-flip test of n differences, 2¹⁻ⁿ: their signs have 2ⁿ combinations."""
    return 2.0 ** (1 - n)


def holm(p_values: Sequence[float], level: float) -> list[bool]:
    """Holm's step-down procedure: which hypotheses are rejected at a family-wise error rate of `level`.

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure.
    """
    rejected = [False] * len(p_values)
    for step, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        if p_values[index] > level / (len(p_values) - step):
            break
        rejected[index] = True
    return rejected
