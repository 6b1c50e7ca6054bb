"""Hadamard response: send a random column, mostly one where the value's row of a Hadamard matrix is positive."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.ldp.encoding import hadamard
from defenses.ldp.frequency_oracle import FrequencyOracle, Part, ReportBatch, numbers_to
from metrics.columns import Booleans, Floats, Integers64


class HadamardResponse(FrequencyOracle):
    """Hadamard response: each person sends one of K = B b answers, log2 K bits.

    The server estimates all counts with one fast Hadamard transform. The answers form B blocks of b, both powers of
    two. A value belongs to one block and, in it, to a row j >= 1 of the Hadamard matrix of order b. Its set C contains
    the s = b/2 columns of its block where the row is +1. With Z = s e^epsilon + K - s, an answer in C has probability
    e^epsilon/Z and any other 1/Z, so that epsilon holds.

    Let X be +A if the answer lies in the value's block where its row is +1, -A where it is -1, and 0 in other blocks.
    For a person with the value E[X] = A (s e^epsilon - s)/Z, which A = Z/(s (e^epsilon - 1)) makes 1. For others
    E[X] = 0, because two rows agree in half of the columns. So the sum of X estimates the count. X^2 is A^2 in the
    value's block and 0 elsewhere. A person with a value of this block answers in it with probability
    (s e^epsilon + s)/Z, another person with 2 s/Z. With F the share of persons whose value is in the block, the
    variance is n A^2 (F (s e^epsilon + s) + (1 - F) 2 s)/Z - n f.

    Parameters
    ----------
    epsilon : float
        Privacy of one report, in [1e-6, 100].
    d : int
        Number of values, at least 2.

    References
    ----------
    Acharya, Sun and Zhang (2019), Hadamard response, section 5.
    """

    called = ("HR",)

    @property
    def blocks(self) -> int:
        """Number of blocks B: the smallest power of two of at least min(e^epsilon, 2 d) / 2."""
        return 1 << (math.ceil(math.log2(min(math.exp(self.epsilon), 2 * int(self.d)))) - 1)

    @property
    def block_size(self) -> int:
        """Number of answers b in a block, which holds the rows of b - 1 values."""
        return 1 << (-(-int(self.d) // self.blocks)).bit_length()

    @property
    def _z(self) -> float:
        s = self.block_size // 2
        return s * math.exp(self.epsilon) + self.blocks * self.block_size - s

    @property
    def _a(self) -> float:
        return self._z / (self.block_size // 2 * math.expm1(self.epsilon))

    @property
    def parts(self) -> dict[str, Part]:
        """The answer."""
        return {"answer": numbers_to(self.blocks * self.block_size - 1)}

    def _block_and_row(self, values: Integers64) -> tuple[Integers64, Integers64]:
        """Block and row of each value."""
        return values // (self.block_size - 1), values % (self.block_size - 1) + 1

    def _randomized(self, values: Integers64, rng: Generator) -> dict[str, NDArray[Any]]:
        b, s = self.block_size, self.block_size // 2
        answers = self.blocks * b
        block, row = self._block_and_row(values)
        column = rng.integers(b, size=values.size)
        positive = np.ones(values.size, dtype=bool)
        liars = np.flatnonzero(rng.random(values.size) < (answers - s) / self._z)
        # Of the K - s answers outside of C, s are the negative columns of the value's own block.
        drawn = rng.integers(answers - s, size=liars.size)
        inside, outside = liars[drawn < s], liars[drawn >= s]
        positive[inside] = False
        # Flipping a column's bit at the row's lowest set bit changes the sign, and is one to one.
        wrong = hadamard.minus(row, column) == positive
        column[wrong] ^= row[wrong] & -row[wrong]
        sent = block * b + column
        other = drawn[drawn >= s] - s
        sent[outside] = other + b * (other >= block[outside] * b)
        return {"answer": sent.astype(self.parts["answer"].dtype)}

    def _estimated(self, reports: ReportBatch) -> Floats:
        b = self.block_size
        counts = np.bincount(reports.parts["answer"], minlength=self.blocks * b).reshape(self.blocks, b)
        block, row = self._block_and_row(np.arange(self.d))
        return np.asarray(self._a * hadamard.transform(counts.astype(float))[block, row])

    def _variance(self, n: int, shares: Floats) -> Floats:
        s = self.block_size // 2
        block, _ = self._block_and_row(np.arange(self.d))
        inside = np.bincount(block, shares, minlength=self.blocks)[block]
        answered = (inside * (s * math.exp(self.epsilon) + s) + (1 - inside) * 2 * s) / self._z
        return np.asarray(n * self._a**2 * answered - n * shares)

    def log_likelihood(self, reports: ReportBatch) -> Floats:
        """Log-likelihood of each value up to a constant for each report: epsilon if the answer is in C, else 0."""
        in_block, negative = self._signs(reports)
        return np.asarray(self.epsilon * (in_block & ~negative))

    def indicators(self, reports: ReportBatch) -> Floats:
        """Return +A or -A by the sign of the value's row at the answer, 0 outside of its block; shape (n, d)."""
        in_block, negative = self._signs(reports)
        return np.asarray(self._a * (in_block * np.where(negative, -1.0, 1.0)))

    def _signs(self, reports: ReportBatch) -> tuple[Booleans, Booleans]:
        """Whether each answer lies in each value's block, and whether the value's row is -1 there; shapes (n, d)."""
        self.check_reports(reports)
        answer = reports.parts["answer"].astype(np.int64)[:, None]
        block, row = self._block_and_row(np.arange(self.d))
        return answer // self.block_size == block, np.asarray(hadamard.minus(row, answer % self.block_size))
