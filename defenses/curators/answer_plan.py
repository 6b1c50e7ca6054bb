"""Plan of a private answer: exact parts, the noise of each part, and the answer with its interval."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.random import Generator

from defenses.base import Answer, Microdata
from defenses.dp import DiscreteLaplace, Exponential, Laplace
from defenses.dp.exact import discrete_gaussian, fraction
from defenses.dp.mechanism import check_privacy, lattice_step, on_lattice, steps_between
from defenses.dp.sensitivity import histogram_sensitivity
from metrics.columns import Floats, Integers64, require
from metrics.estimate import check_confidence

# Noise for the parts of a curator's answer, of Laplace or of Gaussian kind.


class AnswerNoise(ABC):
    """Noise of one kind, with the privacy budget of one answer."""

    def __init__(self, rng: Generator) -> None:
        self.rng = rng

    @abstractmethod
    def split(self, parts: int) -> AnswerNoise:
        """Return noise with an equal share of the budget, for one of `parts` parts of the answer."""

    @abstractmethod
    def number(self, value: float, sensitivity: float) -> float:
        """Return a number with noise."""

    @abstractmethod
    def counts(self, values: Floats, replaced: bool) -> Floats:
        """Return counts of disjoint cells with noise; `replaced` says that a record may move between two cells."""

    @abstractmethod
    def selection(self) -> float:
        """Return the epsilon that a selection may spend."""

    @abstractmethod
    def number_bound(self, sensitivity: float, confidence: float) -> float:
        """Return a bound on the error of `number`, exceeded with probability at most 1 - confidence."""

    @abstractmethod
    def count_bound(self, replaced: bool, confidence: float) -> float:
        """Return a bound on the error of one cell of `counts`, exceeded with probability at most 1 - confidence."""


class LaplaceAnswerNoise(AnswerNoise):
    """Laplace noise.

    Raises ValueError if epsilon, or a quarter of it, lies outside of [2^-20, 2^20].
    """

    def __init__(self, epsilon: float, rng: Generator) -> None:
        super().__init__(rng)
        # Parts that could not be drawn are refused here, before anything is spent.
        check_privacy(epsilon, 1)
        check_privacy(epsilon / 4, 1)
        self.epsilon = epsilon

    def split(self, parts: int) -> LaplaceAnswerNoise:
        """Return noise with an equal share of epsilon."""
        return LaplaceAnswerNoise(self.epsilon / parts, self.rng)

    def number(self, value: float, sensitivity: float) -> float:
        """Return a number with noise on a fine lattice."""
        if sensitivity == 0:
            return value
        return float(Laplace(epsilon=self.epsilon, sensitivity=sensitivity).release(value, self.rng))

    def counts(self, values: Floats, replaced: bool) -> Floats:
        """Return counts with integer noise."""
        return np.asarray(self._of_counts(replaced).release(values, self.rng))

    def selection(self) -> float:
        """Return epsilon itself."""
        return self.epsilon

    def number_bound(self, sensitivity: float, confidence: float) -> float:
        """Return the bound of `Laplace`."""
        return Laplace(epsilon=self.epsilon, sensitivity=sensitivity).error_bound(confidence)

    def count_bound(self, replaced: bool, confidence: float) -> float:
        """Return the bound of `DiscreteLaplace`, an integer."""
        return self._of_counts(replaced).error_bound(confidence)

    def _of_counts(self, replaced: bool) -> DiscreteLaplace:
        sensitivity = int(histogram_sensitivity("replace" if replaced else "add or remove"))
        return DiscreteLaplace(epsilon=self.epsilon, sensitivity=sensitivity)


class GaussianAnswerNoise(AnswerNoise):
    """Gaussian noise of a given zero-concentrated privacy: variance sensitivity^2 / (2 rho), in L2 norm.

    Raises ValueError if rho lies outside of [2^-60, 2^40].
    """

    def __init__(self, rho: float, rng: Generator) -> None:
        super().__init__(rng)
        require(2.0**-60 <= rho <= 2.0**40, f"epsilon must give a rho in [2^-60, 2^40], got {rho:.3g}")
        self.rho = rho

    def split(self, parts: int) -> GaussianAnswerNoise:
        """Return noise with an equal share of rho."""
        return GaussianAnswerNoise(self.rho / parts, self.rng)

    def number(self, value: float, sensitivity: float) -> float:
        """Return a number with noise on a lattice, on which it moves by at most ceil(sensitivity / step) + 1 steps."""
        if sensitivity == 0:
            return value
        step, variance = self._of_number(sensitivity)
        noise = discrete_gaussian(variance, 1, self.rng)
        return float((on_lattice(np.array([value]), step) + noise)[0] * step)

    def counts(self, values: Floats, replaced: bool) -> Floats:
        """Return counts with integer noise."""
        noise = discrete_gaussian(self._of_counts(replaced), values.size, self.rng)
        return np.asarray(values + noise.reshape(values.shape))

    def selection(self) -> float:
        """Return the epsilon with epsilon^2 / 2 = rho."""
        return math.sqrt(2 * self.rho)

    def number_bound(self, sensitivity: float, confidence: float) -> float:
        """Return the two-sided quantile of the normal distribution, and a step and a half for the lattice.

        For integer noise z and a normal N of the same parameter, P(z >= m) <= P(N >= m - 1) (`DiscreteGaussian`).
        """
        step, variance = self._of_number(sensitivity)
        return (_normal_quantile(confidence) * math.sqrt(variance) + 1.5) * step

    def count_bound(self, replaced: bool, confidence: float) -> float:
        """Return the bound of `DiscreteGaussian`, an integer."""
        return float(math.ceil(_normal_quantile(confidence) * math.sqrt(self._of_counts(replaced))))

    def _of_number(self, sensitivity: float) -> tuple[float, Fraction]:
        """Step of the lattice, and variance of the noise in steps."""
        step = lattice_step(sensitivity, sensitivity / math.sqrt(2 * self.rho))
        return step, Fraction(steps_between(sensitivity, step) ** 2) / (2 * fraction(self.rho))

    def _of_counts(self, replaced: bool) -> Fraction:
        """Variance of the noise."""
        return Fraction(2 if replaced else 1) / (2 * fraction(self.rho))


def _normal_quantile(confidence: float) -> float:
    """Bound that a standard normal number exceeds in absolute value with probability 1 - confidence."""
    from statistics import NormalDist

    check_confidence(confidence)
    return -NormalDist().inv_cdf((1 - confidence) / 2)


# Public points among which a quantile is selected.

MOST_STEPS = 2**53
"""Largest number of steps, up to which positions are exact as floating-point numbers."""
EVEN_STEPS = 2**40
"""Number of even steps of a column whose digits after the point are not declared."""


@dataclass(frozen=True)
class QuantileGrid:
    """Evenly spaced public points within a column's bounds.

    - start, step: First point, and distance of two points; 0 for a single point.
    - points: Number of points; 0 if none lies within the bounds.
    - own: Whether they are all numbers that the column may hold.

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


