"""Real numbers as elements of a field, and sums of them back, with a check word that catches wrong sums."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.federated.field import AggregationError, PrimeField, Words


@dataclass(frozen=True)
class FixedPoint:
    """Numbers rounded to multiples of 2^-fraction_bits, of absolute value at most `limit`, and a check word.

    A vector x of elements is followed by its check word, the inner product <key, x> with a random key that clients and
    the receiver of the sum share and those who carry shares do not know. Check words add up as vectors do, so that a
    sum that was changed on the way by anything but chance 1/prime fails the check.

    Parameters
    ----------
    fraction_bits : int
        Bits after the point.
    limit : float
        Largest absolute value of one client's number.
    field : PrimeField
        Where sums are computed.
    """

    fraction_bits: int
    limit: float
    field: PrimeField

    def encode(self, values: NDArray[np.float64], key: Words) -> Words:
        """Each client's numbers, shape (clients, length), as elements with check words, shape (clients, length + 1).

        Raises
        ------
        AggregationError
            If a number is not finite or exceeds the limit, or so many clients' sums could overflow the field.
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
            If the check word is wrong, or a sum is larger than so many clients can have sent.
        """
        if self.check_word(words[:-1], key) != words[-1]:
            raise AggregationError("a share is wrong: the sum does not agree with its check word")
        numbers = self.field.signed(words[:-1])
        if (np.abs(numbers) > clients * self.limit * 2.0**self.fraction_bits).any():
            raise AggregationError("overflow: the sum is larger than the clients' numbers can add up to")
        return np.asarray(numbers / 2.0**self.fraction_bits)

    def key(self, length: int, rng: Generator) -> Words:
        """A random key for vectors of this length."""
        return self.field.random((length,), rng)

    def check_word(self, words: Words, key: Words) -> np.uint64:
        """Inner product of elements and key."""
        return np.uint64(self.field.sum(self.field.multiply(words, key), axis=0))
