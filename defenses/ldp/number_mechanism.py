"""The contract of mechanisms for numbers: local differential privacy for one number in [-1, 1]."""

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
