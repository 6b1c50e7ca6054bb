"""Public points among which a quantile is selected."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from metrics.columns import Floats, Integers64

MOST_STEPS = 2**53
"""Largest number of steps, up to which positions are exact as floating-point numbers."""
EVEN_STEPS = 2**40
"""Number of even steps of a column whose digits after the point are not declared."""


@dataclass(frozen=True)
class QuantileGrid:
    """Evenly spaced public points within a column's bounds.

    Parameters
    ----------
    start, step : Fraction
        First point, and distance of two points; 0 for a single point.
    points : int
        Number of points; 0 if none lies within the bounds.
    own : bool
        Whether they are all numbers that the column may hold.

    Examples
    --------
    >>> ages = QuantileGrid.of(0.0, 120.0, decimals=0)
    >>> ages.points, ages.value(40), ages.positions(np.array([40.0, 17.6])).tolist()
    (121, 40.0, [40, 18])
    """

    start: Fraction
    step: Fraction
    points: int
    own: bool

    @classmethod
    def of(cls, low: float, high: float, *, decimals: int | None) -> QuantileGrid:
        """Make the grid of a column with these public bounds, from which alone it follows.

        Columns of integers (0 decimals) and of numbers with declared decimals have all these numbers as points, or if
        there are too many, every second one, every third one, and so on. Others have even steps from bound to bound.
        """
        if decimals is None:
            spacing = float(np.spacing(max(abs(low), abs(high))))
            steps = int(min(EVEN_STEPS, (high - low) / spacing))
            width = Fraction(high) - Fraction(low)
            return cls(Fraction(low), width / steps if steps else Fraction(0), steps + 1, own=not steps)
        unit = Fraction(1, 10**decimals)
        # Bounds with decimals are multiples of the unit up to the rounding of their last bit.
        first = round(Fraction(low) / unit) if decimals else math.ceil(low)
        last = round(Fraction(high) / unit) if decimals else math.floor(high)
        times = max(1, -(-(last - first) // MOST_STEPS))
        return cls(first * unit, times * unit, (last - first) // times + 1, own=times == 1)

    def positions(self, values: Floats) -> Integers64:
        """Position of the nearest point of each value, shape (m,)."""
        if self.points == 1:
            return np.zeros(values.shape, dtype=np.int64)
        steps = np.rint((values - float(self.start)) / float(self.step))
        return np.asarray(np.clip(steps, 0, self.points - 1).astype(np.int64))

    def value(self, position: int) -> float:
        """Return the point at a position."""
        return float(self.start + position * self.step)
