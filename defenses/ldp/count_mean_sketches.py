"""Count-mean sketches: one of k public hash functions maps a person's value to a column, which is randomized."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from defenses.ldp.encoding import hadamard
from defenses.ldp.encoding.hashing import buckets, seeds_of
from defenses.ldp.encoding.packed_bits import bits_at, grouped_counts, one_hot_reports
from defenses.ldp.frequency_oracle import Part, PureOracle, ReportBatch, numbers_to, packed
from metrics.columns import Booleans, Floats, Integers64, Words64, check_integer, chunks, refuse

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

    - epsilon: Privacy of one report, in [1e-6, 100].
    - d: Number of values, at least 2.
    - m, k: Number of columns, at least 2, and of hash functions, at least 1; both at most 2^31.
    - hash_seed: Public seed of the k functions.
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


class CountMeanSketch(Sketch):
    """Count-mean sketch: each person hashes the value to one of m columns and sends m randomized signs.

    Each person draws one of k public hash functions and sends its number, too. The sign is + in the value's column and
    - elsewhere, and each is flipped with probability 1/(e^(epsilon/2) + 1). Two columns differ in two signs, so that
    epsilon holds, as in `SymmetricUnaryEncoding`. The server debiases a report v of function l to k (c v/2 + 1/2) with
    c = (e^(epsilon/2) + 1)/(e^(epsilon/2) - 1), adds it to row l of its sketch, and estimates by `mean_estimate`.

    Given its function, a report of another person adds the indicator of a collision to the row mean. Its mean is 1/m,
    which the estimate subtracts. The report also adds noise of variance (c^2 - 1)/4 for every sign. Two persons with
    the same value and function collide together, so that with counts f' the variance over functions and flips is
    (m/(m - 1))^2 (n (c^2 - 1)/4 + sum over other values of (f' + f'(f' - 1)/k) (1/m)(1 - 1/m)).

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

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Apple (2017), Learning with privacy at scale, section 3.1 (k = 65,536, m = 1,024).
    """

    called = ("CMS", "Count-mean sketch", "Apple CMS")

    @property
    def c(self) -> float:
        """(e^(epsilon/2) + 1)/(e^(epsilon/2) - 1)."""
        return float(1 / np.tanh(self.epsilon / 4))

    @property
    def p(self) -> float:
        """Probability that a sign is kept."""
        return float(1 / (1 + np.exp(-self.epsilon / 2)))

    @property
    def q(self) -> float:
        """Probability that a report supports a given other value, over the draw of the functions."""
        return float(self._flip * (1 - 1 / self.m) + self.p / self.m)

    @property
    def _flip(self) -> float:
        return float(1 / (np.exp(self.epsilon / 2) + 1))

    @property
    def parts(self) -> dict[str, Part]:
        """The hash function's number, and the signs."""
        return {"hash": numbers_to(self.k - 1), "bits": packed(self.m)}

    def _randomized(self, values: Integers64, rng: Generator) -> dict[str, NDArray[Any]]:
        functions = rng.integers(self.k, size=values.size)
        columns = buckets(self._seeds(functions), values, self.m)
        bits = one_hot_reports(columns, self.m, self._flip, self._flip, rng)
        return {"hash": functions.astype(self.parts["hash"].dtype), "bits": bits}

    def _sketch(self, reports: ReportBatch) -> Floats:
        functions = reports.parts["hash"]
        positive = grouped_counts(reports.parts["bits"], functions, self.k, self.m)
        senders = np.bincount(functions, minlength=self.k)[:, None]
        return np.asarray(self.k * (self.c / 2 * (2 * positive - senders) + senders / 2))

    def _supported(self, reports: ReportBatch, columns: Integers64) -> Booleans:
        return bits_at(reports.parts["bits"], np.arange(len(reports))[:, None], columns)

    def _variance(self, n: int, shares: Floats) -> Floats:
        return (self.m / (self.m - 1)) ** 2 * (n * (self.c**2 - 1) / 4 + self._collisions(n, shares))


# The exact law of a count-mean sketch's estimates, drawn without drawing persons.

_CELLS = 1 << 20
"""Number of cells of the sketch that are drawn at a time."""


def draw_estimates(protocol: CountMeanSketch, counts: ArrayLike, rng: Generator) -> Floats:
    """Estimates of all counts from reports of many persons, drawn from their joint law; the time depends on no person.

    Parameters
    ----------
    protocol : CountMeanSketch
        The sketch, with its public hash functions.
    counts : array_like of int, shape (d,)
        Number of persons with each value.
    rng : Generator
        Draws the reports' sum.

    Returns
    -------
    ndarray of float, shape (d,)
        As `CountMeanSketch.estimate` of one report of each person.

    Raises
    ------
    ValueError
        If there is not one count, a non-negative integer, for each value of the protocol.

    Notes
    -----
    Persons draw their functions independently. So the persons with one value split over the k functions as a
    multinomial vector, independently of other values. Let s persons have function l, c of them with a value in column
    j. Signs are flipped independently. So the number of plus signs in cell (l, j) is Bin(c, p) + Bin(s - c, 1 - p).
    Given the split, cells are independent. Only cells that hold a value enter an estimate. Values that collide share a
    cell, and its noise.
    """
    values = np.asarray(counts)
    refuse(
        values.shape != (protocol.d,) or values.dtype.kind not in "iu" or (values < 0).any(),
        f"counts must be {protocol.d} non-negative integers, one for each value",
    )
    left: Integers64 = values.astype(np.int64)
    n, k, m = int(left.sum()), int(protocol.k), int(protocol.m)
    seeds = seeds_of(protocol.hash_seed, k)
    step = max(1, _CELLS // protocol.d)
    total = np.zeros(protocol.d)
    for start in range(0, k, step):
        rows = min(step, k - start)
        here = rng.binomial(left, rows / (k - start))
        left = left - here
        split = rng.multinomial(here, np.full(rows, 1 / rows)).T
        columns = buckets(seeds[start : start + rows, None], np.arange(protocol.d), m)
        cells, cell_of_value = np.unique(np.arange(rows)[:, None] * m + columns, return_inverse=True)
        cell_of_value = cell_of_value.reshape(rows, protocol.d)
        inside = np.bincount(cell_of_value.ravel(), weights=split.ravel(), minlength=cells.size).astype(np.int64)
        senders = split.sum(axis=1)[cells // m]
        plus = rng.binomial(inside, protocol.p) + rng.binomial(senders - inside, 1 - protocol.p)
        debiased = protocol.c / 2 * (2 * plus - senders) + senders / 2
        total += debiased[cell_of_value].sum(axis=0)
    # A row of the sketch is k times the debiased sum, and the estimate takes the mean over the k rows.
    return np.asarray(m / (m - 1) * (total - n / m))


class HadamardCountMeanSketch(Sketch):
    """Hadamard count-mean sketch: each person hashes the value to a column and sends one randomized sign.

    The sign is H[l, x], one random coordinate l of the Hadamard transform of the value's column x. It is flipped with
    probability 1/(e^epsilon + 1), which gives epsilon, because function and coordinate are drawn independently of the
    value. For a sign w of function j the server adds k c w with c = (e^epsilon + 1)/(e^epsilon - 1) to coordinate l of
    row j. It then transforms the rows back and estimates by `mean_estimate`.

    A report contributes c w H[l, x'] to a value in column x'. Its mean is 1 if x' = x, else 0 (rows are orthogonal),
    and its square is c^2. Let f be the value's count and coll the sum over other values in the variance of
    `CountMeanSketch`. Then the variance is (m/(m - 1))^2 (n c^2 - f - (n - f)/m + coll).

    Parameters
    ----------
    epsilon : float
        Privacy of one report, in [1e-6, 100].
    d : int
        Number of values, at least 2.
    m, k : int
        Number of columns, a power of two of at least 2, and of hash functions, at least 1; both at most 2^31.
    hash_seed : int
        Public seed of the k functions.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Apple (2017), Learning with privacy at scale, section 3.2.
    """

    called = ("HCMS",)

    def __init__(self, *, epsilon: float = 1.0, d: int = 128, m: int = 1024, k: int = 2048, hash_seed: int = 0) -> None:
        super().__init__(epsilon=epsilon, d=d, m=m, k=k, hash_seed=hash_seed)
        refuse(m & (m - 1), f"m must be a power of two, got {m}")

    @property
    def c(self) -> float:
        """(e^epsilon + 1)/(e^epsilon - 1)."""
        return float(1 / np.tanh(self.epsilon / 2))

    @property
    def p(self) -> float:
        """Probability that the sign is kept."""
        return float(1 / (1 + np.exp(-self.epsilon)))

    @property
    def q(self) -> float:
        """Probability that a report supports a given other value, over the draw of the functions."""
        return self.p / self.m + (1 - 1 / self.m) / 2

    @property
    def parts(self) -> dict[str, Part]:
        """The hash function's number, the coordinate, and whether the sign is negative."""
        return {
            "hash": numbers_to(self.k - 1),
            "coordinate": numbers_to(self.m - 1),
            "negative": Part(np.bool_, bits=1),
        }

    def _randomized(self, values: Integers64, rng: Generator) -> dict[str, NDArray[Any]]:
        functions = rng.integers(self.k, size=values.size)
        coordinate = rng.integers(self.m, size=values.size)
        negative = hadamard.minus(coordinate, buckets(self._seeds(functions), values, self.m))
        negative ^= rng.random(values.size) < 1 / (np.exp(self.epsilon) + 1)
        return {
            "hash": functions.astype(self.parts["hash"].dtype),
            "coordinate": coordinate.astype(self.parts["coordinate"].dtype),
            "negative": negative,
        }

    def _sketch(self, reports: ReportBatch) -> Floats:
        cells = reports.parts["hash"].astype(np.int64) * self.m + reports.parts["coordinate"]
        signs = 1.0 - 2.0 * reports.parts["negative"]
        sums = np.bincount(cells, signs, minlength=self.k * self.m).reshape(self.k, self.m).astype(float)
        return self.k * self.c * hadamard.transform(sums)

    def _supported(self, reports: ReportBatch, columns: Integers64) -> Booleans:
        coordinate = reports.parts["coordinate"].astype(np.int64)[:, None]
        return np.asarray(hadamard.minus(coordinate, columns) == reports.parts["negative"][:, None])

    def _variance(self, n: int, shares: Floats) -> Floats:
        counts, m = n * shares, self.m
        spread = n * self.c**2 - counts - (n - counts) / m + self._collisions(n, shares)
        return np.asarray((m / (m - 1)) ** 2 * spread)
