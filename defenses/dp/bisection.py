"""Where a condition on numbers ceases to hold."""

from __future__ import annotations

from collections.abc import Callable


def bisect(holds: Callable[[float], bool], low: float, high: float, steps: int) -> tuple[float, float]:
    """Ends of [low, high] once it was halved so many times, where `holds` at the low end and not at the high one.

    Neither end that is given is tried: `holds` counts as true at `low` and as false at `high`.
    """
    for _ in range(steps):
        middle = (low + high) / 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low, high
