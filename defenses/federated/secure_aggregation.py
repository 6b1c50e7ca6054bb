"""Secure aggregation: real vectors in, their sum out, nothing else seen; never a wrong sum."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from defenses.base.parameters import Parametrized, check_integer, check_real
from defenses.federated.field import AggregationError, PrimeField
from defenses.federated.fixed_point import FixedPoint
from defenses.federated.share_protocols import AdditiveShares
from defenses.federated.sum_protocol import SumProtocol


class SecureAggregation(Parametrized):
    """Sums of clients' vectors by a protocol that shows the sum alone.

    Numbers are rounded to fixed point in the field of 2^61 - 1 elements and carry a check word (see `FixedPoint`).

    Parameters
    ----------
    protocol : SumProtocol, optional
        How; additive shares to three aggregators by default.
    fraction_bits : int
        Bits after the point; a sum of n numbers is off by n 2^-(fraction_bits + 1) at most.
    limit : float
        Largest absolute value of a client's number; larger ones are refused.
    minimum : int
        Fewest clients whose sum is computed, at least 2: the sum of one is that one. Those that drop out do not count.

    Raises
    ------
    ValueError
        If a number is out of range or `protocol` is none.
    """

    def __init__(
        self,
        *,
        protocol: SumProtocol | None = None,
        fraction_bits: int = 24,
        limit: float = 65536.0,
        minimum: int = 3,
    ) -> None:
        if protocol is not None and not isinstance(protocol, SumProtocol):
            raise ValueError(f"protocol must be a SumProtocol, got {protocol!r}")
        check_integer("fraction_bits", fraction_bits, low=0)
        if fraction_bits > 60:
            raise ValueError(f"fraction_bits must be at most 60, or no number fits the field; got {fraction_bits}")
        check_real("limit", limit, low=0, open_low=True)
        check_integer("minimum", minimum, low=2)
        self.protocol = protocol
        self.fraction_bits = fraction_bits
        self.limit = limit
        self.minimum = minimum

    @property
    def step(self) -> float:
        """Step of the grid that numbers are rounded to."""
        return 2.0**-self.fraction_bits

    def total(
        self, values: ArrayLike, rng: Generator, dropped: Sequence[int] = (), failed: Sequence[int] = ()
    ) -> NDArray[np.float64]:
        """Sum over clients that do not drop out, shape (length,), of vectors of shape (clients, length).

        Parameters
        ----------
        values : array_like, shape (clients, length)
            The vectors.
        rng : Generator
            Draws whatever the protocol draws.
        dropped, failed : sequence of int
            Clients and aggregators that fall silent (see `SumProtocol`).

        Raises
        ------
        AggregationError
            If too few clients answer, a number is not finite or too large, too many parties fall silent or a share is
            wrong.
        """
        vectors = np.asarray(values, dtype=float)
        if vectors.ndim != 2:
            raise AggregationError(f"clients send vectors of one length; got an array of {vectors.ndim} dimensions")
        answering = len(vectors) - len(set(dropped))
        if answering < self.minimum:
            raise AggregationError(f"too few clients: {answering} send and {self.minimum} are needed")
        field = PrimeField()
        numbers = FixedPoint(self.fraction_bits, self.limit, field)
        key_rng, protocol_rng = rng.spawn(2)
        key = numbers.key(vectors.shape[1], key_rng)
        protocol = self.protocol or AdditiveShares()
        words = protocol.sum(numbers.encode(vectors, key), field, protocol_rng, dropped, failed)
        return numbers.decode(words, key, answering)
