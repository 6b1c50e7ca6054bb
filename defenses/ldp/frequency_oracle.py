"""The contract of frequency oracles: protocols of local differential privacy that estimate counts of values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from defenses.base import Guarantee, Parametrized
from defenses.ldp.report_batch import Part, ReportBatch
from metrics.columns import Floats, Integers64, check_integer, check_real, refuse, refuse_rows, require

# Below, e^epsilon - 1 loses its digits in the estimates; above, nothing is protected. The keys of hashes have 32 bits.
SMALLEST_EPSILON, LARGEST_EPSILON = 1e-6, 100.0
LARGEST_DOMAIN = 2**32


class FrequencyOracle(Parametrized, ABC):
    """Frequency oracle: the report that a person's device sends, and the server's estimates of counts.

    Parameters
    ----------
    epsilon : float
        Privacy of one report, in [1e-6, 100]: no report is more than e^epsilon times as likely under one value as
        under another.
    d : int
        Number of possible values, at least 2; values are 0, ..., d - 1.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Notes
    -----
    Random decisions compare a multiple of 2^-53 with a probability. Each comparison rounds the probability of the false
    answer up, by less than 2^-53, which never raises the ratio of likelihoods. The probability itself is a double with
    a relative error below 2^-50. Let p be the probability of the true answer, at least about 1/d. Then the epsilon of a
    report exceeds the stated one by less than d 2^-49. Integers are drawn exactly. `SubsetSelection` and
    `SummationHistogramEncoding` state further limits.

    References
    ----------
    Wang, Blocki, Li and Jha (2017), Locally differentially private protocols for frequency estimation, section 3.
    """

    def __init__(self, *, epsilon: float = 1.0, d: int = 128) -> None:
        self.epsilon = check_real("epsilon", epsilon, low=SMALLEST_EPSILON, high=LARGEST_EPSILON)
        self.d = check_integer("d", d, low=2)
        require(d <= LARGEST_DOMAIN, f"d must be at most {LARGEST_DOMAIN}, got {d}")

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one report; the epsilons of several reports of one value add up."""
        return Guarantee(
            epsilon=float(self.epsilon),
            delta=0.0,
            statement="local: any two values of one person give any report with odds of at most e^epsilon",
        )

    @property
    def report_bits(self) -> int:
        """Length of one report as sent, in bits: that of its parts."""
        return sum(part.bits for part in self.parts.values())

    @property
    @abstractmethod
    def parts(self) -> Mapping[str, Part]:
        """Format of each part of a report, by name."""

    def privatize(self, values: ArrayLike, rng: Generator) -> ReportBatch:
        """Randomize each person's value.

        Parameters
        ----------
        values : array_like of int, shape (n,)
            One value a person, in 0, ..., d - 1.
        rng : Generator
            Draws the randomness of all devices.

        Raises
        ------
        ValueError
            If the values are not a one-dimensional array of integers of the domain.
        """
        array = np.asarray(values)
        require(array.ndim == 1, f"values must have one dimension, one value a person, got shape {array.shape}")
        if array.size == 0:
            array = array.astype(np.int64)
        require(
            np.issubdtype(array.dtype, np.integer), f"values must be integers in 0..{self.d - 1}, got {array.dtype}"
        )
        refuse_rows(
            (array < 0) | (array >= self.d), lambda row: f"values must lie in 0..{self.d - 1}; row {row} does not"
        )
        return ReportBatch(self, self._randomized(array.astype(np.int64, copy=False), rng))

    def estimate(self, reports: ReportBatch) -> Floats:
        """Return unbiased estimates of the counts of values, shape (d,); some may be negative.

        Raises
        ------
        ValueError
            If there is no report, another protocol made them, or their format is not that of `privatize`.
        """
        self.check_reports(reports)
        require(len(reports), "reports are empty: there is nothing to estimate from")
        return self._estimated(reports)

    def variance(self, n: int, frequencies: ArrayLike) -> Floats:
        """Variance of the estimated counts, shape (d,).

        Parameters
        ----------
        n : int
            Number of persons, at least 1.
        frequencies : array_like of float, shape (d,)
            Share of the persons that have each value; they sum to 1.

        Raises
        ------
        ValueError
            If `n` is not an integer of at least 1, or the shares are not d finite numbers of at least 0 that sum to 1.
        """
        check_integer("n", n, low=1)
        shares = np.asarray(frequencies, dtype=float)
        require(
            shares.shape == (self.d,), f"frequencies must hold {self.d} shares, one a value, got shape {shares.shape}"
        )
        require(
            np.isfinite(shares).all() and shares.min() >= 0 and abs(shares.sum() - 1) < 1e-6,
            "frequencies must be finite shares of at least 0 that sum to 1",
        )
        # At a large epsilon, differences of almost equal numbers may round to slightly less than 0.
        return np.maximum(self._variance(n, shares), 0.0)

    @abstractmethod
    def log_likelihood(self, reports: ReportBatch) -> Floats:
        """Natural logarithm of each report's likelihood under each value, shape (n, d).

        It is known up to a constant for each report: likelihoods are comparable between values, not between reports.

        Raises
        ------
        ValueError
            If another protocol made the reports.
        """

    @abstractmethod
    def indicators(self, reports: ReportBatch) -> Floats:
        """Unbiased estimate of each person's indicator vector, shape (n, d); the estimated counts are its column sums.

        Entry v has mean 1 for a person with value v and mean 0 for others. Sketches average over the draw of their
        hash functions, too. Products of indicators of two columns, reported independently, estimate joint counts.

        Raises
        ------
        ValueError
            If another protocol made the reports.
        """

    def check_reports(self, reports: ReportBatch) -> None:
        """Raise ValueError unless this protocol with equal parameters made the reports, and their format is valid."""
        require(
            isinstance(reports, ReportBatch), f"reports must be what privatize returns, got {type(reports).__name__}"
        )
        maker = reports.protocol
        refuse(
            type(maker) is not type(self) or maker.get_params() != self.get_params(),
            f"reports of another protocol: {maker!r} made them, not {self!r}",
        )
        require(
            reports.parts.keys() == self.parts.keys(),
            f"reports must consist of {', '.join(self.parts)}, got {', '.join(reports.parts)}",
        )
        for name, part in self.parts.items():
            require(part.fits(reports.parts[name]), f"reports: {name} must be {part}, as privatize returns it")

    @abstractmethod
    def _randomized(self, values: Integers64, rng: Generator) -> dict[str, NDArray[Any]]:
        """Parts of the reports of checked values, by name."""

    @abstractmethod
    def _estimated(self, reports: ReportBatch) -> Floats:
        """Estimated counts from at least one checked report."""

    @abstractmethod
    def _variance(self, n: int, shares: Floats) -> Floats:
        """Variance for checked arguments."""
