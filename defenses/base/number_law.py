"""Law of one report of a number: a piecewise uniform density, two atoms, or a mixture of both."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from metrics.columns import Booleans, Floats

HALF_GRID = 2.0**48
"""Number of grid steps from 0 to the largest continuous report."""


@dataclass(frozen=True)
class NumberLaw:
    r"""Law of the report y of a number t in [-1, 1]: piecewise with probability `share`, else one of two atoms.

    Let x = e^(epsilon/2). The piecewise report lies in [-C, C] with C = (x + 1)/(x - 1). Its density is p on the piece
    t (C + 1)/2 +- (C - 1)/2 and p/x^2 elsewhere, with p = x (x - 1)/(2 (x + 1)). The same report is drawn in two steps:
    with probability 1/x it is uniform on [-C, C], else uniform on the piece.

    The atoms are D and -D with D = (x^2 + 1)/(x^2 - 1). The number is rounded to 1 with probability (1 + t)/2, else to
    -1, and its sign is flipped with probability 1/(x^2 + 1).

    A missing number sends a blank report: uniform on [-C, C], or a fair sign. Its density lies between the densities
    of any two numbers, so that epsilon also holds between a number and a missing one.

    Parameters
    ----------
    epsilon : float
        Logarithm of the largest ratio of two densities of one report.
    share : float
        Probability of a piecewise report, in [0, 1].

    Notes
    -----
    Doubles that are computed from t could leak it by their low digits. So piecewise reports are multiples of
    g = C 2^-48, and the number of multiples in a piece is the same for every t. Let there be N of them, and M in
    [-C, C]. A report is uniform on [-C, C] with probability b = 1/(1 + (e^epsilon - 1) N/M). The ratio of its
    probabilities under two numbers is then 1 + (1 - b) M/(b N) = e^epsilon. Centres of pieces are rounded to multiples
    of g, which moves the mean by at most g/2. The continuous formulas hold up to terms of that order.

    References
    ----------
    Wang, Xiao, Yang, Zhao, Hui, Shin, Shin and Yu (2019), Collecting and analyzing multidimensional data with local
    differential privacy, section 3; Mironov (2012), On significance of the least significant bits, for low digits.
    """

    epsilon: float
    share: float

    @cached_property
    def reach(self) -> float:
        """C, the largest piecewise report."""
        return float(1 / np.tanh(self.epsilon / 4))

    @cached_property
    def atom(self) -> float:
        """D, the absolute value of the other reports."""
        return float(1 / np.tanh(self.epsilon / 2))

    @cached_property
    def step(self) -> float:
        """Distance g of neighbouring piecewise reports."""
        return self.reach / HALF_GRID

    @cached_property
    def half_piece(self) -> float:
        """Number of grid points of a piece on each side of its centre."""
        # C - 1 = 2/(x - 1), without the cancellation.
        return max(0.0, float(np.rint(1 / np.expm1(self.epsilon / 2) / self.step - 0.5)))

    @cached_property
    def uniform(self) -> float:
        """Probability b that a piecewise report is uniform on [-C, C]."""
        points = (2 * self.half_piece + 1) / (2 * HALF_GRID + 1)
        return float(1 / (1 + np.expm1(self.epsilon) * points))

    @cached_property
    def flip(self) -> float:
        """Probability that the sign of an atom is flipped."""
        return float(np.exp(-self.epsilon) / (1 + np.exp(-self.epsilon)))

    def centres(self, values: Floats) -> Floats:
        """Centre of the piece of each number, in grid steps; NaN where missing."""
        # (C + 1)/2 = 1/(1 - e^(-epsilon/2))
        centre = np.rint(values / -np.expm1(-self.epsilon / 2) / self.step)
        return np.asarray(np.clip(centre, self.half_piece - HALF_GRID, HALF_GRID - self.half_piece))

    def pieces(self, values: Floats) -> tuple[Floats, Floats]:
        """Smallest and largest report in the piece of each number; NaN where missing."""
        centres = self.centres(values)
        return (centres - self.half_piece) * self.step, (centres + self.half_piece) * self.step

    def values(self, reports: Floats) -> tuple[Floats, Floats]:
        """Ends of the interval of numbers whose piece holds each report, or its nearest grid point."""
        slope, reach = -np.expm1(-self.epsilon / 2), (self.half_piece + 0.5) * self.step
        return slope * (reports - reach), slope * (reports + reach)

    def draw(self, values: Floats, rng: Generator) -> Floats:
        """Draw a report of each number, shape (n,); NaN sends a blank report."""
        missing, n = np.isnan(values), values.size
        uniform = (rng.random(n) < self.uniform) | missing
        half = np.where(uniform, HALF_GRID, self.half_piece).astype(np.int64)
        points = np.where(uniform, 0, np.nan_to_num(self.centres(values))) + rng.integers(-half, half, endpoint=True)
        up = rng.random(n) < (1 + np.where(missing, 0.0, values)) / 2
        # The comparison rounds the probability of a flip up, never down.
        up ^= rng.random(n) < self.flip
        atoms = np.where(up, self.atom, -self.atom)
        return np.where(rng.random(n) < self.share, points * self.step, atoms)

    def log_likelihood(self, reports: ArrayLike, values: ArrayLike) -> Floats:
        """Logarithm of the density of reports given numbers, which are broadcast against each other.

        Parameters
        ----------
        reports : array_like of float
            Reports.
        values : array_like of float
            Numbers in [-1, 1]; NaN stands for a missing one.

        Returns
        -------
        ndarray of float
            The base measure is Lebesgue measure, plus a unit mass on D and on -D if `share` is below 1. A report that
            equals an atom is read as the atom: a piecewise report equals it with a probability of about 2^-48.
        """
        report, value = np.asarray(reports, dtype=float), np.asarray(values, dtype=float)
        low, high = self.pieces(value)
        density = self.log_density((low <= report) & (report <= high), self.signs(report), value)
        return np.where((np.abs(report) <= self.reach) | (self.signs(report) != 0), density, -np.inf)

    def signs(self, reports: Floats) -> Floats:
        """Sign of each report that is an atom; 0 for all others."""
        atoms = (np.abs(reports) == self.atom) & (self.share < 1)
        return np.where(atoms, np.sign(reports), 0.0)

    @np.errstate(divide="ignore")
    def log_density(self, inside: Booleans, signs: Floats, values: Floats) -> Floats:
        """Logarithm of the density of reports in [-C, C] and of atoms; see `log_likelihood`.

        Parameters
        ----------
        inside : ndarray of bool
            Whether each report lies in the piece of its number.
        signs : ndarray of float
            Sign of each report that is an atom; 0 for all others.
        values : ndarray of float
            Numbers in [-1, 1]; NaN stands for a missing one.
        """
        outside = np.log(self.uniform) - np.log((2 * HALF_GRID + 1) * self.step)
        density = np.where(inside, outside + self.epsilon, outside)
        density = np.where(np.isnan(values), outside - np.log(self.uniform), density)
        rounded = (1 + signs * np.nan_to_num(values)) / 2
        mass = np.log(rounded * (1 - self.flip) + (1 - rounded) * self.flip)
        return np.asarray(np.where(signs == 0, density + np.log(self.share), mass + np.log1p(-self.share)))
