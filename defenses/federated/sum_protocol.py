"""What every protocol is by which a server learns the sum of clients' vectors and nothing else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base.parameters import Parametrized
from defenses.federated.field import PrimeField, Words


class SumProtocol(Parametrized, ABC):
    """A way to add up vectors of field elements.

    All are for parties that follow the protocol and may look at what they get (honest but curious). Each is run here
    in one process; what a party would send is what the methods return. Randomness comes from the generator handed in,
    so that runs repeat; parties in earnest draw from their system's cryptographic source.
    """

    @abstractmethod
    def sum(
        self,
        words: Words,
        field: PrimeField,
        rng: Generator,
        dropped: Sequence[int] = (),
        failed: Sequence[int] = (),
    ) -> Words:
        """Sum of the clients' vectors, shape (length,), over the clients that did not drop out.

        Parameters
        ----------
        words : ndarray of uint64, shape (clients, length)
            Elements.
        field : PrimeField
            Where they are from.
        rng : Generator
            Draws shares, seeds, masks.
        dropped : sequence of int
            Clients that fall silent before their vectors have arrived.
        failed : sequence of int
            Aggregators that fall silent after they got their shares, where the protocol has aggregators.

        Raises
        ------
        AggregationError
            If too many fall silent, or what arrives does not fit together.
        ValueError
            If a client or aggregator is named that there is not.
        """


def present(kind: str, parties: int, silent: Sequence[int]) -> NDArray[np.intp]:
    """Who answers of so many parties, in order.

    Raises
    ------
    ValueError
        If a party is named that there is not.
    """
    wrong = [party for party in silent if not 0 <= party < parties]
    if wrong:
        raise ValueError(f"there is no {kind} {wrong[0]} to fall silent; there are {parties}")
    return np.setdiff1d(np.arange(parties), np.asarray(silent, dtype=np.intp))
