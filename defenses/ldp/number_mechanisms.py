"""Local differential privacy for one number in [-1, 1]: the contract, and the mechanisms of mixed reports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from defenses.base import Guarantee, NumberLaw, Parametrized
from metrics.columns import Floats, check_integer, check_real, refuse, refuse_rows, require

# Below, e^epsilon - 1 loses its digits; above, e^epsilon overflows.
SMALLEST_EPSILON, LARGEST_EPSILON = 1e-6, 700.0


class NumberMechanism(Parametrized, ABC):
    """Mechanism for one number in [-1, 1]: an unbiased report under local differential privacy.

    Parameters
    ----------
    epsilon : float
        Privacy of one report, in [1e-6, 700]: no report is more than e^epsilon times as likely under one number as
        under another.

    Raises
    ------
    ValueError
        If epsilon is out of range.

    Notes
    -----
    Reports lie on a public grid, so that no low digits of a double leak the number; see
    `defenses.base.number_law.NumberLaw`. Random decisions compare a multiple of 2^-53 with a probability, which rounds
    the probability of noise up. The probability itself has a relative error below 2^-50. So the epsilon of a report
    exceeds the stated one by less than 2^-49.

    References
    ----------
    Wang, Xiao, Yang, Zhao, Hui, Shin, Shin and Yu (2019), Collecting and analyzing multidimensional data with local
    differential privacy, section 3.
    """

    def __init__(self, *, epsilon: float = 1.0) -> None:
        self.epsilon = check_real("epsilon", epsilon, low=SMALLEST_EPSILON, high=LARGEST_EPSILON)

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one report; the epsilons of several reports of one number add up."""
        return Guarantee(
            epsilon=float(self.epsilon),
            delta=0.0,
            statement="local: any two numbers of one person give any report with odds of at most e^epsilon",
        )

    @property
    @abstractmethod
    def share(self) -> float:
        """Probability that a report is piecewise, in [0, 1]; otherwise it is one of two atoms."""

    @cached_property
    def law(self) -> NumberLaw:
        """Law of a report given a number."""
        return NumberLaw(float(self.epsilon), self.share)

    @property
    def largest_report(self) -> float:
        """Largest absolute value of a report: C, or D without piecewise reports."""
        return self.law.reach if self.share else self.law.atom

    @property
    def advantage(self) -> float:
        """Total variation distance between the reports of -1 and of 1: the best advantage in distinguishing them.

        The pieces of -1 and 1 are disjoint, and a piecewise report is uniform on [-C, C] with probability
        e^(-epsilon/2). So its distance is 1 - e^(-epsilon/2). That of the two atoms is
        (e^epsilon - 1)/(e^epsilon + 1), which no mechanism of this epsilon exceeds. The sign of a report reaches it.
        """
        piecewise, atoms = -np.expm1(-self.epsilon / 2), np.tanh(self.epsilon / 2)
        return float(self.share * piecewise + (1 - self.share) * atoms)

    def randomize(self, values: ArrayLike, rng: Generator) -> Floats:
        """Randomize each person's number.

        Parameters
        ----------
        values : array_like of float, shape (n,)
            One number a person, in [-1, 1].
        rng : Generator
            Draws the randomness of all devices.

        Returns
        -------
        ndarray of float, shape (n,)
            Unbiased reports: the mean of each is its number.

        Raises
        ------
        ValueError
            If the values are not a one-dimensional array of numbers in [-1, 1]; names the row, from 0.
        """
        return self.law.draw(_checked(values), rng)

    def blank_reports(self, n: int, rng: Generator) -> Floats:
        """Draw n reports of nobody's number, shape (n,), as missing values send them.

        Raises
        ------
        ValueError
            If `n` is not an integer of at least 0.
        """
        check_integer("n", n, low=0)
        return self.law.draw(np.full(n, np.nan), rng)

    def log_likelihood(self, reports: ArrayLike, values: ArrayLike) -> Floats:
        """Logarithm of the density of each report under each number, shape (n, m); see `NumberLaw.log_likelihood`.

        Parameters
        ----------
        reports : array_like of float, shape (n,)
            Reports.
        values : array_like of float, shape (m,)
            Numbers in [-1, 1].

        Raises
        ------
        ValueError
            If a report is not a number, or a value lies outside of [-1, 1].
        """
        return self.law.log_likelihood(self._reports(reports)[:, None], _checked(values)[None, :])

    def estimate_mean(self, reports: ArrayLike) -> float:
        """Unbiased estimate of the persons' mean number: the mean report.

        Raises
        ------
        ValueError
            If there is no report, or a report is not a number.
        """
        array = self._reports(reports)
        require(array.size, "reports are empty: there is nothing to estimate from")
        return float(array.mean())

    def variance(self, value: ArrayLike) -> Floats:
        """Variance of one report of each number, of the same shape.

        Both parts of a mixture have the mean t. So the variance is `share` times that of a piecewise report,
        t^2/(x - 1) + (x + 3)/(3 (x - 1)^2) with x = e^(epsilon/2), plus 1 - `share` times that of an atom, D^2 - t^2.

        Raises
        ------
        ValueError
            If a value is not a number in [-1, 1].
        """
        numbers = np.asarray(value, dtype=float)
        square = _checked(numbers.ravel()).reshape(numbers.shape) ** 2
        excess = np.expm1(self.epsilon / 2)
        piecewise = square / excess + (1 + 4 / excess) / (3 * excess)
        # D^2 - t^2 = 1/sinh^2(epsilon/2) + 1 - t^2, without the cancellation.
        atoms = np.sinh(self.epsilon / 2) ** -2.0 + (1 - square)
        return np.asarray(self.share * piecewise + (1 - self.share) * atoms)

    def _reports(self, reports: ArrayLike) -> Floats:
        array = np.asarray(reports, dtype=float)
        refuse(
            array.ndim != 1 or np.isnan(array).any(),
            "reports must be a one-dimensional array of numbers, as randomize returns it",
        )
        return array


