"""Secure aggregation: sums of clients' real vectors that reveal nothing but the sum."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from defenses.base.parameters import check_integer, check_real
from defenses.base.parametrized import Parametrized
from defenses.federated.field import AggregationError, PrimeField
from defenses.federated.fixed_point import FixedPoint
from defenses.federated.share_protocols import AdditiveShares
from defenses.federated.sum_protocol import SumProtocol


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
        if protocol is not None and not isinstance(protocol, SumProtocol):
            raise ValueError(f"protocol must be a SumProtocol, got {protocol!r}")
        check_integer("fraction_bits", fraction_bits, low=0)
        if fraction_bits > 60:
            raise ValueError(f"fraction_bits must be at most 60, or no number fits the field, got {fraction_bits}")
        check_real("limit", limit, low=0, open_low=True)
        check_integer("minimum", minimum, low=2)
        self.protocol = protocol
        self.fraction_bits = fraction_bits
        self.limit = limit
        self.minimum = minimum

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
