"""Hadamard count-mean sketch: one sign of the Hadamard transform of a hashed value."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.ldp.encoding import hadamard
from defenses.ldp.encoding.hashing import buckets
from defenses.ldp.report_batch import Part, ReportBatch, numbers_to
from defenses.ldp.sketch import Sketch
from metrics.columns import Booleans, Floats, Integers64, refuse


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