def _checked(values: ArrayLike) -> Floats:
    """Numbers in [-1, 1], shape (n,)."""
    array = np.asarray(values)
    require(array.ndim == 1, f"values must have one dimension, one number a person, got shape {array.shape}")
    refuse(array.size and array.dtype.kind not in "fiu", f"values must be numbers in [-1, 1], got {array.dtype}")
    numbers = array.astype(float)
    refuse_rows(~(np.abs(numbers) <= 1), lambda row: f"values must lie in [-1, 1]; row {row} does not")
    return numbers


class PiecewiseMechanism(NumberMechanism):
    """Piecewise mechanism (PM): an unbiased report of a number whose density has two levels.

    Let x = e^(epsilon/2) and C = (x + 1)/(x - 1). The report of t lies in [-C, C]. Its density is
    p = x (x - 1)/(2 (x + 1)) on the piece [l, r] with l = ((C + 1) t - (C - 1))/2 and r = l + C - 1. Elsewhere it is
    p/e^epsilon. The ratio of both is the guarantee. It is more accurate than two-point reports for epsilon above about
    1.29, in the worst case, and its variance is least at t = 0.

    Parameters
    ----------
    epsilon : float
        Privacy of one report, in [1e-6, 700].

    Notes
    -----
    Equivalently, the report is uniform on [-C, C] with probability 1/x, else uniform on the piece. The piece has the
    centre t (C + 1)/2 = t x/(x - 1), so that the mean is (1 - 1/x) t x/(x - 1) = t. With piece and range of half-widths
    (C - 1)/2 = 1/(x - 1) and C, the second moment is
    (1 - 1/x)(t^2 x^2/(x - 1)^2 + 1/(3 (x - 1)^2)) + C^2/(3 x). Less t^2, this is the variance
    t^2/(x - 1) + (x + 3)/(3 (x - 1)^2).

    The piece of t holds the report with probability x/(x + 1). It does so where the guess 2 y/(C + 1) is within 1/x of
    t, since the piece has the half-width (C - 1)/2 and (C - 1)/(C + 1) = 1/x.

    References
    ----------
    Wang, Xiao, Yang, Zhao, Hui, Shin, Shin and Yu (2019), Collecting and analyzing multidimensional data with local
    differential privacy, Algorithm 2 and Lemma 1.

    Examples
    --------
    >>> import numpy as np
    >>> from defenses.ldp import PiecewiseMechanism
    >>> mechanism = PiecewiseMechanism(epsilon=2.0)
    >>> reports = mechanism.randomize(np.full(10_000, 0.5), np.random.default_rng(1))
    >>> bool(np.abs(reports).max() <= mechanism.largest_report), round(mechanism.estimate_mean(reports), 1)
    (True, 0.5)
    >>> round(float(mechanism.variance(0.5)), 3)
    0.791
    """

    called = ("PM", "Piecewise mechanism")

    share = 1.0
    """1: every report is piecewise."""


