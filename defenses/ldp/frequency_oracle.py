"""The contract of frequency oracles: reports and their format, estimates of counts, and pure protocols."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from defenses.base import Guarantee, Parametrized, checked_counts, project_to_simplex
from metrics.columns import Booleans, Floats, Integers64, check_integer, check_real, refuse, refuse_rows, require


@dataclass(frozen=True)
class Part:
    """Type, shape and range of one array of a protocol's reports.

    - columns, optional: Number of entries a person; by default the array is one-dimensional with one number a person.
    - top, optional: Largest number, if the range is smaller than the type's; the smallest is then 0.
    - bits: Length of one person's entries as sent.
    """

    dtype: Any
    columns: int | None = None
    top: int | None = None
    bits: int = 0

    def fits(self, array: Any) -> bool:
        """Return whether an array has this type, shape and range."""
        if not isinstance(array, np.ndarray) or array.dtype != self.dtype:
            return False
        if array.shape[1:] != (() if self.columns is None else (self.columns,)):
            return False
        return self.top is None or not array.size or bool(array.min() >= 0 and array.max() <= self.top)

    def __str__(self) -> str:
        shape = "(n,)" if self.columns is None else f"(n, {self.columns})"
        bounds = "" if self.top is None else f", within 0..{self.top}"
        return f"{np.dtype(self.dtype)}, shape {shape}{bounds}"


def numbers_to(top: int) -> Part:
    """Return the part of one number a person, 0 to `top`, in the smallest type that holds them."""
    return Part(np.min_scalar_type(int(top)), top=int(top), bits=int(top).bit_length())


def packed(width: int) -> Part:
    """Return the part of `width` bits a person, eight to a byte."""
    return Part(np.uint8, columns=-(-int(width) // 8), bits=int(width))


@dataclass(frozen=True, eq=False)
class ReportBatch:
    """Reports of one protocol, one a person.

    Parameters
    ----------
    protocol : FrequencyOracle
        The protocol that made the reports and that alone can read them.
    parts : mapping of str to ndarray
        Parts of the reports by name; every array holds one entry or row a person, in the persons' order.

    Raises
    ------
    ValueError
        If there is no part, or the parts are not arrays of one length.
    """

    protocol: Any
    parts: Mapping[str, NDArray[Any]] = field(repr=False)

    def __post_init__(self) -> None:
        arrays = list(self.parts.values())
        refuse(
            any(not isinstance(part, np.ndarray) or not part.ndim for part in arrays)
            or (len({len(part) for part in arrays}) != 1),
            "the parts of reports must be arrays of one length, one entry a person",
        )

    def __len__(self) -> int:
        return len(next(iter(self.parts.values())))

    @property
    def nbytes(self) -> int:
        """Memory of the reports, in bytes."""
        return sum(part.nbytes for part in self.parts.values())

    def take(self, positions: ArrayLike | slice) -> ReportBatch:
        """Return the reports at `positions`, shape (m,), or in a slice."""
        rows = positions if isinstance(positions, slice) else np.asarray(positions)
        return ReportBatch(self.protocol, {name: part[rows] for name, part in self.parts.items()})


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


class PureOracle(FrequencyOracle):
    """Pure protocol: a report supports its person's own value with probability p and every other value with q < p.

    With S_v reports that support value v among n, E[S_v] = c_v p + (n - c_v) q, so that (S_v - n q)/(p - q) estimates
    the count c_v without bias. The support of v by one report has variance p(1 - p) if its person has value v, and
    q(1 - q) otherwise. Persons are independent, so that the variance of the estimate is
    [n q(1 - q) + c_v (p(1 - p) - q(1 - q))]/(p - q)^2 = n q(1 - q)/(p - q)^2 + c_v (1 - p - q)/(p - q).

    A report's likelihood under a value depends only on whether the report supports the value.
    """

    @property
    @abstractmethod
    def p(self) -> float:
        """Probability that a report supports its person's own value."""

    @property
    @abstractmethod
    def q(self) -> float:
        """Probability that a report supports a given other value."""

    @property
    def support_odds(self) -> float:
        """Log-likelihood ratio of a report between a value that it supports and one that it does not."""
        return float(self.epsilon)

    @property
    def best_guess(self) -> float:
        """Probability that the best guess from one report is right, for a uniformly distributed value.

        The best guess is any of the supported values, or any value at all where none is supported. By default, other
        values count as supported independently (see `guess_among_independent`); with hashes that is an approximation.

        References
        ----------
        Gursoy, Liu, Chow, Truex and Wei (2022), An adversarial approach to protocol analysis and selection in local
        differential privacy, section 4; Arcolezi, Gambs, Couchot and Palamidessi (2023), On the risks of collecting
        multidimensional data under local differential privacy, section 3.
        """
        return guess_among_independent(self.p, self.q, int(self.d))

    @abstractmethod
    def supports(self, reports: ReportBatch) -> Booleans:
        """Return for each report and value whether the report supports the value, shape (n, d).

        Raises
        ------
        ValueError
            If another protocol made the reports.
        """

    @abstractmethod
    def support_counts(self, reports: ReportBatch) -> Integers64:
        """Number of reports that support each value, shape (d,)."""

    def log_likelihood(self, reports: ReportBatch) -> Floats:
        """Log-likelihood of each value up to a constant for each report: `support_odds` if supported, else 0."""
        return np.asarray(self.support_odds * self.supports(reports), dtype=float)

    def indicators(self, reports: ReportBatch) -> Floats:
        """Return (support - q)/(p - q) for each report and value, shape (n, d)."""
        return np.asarray((self.supports(reports) - self.q) / (self.p - self.q))

    def _estimated(self, reports: ReportBatch) -> Floats:
        return np.asarray((self.support_counts(reports) - len(reports) * self.q) / (self.p - self.q))

    def _variance(self, n: int, shares: Floats) -> Floats:
        p, q = self.p, self.q
        return n * q * (1 - q) / (p - q) ** 2 + n * shares * (1 - p - q) / (p - q)


