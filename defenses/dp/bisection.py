"""Bisection for the number at which a condition stops holding."""

from __future__ import annotations

from collections.abc import Callable


def bisect(holds: Callable[[float], bool], low: float, high: float, steps: int) -> tuple[float, float]:
    """Halve [low, high] `steps` times, so that `holds` is true at the low end and false at the high end.

    The given ends are not tried: `holds` counts as true at `low` and as false at `high`.
    """
    for _ in range(steps):
        middle = (low + high) / 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low, high
