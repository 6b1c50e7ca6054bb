"""Count-mean sketch: unary encoding of a hashed value, with one of k public hash functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.ldp.hashing import buckets
from defenses.ldp.packed_bits import bits_at, grouped_counts, one_hot_reports
from defenses.ldp.report_batch import Part, ReportBatch, numbers_to, packed
from defenses.ldp.sketch import Sketch
from metrics.columns.arrays import Booleans, Floats, Integers64


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
    def report_bits(self) -> int:
        """Length of the signs and of the function's number."""
        return int(self.m) + (int(self.k) - 1).bit_length()

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
        scale = (self.m / (self.m - 1)) ** 2
        return scale * (n * (self.c**2 - 1) / 4 + self._collisions(n, shares))