Ends = tuple[Any, Any]
"""Lower and upper end of an interval: two numbers, or two arrays of the answer's shape."""


@dataclass(frozen=True)
class NoisyPart(ABC):
    """One exact quantity of a plan that is released with noise.

    - title: Name of the quantity, as messages show it.
    """

    title: str

    @property
    def step(self) -> float | None:
        """Distance of the points to which numbers are rounded first; None where they are not."""
        return None

    @abstractmethod
    def release(self, exact: Any, noise: AnswerNoise) -> Any:
        """Return the quantity with noise."""

    @abstractmethod
    def bound(self, noise: AnswerNoise, confidence: float) -> float:
        """Return a bound on the absolute error, exceeded with probability at most 1 - confidence."""


@dataclass(frozen=True)
class NumberPart(NoisyPart):
    """A number with noise scaled to its sensitivity.

    - sensitivity: Largest change of the number by one record; 0 for a number that needs no noise.
    """

    sensitivity: float

    def release(self, exact: float, noise: AnswerNoise) -> float:
        """Return the number with noise."""
        return noise.number(exact, self.sensitivity)

    def bound(self, noise: AnswerNoise, confidence: float) -> float:
        """Return the noise's bound; 0 without noise."""
        return noise.number_bound(self.sensitivity, confidence) if self.sensitivity else 0.0


@dataclass(frozen=True)
class CountsPart(NoisyPart):
    """Counts of disjoint cells with integer noise.

    - replaced: Whether one record may move between two cells.
    """

    cells: int = 1
    replaced: bool = False

    def release(self, exact: Any, noise: AnswerNoise) -> Any:
        """Return the counts with noise, in their own shape."""
        return noise.counts(exact, self.replaced)

    def bound(self, noise: AnswerNoise, confidence: float) -> float:
        """Return a bound on the errors of all cells together (Bonferroni)."""
        return noise.count_bound(self.replaced, joint(confidence, self.cells))


