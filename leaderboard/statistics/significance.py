"""Statistical tests of change: paired Student's t, Wilcoxon's signed ranks, corrections for many tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from leaderboard.statistics.pairs import PlacedSetting
from metrics.columns import Booleans, Floats

ROUNDING = 1e-9
"""A change that exceeds its tolerance by less has reached it, and no more: sums of shares are rounded at 1e-16."""


@dataclass(frozen=True, kw_only=True)
class JudgedDifference(PlacedSetting):
    """Base of differences that are tested over plays and judged together with others.

    - low, high: Interval of the difference across plays.
    - p: Two-sided p-value.
    - smallest_p: Smallest p-value that so many plays can give.
    - plays: Number of plays that both sides have.
    - significant: Whether the difference is significant after correction for multiple tests.
    - judged: Whether the plays suffice for any difference to be significant.
    """

    attack_parameters: dict[str, Any]
    low: float
    high: float
    p: float
    smallest_p: float
    plays: int
    significant: bool = False
    judged: bool = True


@dataclass(frozen=True)
class TestedChange:
    """Estimate of a change, its confidence interval and its p-value.

    - estimate, low, high: Change, and the ends of its interval.
    - p: Two-sided p-value of the hypothesis that the change does not exceed the tolerance.
    - smallest_p: Smallest p-value that the test can give with its number of plays.
    """

    estimate: float
    low: float
    high: float
    p: float
    smallest_p: float = 0.0


def student_test(mean: float, deviation: float, n: int, tolerance: float, level: float) -> TestedChange:
    """Student's t-test of a mean difference over n plays against a tolerance.

    The test assumes that the differences of plays are normally distributed. Differences between two runs of equal
    methods are symmetric about 0, and heavy tails make the test conservative. A sample deviation that is small by
    accident makes the p-value too small, above all if every play succeeds entirely or not at all. The p-value is
    therefore at least `student_floor`.

    - deviation: Standard deviation of that mean.
    - n: Number of plays, at least 2.
    - tolerance: Absolute difference under the null hypothesis, at least 0.
    - level: One minus the confidence level of the interval, in (0, 1).
    """
    from scipy.special import stdtr, stdtrit

    half = float(stdtrit(n - 1, 1 - level / 2)) * deviation
    excess = _excess(mean, tolerance)
    p = 1.0
    if excess > 0:
        p = 2 * float(stdtr(n - 1, -excess / deviation)) if deviation > 0 else 0.0
    return TestedChange(mean, mean - half, mean + half, max(p, student_floor(n)), student_floor(n))


def signed_rank_test(log_ratios: Floats, tolerance: float, level: float) -> TestedChange:
    """Wilcoxon's signed-rank test of time ratios against a tolerance, with the Hodges-Lehmann estimate.

    The estimate is the median of the pairwise means of the log ratios. Estimate and interval are given as head / base
    - 1.

    - log_ratios, shape (plays,): Logarithms of head / base, at least 2.
    - tolerance: Slowdown or speed-up under the null hypothesis, as a share, at least 0.
    - level: One minus the confidence level of the interval, in (0, 1).

    Source: Hodges and Lehmann (1963), Estimates of location based on rank tests.
    """
    from scipy.stats import norm, wilcoxon

    n = log_ratios.size
    first, second = np.triu_indices(n)
    walsh = np.sort((log_ratios[first] + log_ratios[second]) / 2)
    location = float(np.median(walsh))
    spread = norm.ppf(1 - level / 2) * np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    rank = int(np.clip(np.floor(n * (n + 1) / 4 - spread), 0, (walsh.size - 1) // 2))
    excess = np.sign(location) * _excess(location, float(np.log1p(tolerance)))
    p = 1.0
    if excess != 0:
        shifted = log_ratios - (location - excess)
        p = max(float(wilcoxon(shifted).pvalue), signed_rank_floor(n)) if shifted.any() else 1.0
    estimate, low, high = (float(np.expm1(value)) for value in (location, walsh[rank], walsh[walsh.size - 1 - rank]))
    return TestedChange(estimate, low, high, p, signed_rank_floor(n))


def _excess(change: float, tolerance: float) -> float:
    """By how much the size of a change exceeds a tolerance; 0 for a rounding error."""
    excess = abs(change) - tolerance
    return excess if excess > ROUNDING else 0.0


def student_floor(n: int) -> float:
    """Probability bound 2 · 4⁻ⁿ: n plays of two equal methods all differ by one and the same amount.

    Let X and Y be the two results of one play, independent with one distribution. For every d ≠ 0, the probability of
    X - Y = d is ∑ₓ P(x) P(x - d). Along each chain x, x + d, x + 2d, ... this sum is at most the total of the chain's
    even terms times that of its odd terms. Hence it is at most 1/4. All n differences equal d, or all -d, with
    probability at most 2 · 4⁻ⁿ. Plays that succeed entirely or not at all, with probability 1/2 each, attain the bound.
    """
    return float(2 * 4.0**-n)


def signed_rank_floor(n: int) -> float:
    """Smallest two-sided p-value of a signed-rank test of n differences, 2¹⁻ⁿ: their signs have 2ⁿ combinations."""
    return float(2.0 ** (1 - n))


def able_to_reject(smallest_p_values: Sequence[float], level: float) -> Booleans:
    """Tests that can reject at a level after correction for all of them, shape (tests,) (Tarone's procedure).

    A test cannot reject if its smallest p-value exceeds the corrected level, and needs no correction. Let m(k) be the
    number of tests with a smallest p-value of at most level / k. The procedure keeps the tests that m counts at the
    smallest k with m(k) ≤ k. The choice depends only on numbers of plays, so that Holm's correction of the remaining
    tests bounds the family-wise error rate.

    Source: Tarone (1990), A modified Bonferroni method for discrete data.
    """
    smallest = np.asarray(smallest_p_values, dtype=float)
    k = next(k for k in count(1) if np.count_nonzero(smallest <= level / k) <= k)
    return np.asarray(smallest <= level / k)


def shared_level(measures: Sequence[str], level: float) -> dict[bool, float]:
    """Level of the tests of times (True), and of those of utility and success (False).

    Each kind gets half of the level where both occur (Bonferroni). The tests of times are few and need more plays. They
    then need no correction for the many tests of success.

    - measures: Measure of each test: ``time``, ``utility`` or a goal.
    - level: Family-wise error rate of all tests, in (0, 1).
    """
    kinds = {measure == "time" for measure in measures}
    return {kind: level / len(kinds) for kind in kinds}


def plays_for(measures: Sequence[str], level: float) -> int:
    """Smallest number of plays with which the test of every measure can reject after Bonferroni's correction.

    - measures: Measure of each test: ``time``, ``utility`` or a goal.
    - level: Family-wise error rate, in (0, 1).
    """
    floors = {True: signed_rank_floor, False: student_floor}
    tests = {kind: sum((measure == "time") == kind for measure in measures) for kind in floors}
    levels = shared_level(measures, level)
    return next(n for n in count(2) if all(floors[kind](n) * tests[kind] <= levels[kind] for kind in levels))


def holm(p_values: Sequence[float], level: float) -> list[bool]:
    """Holm's step-down procedure: which hypotheses are rejected at a family-wise error rate of `level`.

    Source: Holm (1979), A simple sequentially rejective multiple test procedure.
    """
    rejected = [False] * len(p_values)
    for step, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        if p_values[index] > level / (len(p_values) - step):
            break
        rejected[index] = True
    return rejected


def corrected(p_values: Sequence[float], smallest_p_values: Sequence[float], level: float) -> list[bool | None]:
    """Whether each hypothesis is rejected after Holm's correction; None for tests that cannot reject (Tarone).

    - p_values, smallest_p_values: P-value of each test, and the smallest one that it can give.
    - level: Family-wise error rate, in (0, 1).

    Examples
    --------
    >>> corrected([0.01, 0.04, 0.5], [0.001, 0.001, 0.5], 0.05)
    [True, True, None]
    """
    able = able_to_reject(smallest_p_values, level)
    judged = [number for number, can_reject in enumerate(able) if can_reject]
    rejected = dict(zip(judged, holm([p_values[number] for number in judged], level), strict=True))
    return [rejected.get(number) for number in range(len(p_values))]