class TwoPointMechanism(NumberMechanism):
    """Two-point mechanism of Duchi, Jordan and Wainwright: an unbiased report of a number by one bit.

    The report of t is D or -D with D = (e^epsilon + 1)/(e^epsilon - 1). It is D with probability
    1/2 + t (e^epsilon - 1)/(2 (e^epsilon + 1)), whose largest ratio, between t = 1 and t = -1, is e^epsilon.

    Parameters
    ----------
    epsilon : float
        Privacy of one report, in [1e-6, 700].

    Notes
    -----
    The mean is D t (e^epsilon - 1)/(e^epsilon + 1) = t, and the square of a report is D^2, so that the variance is
    D^2 - t^2. It stays above 1 - t^2 for any epsilon. The same report is drawn in two steps: t is rounded to 1 with
    probability (1 + t)/2, else to -1, and the sign is flipped with probability 1/(e^epsilon + 1).

    References
    ----------
    Duchi, Jordan and Wainwright (2018), Minimax optimal procedures for locally private estimation, section 4.2; Wang
    et al. (2019), Collecting and analyzing multidimensional data with local differential privacy, Algorithm 1.
    """

    called = ("Duchi", "Duchi's mechanism")

    share = 0.0
    """0: no report is piecewise."""


def _threshold() -> float:
    """Epsilon* = 2 ln x for the real root x of 3 x^3 - x^2 + x - 7, by Cardano's formula."""
    root = 54 * np.sqrt(241)
    return float(2 * np.log((1 + np.cbrt(838 + root) + np.cbrt(838 - root)) / 9))


HYBRID_THRESHOLD = _threshold()
"""Epsilon*, about 0.61: up to it the hybrid mechanism sends two-point reports only."""


class HybridMechanism(NumberMechanism):
    """Hybrid mechanism (HM): a piecewise report with probability alpha, else a two-point report.

    Alpha is 1 - e^(-epsilon/2) for epsilon above epsilon*, about 0.61, and 0 up to it. Its worst variance is at most
    that of `PiecewiseMechanism` and of `TwoPointMechanism`. The draw of the mechanism does not depend on the number, so
    that the epsilon of both holds for the mixture.

    Parameters
    ----------
    epsilon : float
        Privacy of one report, in [1e-6, 700].

    Notes
    -----
    With x = e^(epsilon/2), the variance is alpha (t^2/(x - 1) + (x + 3)/(3 (x - 1)^2)) + (1 - alpha)(D^2 - t^2). At
    alpha = 1 - 1/x the terms in t^2 cancel, and the variance (x + 3)/(3 x (x - 1)) + D^2/x is the same for every t.

    Epsilon* is where this equals the worst variance D^2 of two-point reports, with D = (x^2 + 1)/(x^2 - 1). That is
    (x + 3)(x + 1)^2 = 3 (x^2 + 1)^2, or 3 x^3 - x^2 + x - 7 = 0 for x > 0. Its real root is
    x = (1 + (838 + 54 sqrt(241))^(1/3) + (838 - 54 sqrt(241))^(1/3))/9.

    A report is an atom with probability 1 - alpha and else has a density. Its likelihood is with respect to Lebesgue
    measure plus a unit mass on each atom. An atom is recognized by its exact value D or -D.

    References
    ----------
    Wang, Xiao, Yang, Zhao, Hui, Shin, Shin and Yu (2019), Collecting and analyzing multidimensional data with local
    differential privacy, Algorithm 3 and Lemma 3.
    """

    called = ("HM", "Hybrid mechanism")

    @property
    def share(self) -> float:
        """Alpha, the probability of a piecewise report."""
        return float(-np.expm1(-self.epsilon / 2)) if self.epsilon > HYBRID_THRESHOLD else 0.0
