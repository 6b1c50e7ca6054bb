"""Hadamard count-mean sketch: one sign of the Hadamard transform of a hashed value."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.ldp import hadamard
from defenses.ldp.frequency_oracle import Part, ReportBatch, numbers_to
from defenses.ldp.hashing import buckets
from defenses.ldp.sketch import Sketch
from metrics.arrays import Booleans, Floats, Integers64


class HadamardCountMeanSketch(Sketch):
    """Hashes the value to a column x and sends one random coordinate l of its Hadamard transform, H[l, x].

    The sign is flipped with probability 1/(e^epsilon + 1), which gives epsilon, since function and coordinate are
    drawn without regard to the value. The server adds k c w, c = (e^epsilon + 1)/(e^epsilon - 1), to coordinate l of
    row j for a sign w, transforms the rows back, and estimates as `mean_estimate` does.

    A report contributes c w H[l, x'] to a value in column x': of mean 1 if x' = x, else 0 (rows are orthogonal), and
    of square c^2. With f the value's count and coll as in `CountMeanSketch` (its sum over other values) the variance
    is (m/(m - 1))^2 (n c^2 - f - (n - f)/m + coll).

    Parameters
    ----------
    epsilon : float
        Privacy of one report, in [1e-6, 100].
    d : int
        Number of values, at least 2.
    m, k : int
        Columns, a power of two of at least 2, and hash functions, at least 1.
    hash_seed : int
        Which k functions; public.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Apple (2017), Learning with privacy at scale, section 3.2.
    """

    def __init__(self, *, epsilon: float = 1.0, d: int = 128, m: int = 1024, k: int = 2048, hash_seed: int = 0) -> None:
        super().__init__(epsilon=epsilon, d=d, m=m, k=k, hash_seed=hash_seed)
        if m & (m - 1):
            raise ValueError(f"m must be a power of two, got {m}")

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
        """Probability that a value not one's own is supported, over the draw of the functions."""
        return self.p / self.m + (1 - 1 / self.m) / 2

    @property
    def report_bits(self) -> int:
        """A sign, a coordinate and the number of the function."""
        return 1 + (int(self.m) - 1).bit_length() + (int(self.k) - 1).bit_length()

    @property
    def parts(self) -> dict[str, Part]:
        """The hash function's number, the coordinate, and whether the sign is negative."""
        return {"hash": numbers_to(self.k - 1), "coordinate": numbers_to(self.m - 1), "negative": Part(np.bool_)}

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

    def _supported(self, reports: ReportBatch, places: Integers64) -> Booleans:
        coordinate = reports.parts["coordinate"].astype(np.int64)[:, None]
        return np.asarray(hadamard.minus(coordinate, places) == reports.parts["negative"][:, None])

    def _variance(self, n: int, shares: Floats) -> Floats:
        counts, m = n * shares, self.m
        spread = n * self.c**2 - counts - (n - counts) / m + self._collisions(n, shares)
        return np.asarray((m / (m - 1)) ** 2 * spread)
