"""Intervals of private answers, from noisy parts and bounds on their errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from defenses.curators.answer_plan import Ends


def within(value: Any, bound: float, low: float, high: float) -> Ends:
    """Interval of a noisy value, or an array of them, whose exact value lies within [low, high]."""
    return np.clip(value - bound, low, high), np.clip(value + bound, low, high)


def quotient_interval(
    noisy: tuple[float, float], bounds: tuple[float, float], offset: float, ends: tuple[float, float]
) -> Ends:
    """Interval of offset + total / count, for a noisy total and a noisy count of at least 1.

    For either number fixed the quotient is monotone in the other, so that its extremes lie in corners.

    Parameters
    ----------
    noisy : tuple of float
        Total and count, both noisy.
    bounds : tuple of float
        Bounds on their errors.
    offset : float
        What is added to the quotient.
    ends : tuple of float
        Ends between which the exact result lies.
    """
    counts = [max(1.0, noisy[1] - bounds[1]), max(1.0, noisy[1] + bounds[1])]
    corners = [offset + (noisy[0] + sign * bounds[0]) / count for sign in (-1, 1) for count in counts]
    return float(np.clip(min(corners), *ends)), float(np.clip(max(corners), *ends))


def correlation_interval(noisy: Sequence[float], bounds: Sequence[float]) -> Ends:
    """Interval of a correlation, from two noisy variances and the noisy covariance.

    Where a variance may be 0, it is [-1, 1]. Otherwise c / sqrt(v w) is monotone in c. It grows with v and w where c is
    negative and falls where c is positive.
    """
    lows = [value - bound for value, bound in zip(noisy, bounds, strict=True)]
    highs = [value + bound for value, bound in zip(noisy, bounds, strict=True)]
    if min(lows[:2]) <= 0:
        return -1.0, 1.0

    def quotient(covariance: float, variances: Sequence[float]) -> float:
        return float(np.clip(covariance / math.sqrt(variances[0]) / math.sqrt(variances[1]), -1.0, 1.0))

    return quotient(lows[2], lows if lows[2] < 0 else highs), quotient(highs[2], highs if highs[2] < 0 else lows)
