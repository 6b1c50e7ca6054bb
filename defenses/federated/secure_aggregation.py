"""Secure aggregation: sums of clients' real vectors that reveal nothing but the sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from defenses.base import Parametrized, check_part
from defenses.federated.field import AggregationError, PrimeField, Words
from defenses.federated.share_protocols import AdditiveShares
from defenses.federated.sum_protocol import SumProtocol
from metrics.columns import check_integer, check_real, refuse, refuse_rows, require

# Fixed-point encoding of real vectors in a prime field, with a check word that detects wrong sums.


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

        Raises AggregationError if a number is not finite or exceeds the limit, or the sum of all clients could overflow
        the field.
        """
        clients = len(values)
        refuse(
            clients * self.limit * 2.0**self.fraction_bits >= self.field.prime / 2,
            f"overflow: {clients} clients with numbers up to {self.limit:g} at {self.fraction_bits} bits after "
            "the point do not fit the field",
            AggregationError,
        )
        refuse_rows(
            ~np.isfinite(values).all(axis=1),
            lambda client: f"client {client}: a number is not finite",
            AggregationError,
        )
        refuse_rows(
            (np.abs(values) > self.limit).any(axis=1),
            lambda client: f"overflow: client {client} sends a number beyond {self.limit:g}",
            AggregationError,
        )
        words = self.field.elements(np.rint(values * 2.0**self.fraction_bits).astype(np.int64))
        return np.column_stack([words, self.field.sum(self.field.multiply(words, key), axis=1)])

    def decode(self, words: Words, key: Words, clients: int) -> NDArray[np.float64]:
        """The sum of `clients` encoded vectors, shape (length,).

        Raises AggregationError if the check word is wrong, or a sum exceeds the largest one that the clients can send.
        """
        refuse(
            self.check_word(words[:-1], key) != words[-1],
            "a share is wrong: the sum does not agree with its check word",
            AggregationError,
        )
        numbers = self.field.signed(words[:-1])
        refuse(
            (np.abs(numbers) > clients * self.limit * 2.0**self.fraction_bits).any(),
            "overflow: the sum is larger than the clients' numbers can add up to",
            AggregationError,
        )
        return np.asarray(numbers / 2.0**self.fraction_bits)

    def key(self, length: int, rng: Generator) -> Words:
        """Random key for vectors of this length."""
        return self.field.random((length,), rng)

    def check_word(self, words: Words, key: Words) -> np.uint64:
        """Inner product of elements and key."""
        return np.uint64(self.field.sum(self.field.multiply(words, key), axis=0))


class SecureAggregation(Parametrized):
    """Secure sums of clients' real vectors.

    Numbers are rounded to fixed point in the field of 2^61 - 1 elements. A check word detects wrong sums (see
    `FixedPoint`), which raise an error.

    Parameters
    ----------
    protocol : SumProtocol, optional
        Protocol of the sum; additive shares to three aggregators by default.
    fraction_bits : int
        Bits after the binary point; the rounding error of a sum of n numbers is at most n 2^-(fraction_bits + 1).
    limit : float
        Largest absolute value of a client's number; larger ones are refused.
    minimum : int
        Smallest number of clients that must answer, at least 2, since a sum of one client reveals its vector.

    Raises
    ------
    ValueError
        If a number is out of range or `protocol` is not a `SumProtocol`.

    Examples
    --------
    >>> import numpy as np
    >>> vectors = [[1.5, -2.0], [0.25, 4.0], [3.0, 0.5]]
    >>> SecureAggregation().total(vectors, np.random.default_rng(1)).tolist()
    [4.75, 2.5]
    """

    def __init__(
        self,
        *,
        protocol: SumProtocol | None = None,
        fraction_bits: int = 24,
        limit: float = 65536.0,
        minimum: int = 3,
    ) -> None:
        self.protocol = check_part("protocol", protocol, SumProtocol)
        self.fraction_bits = check_integer("fraction_bits", fraction_bits, low=0)
        require(
            fraction_bits <= 60, f"fraction_bits must be at most 60, or no number fits the field, got {fraction_bits}"
        )
        self.limit = check_real("limit", limit, low=0, open_low=True)
        self.minimum = check_integer("minimum", minimum, low=2)

    @property
    def step(self) -> float:
        """Step of the fixed-point grid."""
        return 2.0**-self.fraction_bits

    def total(
        self, values: ArrayLike, rng: Generator, dropped: Sequence[int] = (), failed: Sequence[int] = ()
    ) -> NDArray[np.float64]:
        """Sum of the vectors of all clients that do not drop out, shape (length,).

        Parameters
        ----------
        values : array_like, shape (clients, length)
            The vectors.
        rng : Generator
            Randomness of the protocol.
        dropped, failed : sequence of int
            Clients and aggregators that drop out (see `SumProtocol`).

        Raises
        ------
        AggregationError
            If too few clients answer, too many parties drop out, a number is not finite or too large, or a share is
            wrong.
        """
        vectors = np.asarray(values, dtype=float)
        refuse(
            vectors.ndim != 2,
            f"clients send vectors of one length; got an array of {vectors.ndim} dimensions",
            AggregationError,
        )
        answering = len(vectors) - len(set(dropped))
        refuse(
            answering < self.minimum,
            f"too few clients: {answering} send and {self.minimum} are needed",
            AggregationError,
        )
        field = PrimeField()
        numbers = FixedPoint(self.fraction_bits, self.limit, field)
        key_rng, protocol_rng = rng.spawn(2)
        key = numbers.key(vectors.shape[1], key_rng)
        protocol = self.protocol or AdditiveShares()
        words = protocol.sum(numbers.encode(vectors, key), field, protocol_rng, dropped, failed)
        return numbers.decode(words, key, answering)
