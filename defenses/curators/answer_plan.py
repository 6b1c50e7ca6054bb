"""ReleasePlan of a private answer: exact parts, the noise of each part, and the answer with its interval."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from defenses.base import Microdata
from defenses.base.queries.query import Answer
from defenses.curators.answer_noise import AnswerNoise
from defenses.curators.quantile_grid import QuantileGrid
from defenses.dp.exponential import Exponential
from metrics.columns import Floats, Integers64

Ends = tuple[Any, Any]
"""Lower and upper end of an interval: two numbers, or two arrays of the answer's shape."""


@dataclass(frozen=True)
class NoisyPart(ABC):
    """One exact quantity of a plan that is released with noise.

    Parameters
    ----------
    title : str
        Name of the quantity, as messages show it.
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

    Parameters
    ----------
    sensitivity : float
        Largest change of the number by one record; 0 for a number that needs no noise.
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

    Parameters
    ----------
    cells : int
        Number of cells.
    replaced : bool
        Whether one record may move between two cells.
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

    Parameters
    ----------
    sensitivity : float
        Largest change of a score by one record.
    options : int
        Number of options.
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

    Parameters
    ----------
    grid : QuantileGrid
        The points, to which numbers are rounded before points are scored.
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

    Attributes
    ----------
    title : str
        Name of the part.
    bound : float
        Bound on its absolute error.
    step : float or None
        Distance of the points to which numbers are rounded first; the bound is about the rounded numbers. None where
        they are not rounded.
    """

    title: str
    bound: float
    step: float | None = None


@dataclass(frozen=True)
class Measurement:
    """A private answer with bounds on the error of its noise.

    Attributes
    ----------
    answer : float, str or ndarray
        The answer.
    interval : tuple or None
        Lower and upper end, in the answer's shape; None where the bound is on ranks or counts, not on the answer.
    bounds : tuple of PartBound
        Bounds on the error of each part. They hold jointly at the confidence asked for.
    note : str
        Warning about an answer whose noise leaves it without meaning, else empty. It is computed from the noisy parts
        and costs nothing.
    """

    answer: Answer
    interval: Ends | None
    bounds: tuple[PartBound, ...]
    note: str = ""


@dataclass(frozen=True)
class AnswerPlan:
    """How a query is answered; made from public information only.

    Parameters
    ----------
    exact : callable
        Reads the records and returns the exact value of each part.
    parts : tuple of NoisyPart
        The noise of each part. Several parts share the budget evenly.
    combine : callable
        Makes the answer of the noisy parts, which are its arguments.
    interval : callable, optional
        Called with the noisy parts and the bounds on their errors, two sequences. It returns an interval that contains
        the exact answer wherever each part's error is within its bound.
    note : callable, optional
        Called as `interval` is. It returns the note of a `Measurement`.
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
