"""The analytic Gaussian mechanism: exact delta and least standard deviation of continuous Gaussian noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

# Bisection for the number at which a condition stops holding.


def bisect(
    holds: Callable[[float], bool], low: float, high: float, steps: int, *, geometric: bool = False
) -> tuple[float, float]:
    """Halve [low, high] `steps` times, so that `holds` is true at the low end and false at the high end.

    The given ends are not tried: `holds` counts as true at `low` and as false at `high`. The middle is the arithmetic
    or the geometric mean of the ends.
    """
    for _ in range(steps):
        middle = math.sqrt(low * high) if geometric else (low + high) / 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low, high


def doubled(holds: Callable[[float], bool], number: float) -> float:
    """Double a positive number until the condition no longer holds."""
    while holds(number):
        number *= 2
    return number


SMALLEST_DELTA = 1e-300
"""Smallest supported delta; smaller ones come near the smallest floating-point numbers."""


def gaussian_delta(sigma: float, epsilon: float, sensitivity: float = 1.0) -> float:
    """Return the least delta at which Gaussian noise of standard deviation sigma is (epsilon, delta)-private.

    References
    ----------
    Balle and Wang (2018), Improving the Gaussian mechanism for differential privacy, theorem 8.
    """
    from scipy.special import log_ndtr

    half, shift = sensitivity / (2 * sigma), epsilon * sigma / sensitivity
    first, second = float(log_ndtr(half - shift)), float(log_ndtr(-half - shift))
    # Computed in logarithms, because e^epsilon alone may overflow.
    return math.exp(first) * -math.expm1(min(0.0, epsilon + second - first))


@lru_cache(maxsize=1024)
def unit_sigma(epsilon: float, delta: float) -> float:
    """Return the least sigma at sensitivity 1, rounded up by 10^-9 in proportion; delta lies in [10^-300, 1)."""

    def exceeded(sigma: float) -> bool:
        return gaussian_delta(sigma, epsilon) > delta

    return bisect(exceeded, 1e-9, doubled(exceeded, 1.0), 100, geometric=True)[1] * (1 + 1e-9)
