"""Base class of count-mean sketches, and their estimator."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from defenses.ldp.encoding.hashing import buckets, seeds_of
from defenses.ldp.pure_oracle import PureOracle
from defenses.ldp.report_batch import ReportBatch, chunks
from metrics.columns import Booleans, Floats, Integers64, Words64, check_integer, refuse

# Number of hashes computed at a time.
_AT_ONCE = 1 << 20


def mean_estimate(sketch: ArrayLike, positions: ArrayLike, n: int) -> Floats:
    """Count-mean estimator of counts from a sketch: m/(m - 1) (mean over rows l of sketch[l, position] - n/m).

    Parameters
    ----------
    sketch : array_like of float, shape (k, m)
        Sum of the debiased reports; row l is the sum over those of hash function l.
    positions : array_like of int, shape (k, values)
        Column of each value under each hash function, 0, ..., m - 1.
    n : int
        Number of reports.

    Returns
    -------
    ndarray, shape (values,)

    References
    ----------
    Apple (2017), Learning with privacy at scale, section 3.1.

    Examples
    --------
    A lecture's example without noise: 4 reports, 3 functions, 4 columns. A value typed twice collides once: 8/3.

    >>> import numpy as np
    >>> sketch = [[3, 0, 0, 0], [0, 6, 3, 0], [0, 0, 0, 0]]
    >>> mean_estimate(sketch, [[0], [1], [2]], n=4).round(4).tolist()
    [2.6667]
    """
    table, columns = np.asarray(sketch, dtype=float), np.asarray(positions)
    m = table.shape[1]
    return np.asarray(m / (m - 1) * (np.take_along_axis(table, columns, axis=1).mean(axis=0) - n / m))


class Sketch(PureOracle):
    """Sketch protocol: k public hash functions into m columns, of which each person draws one.

    A report supports a value through the value's column under its hash function. All persons share the functions, so
    that reports of one function collide together. `variance` includes these collisions, over the draw of the functions.

    Parameters
    ----------
    epsilon : float
        Privacy of one report, in [1e-6, 100].
    d : int
        Number of values, at least 2.
    m, k : int
        Number of columns, at least 2, and of hash functions, at least 1; both at most 2^31.
    hash_seed : int
        Public seed of the k functions.
    """

    def __init__(self, *, epsilon: float = 1.0, d: int = 128, m: int = 1024, k: int = 2048, hash_seed: int = 0) -> None:
        super().__init__(epsilon=epsilon, d=d)
        self.m = check_integer("m", m, low=2)
        self.k = check_integer("k", k, low=1)
        self.hash_seed = check_integer("hash_seed", hash_seed, low=0)
        refuse(max(m, k) > 1 << 31, f"m and k must be at most 2^31, got {m} and {k}")

    @property
    @abstractmethod
    def c(self) -> float:
        """Factor by which a sign is scaled so that its mean is the true sign."""

    def positions(self, values: ArrayLike) -> Integers64:
        """Column of each value under each hash function, shape (k, values)."""
        return buckets(seeds_of(self.hash_seed, self.k)[:, None], np.asarray(values), self.m)

    def sketch(self, reports: ReportBatch) -> Floats:
        """Sum of the debiased reports, shape (k, m).

        Raises ValueError if another protocol made the reports.
        """
        self.check_reports(reports)
        return self._sketch(reports)

    @abstractmethod
    def _sketch(self, reports: ReportBatch) -> Floats:
        """Sum of the debiased reports of this protocol, shape (k, m)."""

    def estimate_of(self, sketch: Floats, values: ArrayLike, n: int) -> Floats:
        """Counts of some values, shape (values,), from the sketch of n reports."""
        array = np.asarray(values)
        parts = chunks(array.size, self.k, _AT_ONCE)
        return np.concatenate([mean_estimate(sketch, self.positions(array[part]), n) for part in parts])

    def supports(self, reports: ReportBatch) -> Booleans:
        """Return the values that each report supports, shape (n, d)."""
        return self.supports_of(reports, np.arange(self.d))

    def supports_of(self, reports: ReportBatch, values: ArrayLike) -> Booleans:
        """Return for each report and value whether the report supports the value, shape (n, values)."""
        self.check_reports(reports)
        array = np.asarray(values)
        result = np.empty((len(reports), array.size), dtype=bool)
        for rows in chunks(len(reports), array.size, _AT_ONCE):
            part = reports.take(rows)
            columns = buckets(self._seeds(part.parts["hash"])[:, None], array, self.m)
            result[rows] = self._supported(part, columns)
        return result

    @abstractmethod
    def _supported(self, reports: ReportBatch, columns: Integers64) -> Booleans:
        """Return whether each report supports each of the columns, shape (n, values)."""

    def support_counts(self, reports: ReportBatch) -> Integers64:
        """Number of reports that support each value, shape (d,)."""
        return np.rint(self._estimated(reports) * (self.p - self.q) + len(reports) * self.q).astype(np.int64)

    def _estimated(self, reports: ReportBatch) -> Floats:
        return self.estimate_of(self._sketch(reports), np.arange(self.d), len(reports))

    def _seeds(self, functions: NDArray[Any]) -> Words64:
        return np.asarray(seeds_of(self.hash_seed, self.k)[functions])

    def _collisions(self, n: int, shares: Floats) -> Floats:
        """Variance of the number of other persons in a value's column, averaged over the functions."""
        counts = n * shares
        contributions = counts + counts * np.maximum(counts - 1, 0) / self.k
        return np.asarray((contributions.sum() - contributions) * (1 - 1 / self.m) / self.m)
