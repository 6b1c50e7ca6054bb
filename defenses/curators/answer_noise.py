"""Noise for the parts of a curator's answer, of Laplace or of Gaussian kind."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction

import numpy as np
from numpy.random import Generator

from defenses.dp.exact import discrete_gaussian, fraction
from defenses.dp.laplace import DiscreteLaplace, Laplace
from defenses.dp.mechanism import check_privacy, lattice_step, on_lattice, steps_between
from defenses.dp.sensitivity import histogram_sensitivity
from metrics.columns import Floats, require
from metrics.estimate import check_confidence


class AnswerNoise(ABC):
    """Noise of one kind, with the privacy budget of one answer.

    Parameters
    ----------
    rng : Generator
        Draws the noise.
    """

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

    Parameters
    ----------
    epsilon : float
        Budget of the answer.
    rng : Generator
        Draws the noise.

    Raises
    ------
    ValueError
        If epsilon, or a quarter of it, lies outside of [2^-20, 2^20].
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

    Parameters
    ----------
    rho : float
        Budget of the answer.
    rng : Generator
        Draws the noise.

    Raises
    ------
    ValueError
        If rho lies outside of [2^-60, 2^40].
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
