"""Count-mean sketch: unary encoding of a hashed value, with one of k public hash functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from defenses.ldp.encoding.hashing import buckets, seeds_of
from defenses.ldp.encoding.packed_bits import bits_at, grouped_counts, one_hot_reports
from defenses.ldp.report_batch import Part, ReportBatch, numbers_to, packed
from defenses.ldp.sketch import Sketch
from metrics.columns import Booleans, Floats, Integers64, refuse


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
