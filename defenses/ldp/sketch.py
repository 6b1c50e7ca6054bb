"""Count-mean sketch: unary encoding of a hashed value, with one of k public hash functions."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from defenses.base.parameters import check_integer
from defenses.ldp.frequency_oracle import PureOracle, ReportBatch
from defenses.ldp.hashing import buckets, seeds_of
from metrics.arrays import Booleans, Floats, Integers64, Words64

# Hashes formed at a time.
_AT_ONCE = 1 << 20


def mean_estimate(sketch: ArrayLike, positions: ArrayLike, n: int) -> Floats:
    """Counts of values from a sketch: m/(m - 1) (mean over rows l of sketch[l, position] - n/m).

    Parameters
    ----------
    sketch : array_like of float, shape (k, m)
        Sum of the debiased reports; row l holds those of hash function l.
    positions : array_like of int, shape (k, values)
        Where each hash function puts each value, 0, ..., m - 1.
    n : int
        Number of reports.

    Returns
    -------
    ndarray, shape (values,)

    References
    ----------
    Apple (2017), Learning with privacy at scale, section 3.1.
    """
    table, places = np.asarray(sketch, dtype=float), np.asarray(positions)
    m = table.shape[1]
    return np.asarray(m / (m - 1) * (np.take_along_axis(table, places, axis=1).mean(axis=0) - n / m))


class Sketch(PureOracle):
    """What both sketches share: k public hash functions into m columns, of which each person draws one.

    A report supports a value by its hash function's column of it. The functions are shared by all persons, so that
    reports of one function collide together; `variance` counts that in, over the draw of the functions.

    Parameters
    ----------
    epsilon : float
        Privacy of one report, in [1e-6, 100].
    d : int
        Number of values, at least 2.
    m, k : int
        Columns, at least 2, and hash functions, at least 1.
    hash_seed : int
        Which k functions; public.
    """

    def __init__(self, *, epsilon: float = 1.0, d: int = 128, m: int = 1024, k: int = 2048, hash_seed: int = 0) -> None:
        super().__init__(epsilon=epsilon, d=d)
        check_integer("m", m, low=2)
        check_integer("k", k, low=1)
        check_integer("hash_seed", hash_seed, low=0)
        if max(m, k) > 1 << 31:
            raise ValueError(f"m and k must be at most 2^31, got {m} and {k}")
        self.m = m
        self.k = k
        self.hash_seed = hash_seed

    @property
    @abstractmethod
    def c(self) -> float:
        """Factor by which a sign is scaled so that its mean is the true one."""

    def positions(self, values: ArrayLike) -> Integers64:
        """Column of each value under each hash function, shape (k, values)."""
        return buckets(seeds_of(self.hash_seed, self.k)[:, None], np.asarray(values), self.m)

    def sketch(self, reports: ReportBatch) -> Floats:
        """Sum of the debiased reports, shape (k, m).

        Raises
        ------
        ValueError
            If another protocol made the reports.
        """
        self.check_reports(reports)
        return self._sketch(reports)

    @abstractmethod
    def _sketch(self, reports: ReportBatch) -> Floats:
        """The sketch of this protocol's reports."""

    def estimate_of(self, sketch: Floats, values: ArrayLike, n: int) -> Floats:
        """Counts of some values, shape (values,), from the sketch of n reports."""
        array = np.asarray(values)
        step = max(1, _AT_ONCE // self.k)
        parts = [array[start : start + step] for start in range(0, array.size, step)]
        return np.concatenate([mean_estimate(sketch, self.positions(part), n) for part in parts])

    def supports(self, reports: ReportBatch) -> Booleans:
        """Which values each report supports, shape (n, d)."""
        return self.supports_of(reports, np.arange(self.d))

    def supports_of(self, reports: ReportBatch, values: ArrayLike) -> Booleans:
        """Which of some values each report supports, shape (n, values)."""
        self.check_reports(reports)
        array = np.asarray(values)
        result = np.empty((len(reports), array.size), dtype=bool)
        step = max(1, _AT_ONCE // array.size)
        for start in range(0, len(reports), step):
            part = reports.take(np.arange(start, min(start + step, len(reports))))
            places = buckets(self._seeds(part.parts["hash"])[:, None], array, self.m)
            result[start : start + step] = self._supported(part, places)
        return result

    @abstractmethod
    def _supported(self, reports: ReportBatch, places: Integers64) -> Booleans:
        """Whether each report supports each of its columns, shape (n, values)."""

    def support_counts(self, reports: ReportBatch) -> Integers64:
        """How many reports support each value, shape (d,)."""
        estimated = self._estimated(reports)
        return np.rint(estimated * (self.p - self.q) + len(reports) * self.q).astype(np.int64)

    def _estimated(self, reports: ReportBatch) -> Floats:
        return self.estimate_of(self._sketch(reports), np.arange(self.d), len(reports))

    def _seeds(self, functions: NDArray[Any]) -> Words64:
        return np.asarray(seeds_of(self.hash_seed, self.k)[functions])

    def _collisions(self, n: int, shares: Floats) -> Floats:
        """Variance of how many other persons' values share a value's column, averaged over the functions."""
        counts = n * shares
        each = counts + counts * np.maximum(counts - 1, 0) / self.k
        return np.asarray((each.sum() - each) * (1 - 1 / self.m) / self.m)