@dataclass(frozen=True)
class SelectedPart(NoisyPart):
    """The position of an option that the exponential mechanism selects by its score.

    - sensitivity: Largest change of a score by one record.
    """

    sensitivity: float
    options: int

    def release(self, exact: Any, noise: AnswerNoise) -> int:
        """Return the position of the selected option."""
        return self._mechanism(noise).release(exact, noise.rng)

    def bound(self, noise: AnswerNoise, confidence: float) -> float:
        """Return a bound on the selected option's distance from the highest score."""
        return self._mechanism(noise).error_bound(confidence, self.options)

    def _mechanism(self, noise: AnswerNoise) -> Exponential:
        return Exponential(epsilon=noise.selection(), sensitivity=self.sensitivity)


@dataclass(frozen=True)
class GridPart(SelectedPart):
    """The position of a point of a public grid.

    The exact value is the first position of each group of neighbouring points of equal score, and their scores.

    - grid: The points, to which numbers are rounded before points are scored.
    """

    grid: QuantileGrid

    @property
    def step(self) -> float:
        """Distance of two points."""
        return float(self.grid.step)

    def release(self, exact: tuple[Integers64, Floats], noise: AnswerNoise) -> int:
        """Return the position of the selected point."""
        starts, scores = exact
        sizes = np.diff(starts, append=self.grid.points)
        group, position = self._mechanism(noise).release_grouped(scores, sizes, noise.rng)
        return int(starts[group]) + position


@dataclass(frozen=True)
class PartBound:
    """Bound on the noise's error in one part of an answer.

    - bound: Bound on its absolute error.
    - step: Distance of the points to which numbers are rounded first; the bound is about the rounded numbers. None
      where they are not rounded.
    """

    title: str
    bound: float
    step: float | None = None


@dataclass(frozen=True)
class Measurement:
    """A private answer with bounds on the error of its noise.

    - interval: Lower and upper end, in the answer's shape; None where the bound is on ranks or counts, not on the
      answer.
    - bounds: Bounds on the error of each part. They hold jointly at the confidence asked for.
    - note: Warning about an answer whose noise leaves it without meaning, else empty. It is computed from the noisy
      parts and costs nothing.
    """

    answer: Answer
    interval: Ends | None
    bounds: tuple[PartBound, ...]
    note: str = ""


@dataclass(frozen=True)
class AnswerPlan:
    """How a query is answered; made from public information only.

    - exact: Reads the records and returns the exact value of each part.
    - parts: The noise of each part. Several parts share the budget evenly.
    - combine: Makes the answer of the noisy parts, which are its arguments.
    - interval, optional: Called with the noisy parts and the bounds on their errors, two sequences. It returns an
      interval that contains the exact answer wherever each part's error is within its bound.
    - note, optional: Called as `interval` is. It returns the note of a `Measurement`.
    """

    exact: Callable[[Microdata], Sequence[Any]]
    parts: tuple[NoisyPart, ...]
    combine: Callable[..., Any]
    interval: Callable[[Sequence[Any], Sequence[float]], Ends] | None = None
    note: Callable[[Sequence[Any], Sequence[float]], str] | None = None

    def __call__(self, records: Microdata, noise: AnswerNoise) -> Answer:
        """Read the records, draw the noise and return the answer."""
        answer: Answer = self.combine(*self._released(records, noise))
        return answer

    def bounds(self, noise: AnswerNoise, confidence: float) -> tuple[PartBound, ...]:
        """Bounds on the error of each part, which hold jointly with this confidence (Bonferroni).

        They bound the error of the noise. Values outside of the declared bounds are clipped, and missing ones count as
        the middle; what that changes is not bounded.
        """
        share, level = self._share(noise), joint(confidence, len(self.parts))
        return tuple(PartBound(part.title, part.bound(share, level), part.step) for part in self.parts)

    def measure(self, records: Microdata, noise: AnswerNoise, confidence: float) -> Measurement:
        """Answer as `__call__` does, and state the answer's interval.

        Interval and note are functions of the noisy parts and of public information, so that they cost nothing.
        """
        bounds = self.bounds(noise, confidence)
        released = self._released(records, noise)
        errors = [part.bound for part in bounds]
        interval = None if self.interval is None else self.interval(released, errors)
        note = "" if self.note is None else self.note(released, errors)
        return Measurement(self.combine(*released), interval, bounds, note)

    def _released(self, records: Microdata, noise: AnswerNoise) -> list[Any]:
        share = self._share(noise)
        return [part.release(value, share) for part, value in zip(self.parts, self.exact(records), strict=True)]

    def _share(self, noise: AnswerNoise) -> AnswerNoise:
        return noise if len(self.parts) == 1 else noise.split(len(self.parts))


def joint(confidence: float, bounds: int) -> float:
    """Confidence of each of several bounds that hold jointly at the given confidence (Bonferroni)."""
    return confidence if bounds == 1 else 1 - (1 - confidence) / bounds
