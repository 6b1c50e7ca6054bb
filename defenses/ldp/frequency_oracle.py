"""The contract of frequency oracles: protocols of local differential privacy that estimate counts of values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from defenses.base.guarantee import Guarantee
from defenses.base.parameters import Parametrized, check_integer, check_real
from metrics.arrays import Booleans, Floats, Integers64

# Below, e^epsilon - 1 loses its digits in the estimates; above, nothing is protected. The keys of hashes have 32 bits.
SMALLEST_EPSILON, LARGEST_EPSILON = 1e-6, 100.0
LARGEST_DOMAIN = 2**32


@dataclass(frozen=True)
class Part:
    """Type, shape and range of one array of a protocol's reports.

    Parameters
    ----------
    dtype : type
        The exact NumPy type.
    columns : int, optional
        Number of entries a person; by default the array is one-dimensional with one number a person.
    top : int, optional
        Largest number, if the range is smaller than the type's; the smallest is then 0.
    """

    dtype: Any
    columns: int | None = None
    top: int | None = None

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
    return Part(np.min_scalar_type(int(top)), top=int(top))


def packed(width: int) -> Part:
    """Return the part of `width` bits a person, eight to a byte."""
    return Part(np.uint8, columns=-(-int(width) // 8))


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

    protocol: FrequencyOracle
    parts: Mapping[str, NDArray[Any]] = field(repr=False)

    def __post_init__(self) -> None:
        arrays = list(self.parts.values())
        if any(not isinstance(part, np.ndarray) or not part.ndim for part in arrays) or (
            len({len(part) for part in arrays}) != 1
        ):
            raise ValueError("the parts of reports must be arrays of one length, one entry a person")

    def __len__(self) -> int:
        return len(next(iter(self.parts.values())))

    @property
    def nbytes(self) -> int:
        """Memory of the reports, in bytes."""
        return sum(part.nbytes for part in self.parts.values())

    def take(self, positions: ArrayLike) -> ReportBatch:
        """Return the reports at `positions`, shape (m,)."""
        rows = np.asarray(positions)
        return ReportBatch(self.protocol, {name: part[rows] for name, part in self.parts.items()})


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

    References
    ----------
    Wang, Blocki, Li and Jha (2017), Locally differentially private protocols for frequency estimation, section 3.
    """

    def __init__(self, *, epsilon: float = 1.0, d: int = 128) -> None:
        check_real("epsilon", epsilon, low=SMALLEST_EPSILON, high=LARGEST_EPSILON)
        check_integer("d", d, low=2)
        if d > LARGEST_DOMAIN:
            raise ValueError(f"d must be at most {LARGEST_DOMAIN}, got {d}")
        self.epsilon = epsilon
        self.d = d

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one report; the epsilons of several reports of one value add up."""
        return Guarantee(
            epsilon=float(self.epsilon),
            delta=0.0,
            statement="local: any two values of one person give any report with odds of at most e^epsilon",
        )

    @property
    @abstractmethod
    def report_bits(self) -> int:
        """Length of one report as sent, in bits."""

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
        if array.ndim != 1:
            raise ValueError(f"values must have one dimension, one value a person, got shape {array.shape}")
        if array.size == 0:
            array = array.astype(np.int64)
        if not np.issubdtype(array.dtype, np.integer):
            raise ValueError(f"values must be integers in 0..{self.d - 1}, got {array.dtype}")
        if array.size and not (array.min() >= 0 and array.max() < self.d):
            row = int(np.flatnonzero((array < 0) | (array >= self.d))[0])
            raise ValueError(f"values must lie in 0..{self.d - 1}; row {row} does not")
        return ReportBatch(self, self._randomized(array.astype(np.int64, copy=False), rng))

    def estimate(self, reports: ReportBatch) -> Floats:
        """Return unbiased estimates of the counts of values, shape (d,); some may be negative.

        Raises
        ------
        ValueError
            If there is no report, another protocol made them, or their format is not that of `privatize`.
        """
        self.check_reports(reports)
        if not len(reports):
            raise ValueError("reports are empty: there is nothing to estimate from")
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
        if shares.shape != (self.d,):
            raise ValueError(f"frequencies must hold {self.d} shares, one a value, got shape {shares.shape}")
        if not (np.isfinite(shares).all() and shares.min() >= 0 and abs(shares.sum() - 1) < 1e-6):
            raise ValueError("frequencies must be finite shares of at least 0 that sum to 1")
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

    def check_reports(self, reports: ReportBatch) -> None:
        """Raise ValueError unless this protocol with equal parameters made the reports, and their format is valid."""
        if not isinstance(reports, ReportBatch):
            raise ValueError(f"reports must be what privatize returns, got {type(reports).__name__}")
        maker = reports.protocol
        if type(maker) is not type(self) or maker.get_params() != self.get_params():
            raise ValueError(f"reports of another protocol: {maker!r} made them, not {self!r}")
        if reports.parts.keys() != self.parts.keys():
            raise ValueError(f"reports must consist of {', '.join(self.parts)}, got {', '.join(reports.parts)}")
        for name, part in self.parts.items():
            if not part.fits(reports.parts[name]):
                raise ValueError(f"reports: {name} must be {part}, as privatize returns it")

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

    def _estimated(self, reports: ReportBatch) -> Floats:
        return np.asarray((self.support_counts(reports) - len(reports) * self.q) / (self.p - self.q))

    def _variance(self, n: int, shares: Floats) -> Floats:
        p, q = self.p, self.q
        return n * q * (1 - q) / (p - q) ** 2 + n * shares * (1 - p - q) / (p - q)
