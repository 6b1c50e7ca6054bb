"""Fixed-point encoding of real vectors in a prime field, with a check word that detects wrong sums."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.federated.field import AggregationError, PrimeField, Words


@dataclass(frozen=True)
class FixedPoint:
    """Fixed-point numbers with a linear check word.

    Numbers have absolute value at most `limit` and are rounded to multiples of 2^-fraction_bits. A vector x is followed
    by its check word, the inner product <key, x>. Clients and the receiver of the sum share the random key; parties
    that carry shares do not know it. Check words add up as vectors do. A changed sum passes the check with probability
    1/prime.

    Parameters
    ----------
    fraction_bits : int
        Bits after the binary point.
    limit : float
        Largest absolute value of one client's number.
    field : PrimeField
        Field of the sums.
    """

    fraction_bits: int
    limit: float
    field: PrimeField

    def encode(self, values: NDArray[np.float64], key: Words) -> Words:
        """Elements with check words, shape (clients, length + 1), of each client's numbers, shape (clients, length).

        Raises
        ------
        AggregationError
            If a number is not finite or exceeds the limit, or the sum of all clients could overflow the field.
        """
        clients = len(values)
        if clients * self.limit * 2.0**self.fraction_bits >= self.field.prime / 2:
            raise AggregationError(
                f"overflow: {clients} clients with numbers up to {self.limit:g} at {self.fraction_bits} bits after "
                "the point do not fit the field"
            )
        bad = ~np.isfinite(values).all(axis=1)
        if bad.any():
            raise AggregationError(f"client {int(bad.argmax())}: a number is not finite")
        over = (np.abs(values) > self.limit).any(axis=1)
        if over.any():
            raise AggregationError(f"overflow: client {int(over.argmax())} sends a number beyond {self.limit:g}")
        result = np.empty((clients, values.shape[1] + 1), dtype=np.uint64)
        for client, numbers in enumerate(values):
            result[client, :-1] = self.field.elements(np.rint(numbers * 2.0**self.fraction_bits).astype(np.int64))
            result[client, -1] = self.check_word(result[client, :-1], key)
        return result

    def decode(self, words: Words, key: Words, clients: int) -> NDArray[np.float64]:
        """The sum of `clients` encoded vectors, shape (length,).

        Raises
        ------
        AggregationError
            If the check word is wrong, or a sum exceeds the largest one that the clients can send.
        """
        if self.check_word(words[:-1], key) != words[-1]:
            raise AggregationError("a share is wrong: the sum does not agree with its check word")
        numbers = self.field.signed(words[:-1])
        if (np.abs(numbers) > clients * self.limit * 2.0**self.fraction_bits).any():
            raise AggregationError("overflow: the sum is larger than the clients' numbers can add up to")
        return np.asarray(numbers / 2.0**self.fraction_bits)

    def key(self, length: int, rng: Generator) -> Words:
        """Random key for vectors of this length."""
        return self.field.random((length,), rng)

    def check_word(self, words: Words, key: Words) -> np.uint64:
        """Inner product of elements and key."""
        return np.uint64(self.field.sum(self.field.multiply(words, key), axis=0))
