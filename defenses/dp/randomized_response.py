"""Randomized response: each person reports the true category, or a random other one."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from defenses.base import Guarantee
from defenses.dp.exact import LogisticChance, categories, fraction
from defenses.dp.mechanism import Mechanism, check_privacy, checked_integers, like
from metrics.columns import Floats, Integers64, check_integer, refuse
from metrics.estimate import check_confidence


class RandomizedResponse(Mechanism):
    """Randomized response on d categories.

    The true category is reported with probability e^epsilon / (e^epsilon + d - 1), else one of the others, uniformly.

    Parameters
    ----------
    epsilon : float
        In [2^-20, 2^20].
    d : int
        Number of categories 0..d-1, at least 2.

    Attributes
    ----------
    bias : float
        Bias of `estimate`, 0.

    Raises
    ------
    ValueError
        If a parameter is refused.

    Notes
    -----
    Proof. The probabilities of one answer under any two categories have the ratio e^epsilon, 1 or e^-epsilon. The
    guarantee holds for each person's own answer, whoever collects it. Sampling is exact (`defenses.dp.exact`).

    References
    ----------
    Warner (1965), Randomized response; Kairouz, Oh and Viswanath (2016), Extremal mechanisms for local privacy.

    Examples
    --------
    >>> import math
    >>> import numpy as np
    >>> from defenses.dp import RandomizedResponse
    >>> mechanism = RandomizedResponse(epsilon=math.log(3), d=2)
    >>> p, q = mechanism.probabilities
    >>> round(p, 3), round(q, 3)
    (0.75, 0.25)
    >>> reports = mechanism.release([0, 0, 1, 1, 1], np.random.default_rng(0))
    >>> mechanism.estimate(reports).shape
    (2,)
    """

    called = ("Randomized response", "RR")

    bias: float = 0.0

    def __init__(self, *, epsilon: float = 1.0, d: int = 2) -> None:
        check_privacy(epsilon, 1)
        self.d = check_integer("d", d, low=2)
        self.epsilon = epsilon

    @property
    def guarantee(self) -> Guarantee:
        """Epsilon, for any two categories of one person."""
        return Guarantee(
            epsilon=float(self.epsilon), delta=0.0, statement="neighbours: any two categories of one person"
        )

    @property
    def probabilities(self) -> tuple[float, float]:
        """Probability p of the true category and q of any one other category."""
        q = math.exp(-float(self.epsilon))
        return 1 / (1 + (self.d - 1) * q), q / (1 + (self.d - 1) * q)

    def release(self, value: ArrayLike, rng: Generator) -> int | Integers64:
        """Return the randomized report of each category, in the shape of `value`.

        Raises
        ------
        ValueError
            If a value is not an integer from 0 to d - 1; nothing is released then.
        """
        true_categories = checked_integers(value)
        refuse(
            ((true_categories < 0) | (true_categories >= self.d)).any(),
            f"value must hold integers from 0 to {self.d - 1}",
        )
        flat = true_categories.ravel()
        lie = categories(LogisticChance(fraction(self.epsilon), Fraction(1), Fraction(self.d - 1)), flat.size, rng)
        other = rng.integers(0, self.d - 1, flat.size)
        return like(value, np.where(lie == 1, other + (other >= flat), flat))  # type: ignore[no-any-return]

    def estimate(self, reports: ArrayLike) -> Floats:
        """Unbiased estimates (reported - n q) / (p - q) of the categories' counts, shape (d,).

        Raises
        ------
        ValueError
            If there is no report, or one is not an integer from 0 to d - 1.
        """
        reported = checked_integers(reports).ravel()
        refuse(
            not reported.size or ((reported < 0) | (reported >= self.d)).any(),
            f"reports must be integers from 0 to {self.d - 1}, at least one",
        )
        p, q = self.probabilities
        return np.asarray((np.bincount(reported, minlength=self.d) - reported.size * q) / (p - q))

    def variance(self, n: int, frequencies: ArrayLike) -> Floats:
        """Variance of `estimate` for n people with given shares of the categories, shape (d,).

        n q (1 - q) / (p - q)^2 + n f (1 - p - q) / (p - q).
        """
        check_integer("n", n, low=1)
        p, q = self.probabilities
        return n * q * (1 - q) / (p - q) ** 2 + n * np.asarray(frequencies, dtype=float) * (1 - p - q) / (p - q)

    def error_bound(self, confidence: float, n: int) -> float:
        """Return a bound that one category's error for n people exceeds with probability at most 1 - confidence.

        By Hoeffding's inequality it is sqrt(n ln(2 / (1 - confidence)) / 2) / (p - q).
        """
        check_confidence(confidence)
        check_integer("n", n, low=1)
        p, q = self.probabilities
        return math.sqrt(n * math.log(2 / (1 - confidence)) / 2) / (p - q)
