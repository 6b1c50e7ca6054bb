"""Private selection of an option with a high score: the exponential mechanism and report noisy maximum."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from defenses.base.guarantee import Guarantee
from defenses.base.parameters import check_integer
from defenses.dp.bulk import drawn_in_bulk
from defenses.dp.exact import fraction, geometric
from defenses.dp.mechanism import (
    Mechanism,
    check_confidence,
    check_privacy,
    checked_numbers,
    lattice_step,
    on_lattice,
    steps_between,
)
from metrics.arrays import Floats, Integers, Integers64


class Selection(Mechanism):
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

    def __init__(self, *, epsilon: float = 1.0, sensitivity: float = 1.0) -> None:
        check_privacy(epsilon, sensitivity)
        self.epsilon = epsilon
        self.sensitivity = sensitivity

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

        Raises
        ------
        ValueError
            If there is no score, one is NaN or infinite, or `runs` is not an integer of at least 1.
        """
        check_integer("runs", runs, low=1)
        return np.asarray(np.argmax(self._noisy(checked_scores(scores), runs, rng), axis=1))

    @abstractmethod
    def _noisy(self, values: Floats, runs: int, rng: Generator) -> NDArray[Any]:
        """Noisy scores, shape (runs, options); the highest of a run is selected."""

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
        if best > options:
            raise ValueError(f"best must be at most the {options} options, got {best}")
        t = -math.log1p(-confidence)
        return 2 * float(self.sensitivity) / float(self.epsilon) * (math.log(options / best) + t)


class Exponential(Selection):
    """Exponential mechanism: it selects an option with probability proportional to e^(epsilon score / (2 s)).

    Parameters
    ----------
    epsilon : float
        In [2^-20, 2^20].
    sensitivity : float
        Largest change s of any option's score between neighbouring tables; positive.

    Raises
    ------
    ValueError
        If a parameter is refused.

    Notes
    -----
    Proof. Between neighbours every weight changes by a factor of e^(epsilon / 2) at most, and so does their sum.

    The mechanism selects the largest score epsilon / (2 s) + g with g from the Gumbel distribution, which gives each
    option the stated probability. It is not exact, because scores and g are floating-point numbers. Probabilities are
    off by a factor of about 1 + 10^-10, and options of probability below about 10^-16 may never be selected. The
    released position has no low bits that could leak the scores. `ReportNoisyMax` is exact.

    References
    ----------
    McSherry and Talwar (2007), Mechanism design via differential privacy, theorem 6.

    Examples
    --------
    >>> import math
    >>> from defenses.dp import Exponential
    >>> Exponential(epsilon=2 * math.log(2), sensitivity=1).probabilities([1, 0, 0]).round(3).tolist()
    [0.5, 0.25, 0.25]
    """

    def _noisy(self, values: Floats, runs: int, rng: Generator) -> Floats:
        return np.asarray(self._exponents(values) + rng.gumbel(size=(runs, values.size)))

    def probabilities(self, scores: ArrayLike) -> Floats:
        """Probability of each option, shape (options,)."""
        weights = np.exp(self._exponents(checked_scores(scores)))
        return np.asarray(weights / weights.sum())


class ReportNoisyMax(Selection):
    """Report noisy maximum: it selects the highest score after adding one-sided geometric noise to each score.

    Parameters
    ----------
    epsilon : float
        In [2^-20, 2^20].
    sensitivity : float
        Largest change s of any option's score between neighbouring tables; positive.

    Raises
    ------
    ValueError
        If a parameter is refused.

    Notes
    -----
    Scores are rounded to a lattice of at most 2^-20 of s and of s / epsilon; a score then moves by at most
    d = ceil(s / step) + 1 steps. Noise G >= 0 has P(G >= k) = e^(-epsilon k / (2 d)) for k >= 0.

    Proof. Fix the noise of all options but i. Option i is selected if and only if its noise is at least some
    threshold r (the first of equal options wins). Between neighbours r rises by 2 d at most: the score of i falls by d
    and another score rises by d. P(G >= r + 2 d) >= e^-epsilon P(G >= r), also for r below 0. So the probability of i
    falls by a factor of e^epsilon at most, whatever the noise of the others.

    Sampling is exact (`defenses.dp.exact`). Up to the lattice, the selection has the law of permute-and-flip, whose
    expected score is never below that of the exponential mechanism.

    References
    ----------
    Dwork and Roth (2014), section 3.3; McKenna and Sheldon (2020), Permute-and-flip; Ding et al. (2021), The
    permute-and-flip mechanism is identical to report-noisy-max with exponential noise.
    """

    def _noisy(self, values: Floats, runs: int, rng: Generator) -> Integers64:
        sensitivity = float(self.sensitivity)
        step = lattice_step(sensitivity, sensitivity / float(self.epsilon))
        between = steps_between(sensitivity, step)
        noise = geometric(fraction(self.epsilon) / (2 * between), runs * values.size, rng)
        return on_lattice(values, step) + noise.reshape(runs, values.size)

    def probabilities(self, scores: ArrayLike) -> Floats:
        """Probability of each option up to the lattice, shape (options,).

        The probability of option i is p_i times the integral over u in [0, 1] of the product over j != i of 1 - p_j u,
        with p = e^(epsilon (score - highest) / (2 s)). The integrand is a polynomial, and Gauss-Legendre quadrature
        integrates it exactly.
        """
        values = checked_scores(scores)
        p = np.exp(self._exponents(values))
        nodes, weights = np.polynomial.legendre.leggauss(values.size // 2 + 1)
        u = (nodes + 1) / 2
        # The factor of option i is divided out of the product of all; u < 1 keeps it positive.
        factors = 1 - np.outer(u, p)
        product = factors.prod(axis=1)
        return np.asarray(p * ((weights / 2) @ (product[:, None] / factors)))


def checked_scores(scores: ArrayLike) -> Floats:
    """Return scores as floats, shape (options,).

    Raises
    ------
    ValueError
        If there is none, or one is NaN or infinite.
    """
    values = checked_numbers(scores)
    if values.ndim != 1 or not values.size:
        raise ValueError(f"scores must be one number an option, at least one, got shape {values.shape}")
    return values