def guess_among_independent(p: float, q: float, d: int) -> float:
    """Probability of a right guess where each of the d - 1 other values is supported independently with q.

    With B other values supported, B being binomial, the guess is right with probability p E[1/(1 + B)] if the own value
    is supported, where E[1/(1 + B)] = (1 - (1 - q)^d)/(d q). If none is, it is right with probability 1/d.
    """
    return float(p * -np.expm1(d * np.log1p(-q)) / (d * q) + (1 - p) * (1 - q) ** (d - 1) / d)


# Consistent estimates: nonnegative counts with a known sum.


def norm_sub(counts: ArrayLike, total: float) -> Floats:
    """Norm-sub: set negative counts to 0 and shift the others equally, repeatedly, until they sum to `total`.

    Parameters
    ----------
    counts : array_like of float, shape (d,)
        Estimates, usually unbiased ones.
    total : float
        The true sum, at least 0.

    Returns
    -------
    ndarray, shape (d,)
        Nonnegative counts with the given sum, at the price of a bias. If the positive counts sum to at least `total`,
        or no count is positive, the result equals that of `project_to_simplex`. Otherwise only the positive counts are
        raised.

    Raises
    ------
    ValueError
        If there is no count, one is not finite, or `total` is not a finite number of at least 0.

    References
    ----------
    Wang et al. (2020), Locally differentially private frequency estimation with consistency, section 4.

    Examples
    --------
    >>> from defenses.ldp import norm_sub
    >>> norm_sub([5.0, -1.0, 3.0, 0.5], total=6).tolist()
    [4.0, 0.0, 2.0, 0.0]
    """
    result = checked_counts(counts, total)
    positive = result > 0
    if not positive.any():
        return project_to_simplex(result, total)
    while True:
        # Each round but the last drops at least one value, and never all, because their sum is at least 0.
        shift = (result[positive].sum() - total) / positive.sum()
        negative = positive & (result < shift)
        if not negative.any():
            return np.where(positive, result - shift, 0.0)
        positive &= ~negative
