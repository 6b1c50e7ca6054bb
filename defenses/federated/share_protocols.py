"""Secure sums by secret shares at several aggregators."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.random import Generator

from defenses.federated.field import AggregationError, PrimeField, Words, additive_shares, shamir_rebuild, shamir_shares
from defenses.federated.sum_protocol import SumProtocol, present
from metrics.columns import check_integer, refuse

# Number of clients whose shares are in memory at a time.
_CHUNK = 32


class AdditiveShares(SumProtocol):
    """Secure sum by additive secret sharing.

    Each client splits its vector into one share per aggregator, and the aggregators add up their shares. Any proper
    subset of the aggregators sees uniform words. No aggregator may drop out.

    Parameters
    ----------
    aggregators : int
        Number of aggregators, at least 2.

    Raises
    ------
    ValueError
        If `aggregators` is not an integer of at least 2.
    """

    def __init__(self, *, aggregators: int = 3) -> None:
        self.aggregators = check_integer("aggregators", aggregators, low=2)

    def share(self, words: Words, field: PrimeField, rng: Generator) -> Words:
        """Shares of vectors, shape (aggregators, ...)."""
        return additive_shares(words, self.aggregators, field, rng)

    def rebuild(self, sums: Words, field: PrimeField) -> Words:
        """Sum over the clients, from the aggregators' sums of shape (aggregators, length).

        Raises
        ------
        AggregationError
            If an aggregator is missing.
        """
        refuse(
            len(sums) < self.aggregators,
            f"too few shares: {len(sums)} arrived and {self.aggregators} are needed",
            AggregationError,
        )
        return field.sum(sums, axis=0)

    def sum(
        self,
        words: Words,
        field: PrimeField,
        rng: Generator,
        dropped: Sequence[int] = (),
        failed: Sequence[int] = (),
    ) -> Words:
        """Sum over the clients that answer; no aggregator may drop out."""
        sums = _collected(
            words[present("client", len(words), dropped)],
            self.aggregators,
            field,
            lambda part: self.share(part, field, rng),
        )
        return self.rebuild(sums[present("aggregator", self.aggregators, failed)], field)


class ShamirShares(SumProtocol):
    """Secure sum by Shamir's secret sharing.

    Each client sends one share per aggregator, and the aggregators add up their shares. Any `threshold` aggregators
    see uniform words. Any threshold + 1 rebuild the sum, so aggregators - threshold - 1 may drop out. If more than
    threshold + 1 answer, a wrong share is detected.

    Parameters
    ----------
    aggregators, threshold : int
        Number of aggregators, and the threshold; 1 <= threshold < aggregators.

    Raises
    ------
    ValueError
        If a number is out of range.
    """

    def __init__(self, *, aggregators: int = 5, threshold: int = 2) -> None:
        self.threshold = check_integer("threshold", threshold, low=1)
        self.aggregators = check_integer("aggregators", aggregators, low=threshold + 1)

    def share(self, words: Words, field: PrimeField, rng: Generator) -> Words:
        """Shares of vectors, shape (aggregators, ...)."""
        return shamir_shares(words, self.threshold, self.aggregators, field, rng)

    def rebuild(self, sums: Words, present: Sequence[int], field: PrimeField) -> Words:
        """Sum over the clients, from the sums of the aggregators present, shape (k, length).

        Raises
        ------
        AggregationError
            If there are too few aggregators, or their sums are inconsistent.
        """
        return shamir_rebuild(sums, [aggregator + 1 for aggregator in present], self.threshold, field)

    def sum(
        self,
        words: Words,
        field: PrimeField,
        rng: Generator,
        dropped: Sequence[int] = (),
        failed: Sequence[int] = (),
    ) -> Words:
        """Sum over the clients that answer; threshold + 1 aggregators must answer."""
        sums = _collected(
            words[present("client", len(words), dropped)],
            self.aggregators,
            field,
            lambda part: self.share(part, field, rng),
        )
        answering = present("aggregator", self.aggregators, failed)
        return self.rebuild(sums[answering], answering.tolist(), field)


def _collected(words: Words, aggregators: int, field: PrimeField, share: Callable[[Words], Words]) -> Words:
    """Each aggregator's sum of its shares, shape (aggregators, length), computed for a chunk of clients at a time."""
    sums = np.zeros((aggregators, words.shape[1]), dtype=np.uint64)
    for start in range(0, len(words), _CHUNK):
        sums = field.add(sums, field.sum(share(words[start : start + _CHUNK]), axis=1))
    return sums
