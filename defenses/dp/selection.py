"""The contract of private selection: mechanisms that select an option with a high score."""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from defenses.base import Guarantee
from defenses.dp.mechanism import (
    PureMechanism,
    checked_numbers,
    drawn_in_bulk,
)
from metrics.columns import Floats, Integers, check_integer, require
from metrics.estimate import check_confidence


class Selection(PureMechanism):
    """A mechanism that selects one of several options by their scores.

    Parameters
    ----------
    epsilon : float
        In [2^-20, 2^20].
    sensitivity : float
        Largest change of any option's score between neighbouring tables; positive.

    Raises
    ------
    ValueError
        If a parameter is refused.
    """

    @property
    def guarantee(self) -> Guarantee:
        """Epsilon for tables between which each option's score differs by at most the sensitivity."""
        return Guarantee(
            epsilon=float(self.epsilon),
            delta=0.0,
            statement=f"neighbours: tables between which no option's score differs by more than {self.sensitivity:g}",
        )

    @drawn_in_bulk
    def release(self, scores: ArrayLike, rng: Generator) -> int:
        """Return the position of the selected option.

        Parameters
        ----------
        scores : array_like, shape (options,)
            One score an option, the higher the better; at least one.
        rng : Generator
            Draws the selection.

        Raises
        ------
        ValueError
            If there is no score, or one is NaN or infinite; nothing is selected then.
        """
        return int(self.repeated(scores, 1, rng)[0])

    def repeated(self, scores: ArrayLike, runs: int, rng: Generator) -> Integers:
        """Select in `runs` independent runs, shape (runs,). For simulations: every run costs epsilon.

        Raises ValueError if there is no score, one is NaN or infinite, or `runs` is not an integer of at least 1.
        """
        check_integer("runs", runs, low=1)
        return self._selected(checked_scores(scores), runs, rng)

    @abstractmethod
    def _selected(self, values: Floats, runs: int, rng: Generator) -> Integers:
        """Positions of the selected options, shape (runs,)."""

    @abstractmethod
    def probabilities(self, scores: ArrayLike) -> Floats:
        """Probability of each option, shape (options,)."""

    def _exponents(self, values: Floats) -> Floats:
        """Exponents epsilon (score - highest) / (2 sensitivity), shape (options,)."""
        return np.asarray((values - values.max()) * (float(self.epsilon) / (2 * float(self.sensitivity))))

    def bias(self, scores: ArrayLike) -> float:
        """Expected score of the selected option, less the highest score."""
        values = checked_scores(scores)
        return float(self.probabilities(values) @ (values - values.max()))

    def variance(self, scores: ArrayLike) -> float:
        """Variance of the selected option's score."""
        values = checked_scores(scores) - np.max(scores)
        probabilities = self.probabilities(values)
        return float(probabilities @ values**2 - (probabilities @ values) ** 2)

    def error_bound(self, confidence: float, options: int, best: int = 1) -> float:
        """Return a bound on the regret, the highest score less the selected option's score.

        The regret exceeds it with probability at most 1 - confidence. The bound is (2 sensitivity / epsilon)
        (ln(options / best) + t) with e^-t = 1 - confidence. Proof for the exponential mechanism: an option of regret
        above c has a share of at most e^(-epsilon c / (2 sensitivity)) / best of the weight, and there are at most
        `options` of them. Report noisy maximum does no worse (McKenna and Sheldon 2020, theorem 3).

        Parameters
        ----------
        confidence : float
            In (0, 1).
        options : int
            Number of options, at least 1.
        best : int
            Number of options with the highest score, at least 1.

        Raises
        ------
        ValueError
            If a parameter is refused.
        """
        check_confidence(confidence)
        check_integer("options", options, low=1)
        check_integer("best", best, low=1)
        require(best <= options, f"best must be at most the {options} options, got {best}")
        t = -math.log1p(-confidence)
        return 2 * float(self.sensitivity) / float(self.epsilon) * (math.log(options / best) + t)


def checked_scores(scores: ArrayLike) -> Floats:
    """Return scores as floats, shape (options,).

    Raises ValueError if there is none, or one is NaN or infinite.
    """
    values = checked_numbers(scores)
    require(
        values.ndim == 1 and values.size,
        f"scores must be one number an option, at least one, got shape {values.shape}",
    )
    return values
