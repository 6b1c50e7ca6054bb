"""Base class of secure sum protocols."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base import Parametrized
from defenses.federated.field import PrimeField, Words
from metrics.columns import refuse_any


class SumProtocol(Parametrized, ABC):
    """Protocol by which a server learns the sum of clients' vectors and nothing else.

    All parties are honest but curious: they follow the protocol and may inspect what they receive. Protocols run in one
    process here; methods return the messages that parties would send. Randomness comes from the given generator, so
    runs can be repeated. Real parties must draw from their system's cryptographic source.
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
            The clients' vectors.
        field : PrimeField
            Field of the words.
        rng : Generator
            Draws shares, seeds and masks.
        dropped : sequence of int
            Clients that drop out before their vectors arrive.
        failed : sequence of int
            Aggregators that drop out after receiving their shares, for protocols with aggregators.

        Raises
        ------
        AggregationError
            If too many parties drop out, or the messages are inconsistent.
        ValueError
            If `dropped` or `failed` names a party that does not exist.
        """


def present(kind: str, parties: int, silent: Sequence[int]) -> NDArray[np.intp]:
    """Indices of the parties that answer, in order.

    Raises ValueError if `silent` names a party that does not exist.
    """
    wrong = [party for party in silent if not 0 <= party < parties]
    refuse_any(wrong, lambda party: f"there is no {kind} {party} to drop out; there are {parties}")
    return np.setdiff1d(np.arange(parties), np.asarray(silent, dtype=np.intp))
