"""Protocols by which a server learns the sum of clients' vectors and nothing else.

All are for parties that follow the protocol and may look at what they get (honest but curious). Each is run here in
one process; what a party would send is what the methods return. Randomness comes from the generator handed in, so that
runs repeat; parties in earnest draw from their system's cryptographic source.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.federated.field import MERSENNE, AggregationError, PrimeField, Words
from defenses.federated.sharing import additive_shares, shamir_rebuild, shamir_shares
from defenses.parameters import Parametrized, check_whole

# Clients whose shares are held at a time.
_CHUNK = 32
_SEED_WORDS = 2


class SumProtocol(Parametrized, ABC):
    """A way to add up vectors of field elements."""

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


class AdditiveShares(SumProtocol):
    """Each client splits its vector into shares for some aggregators, who add up what they hold.

    Any aggregators but all of them together see uniform words. None of them may drop out.

    Parameters
    ----------
    aggregators : int
        At least 2.

    Raises
    ------
    ValueError
        If `aggregators` is no whole number of at least 2.
    """

    def __init__(self, *, aggregators: int = 3) -> None:
        check_whole("aggregators", aggregators, low=2)
        self.aggregators = aggregators

    def share(self, words: Words, field: PrimeField, rng: Generator) -> Words:
        """Shares of vectors, shape (aggregators, ...)."""
        return additive_shares(words, self.aggregators, field, rng)

    def rebuild(self, sums: Words, field: PrimeField) -> Words:
        """The clients' sum from the aggregators', shape (aggregators, length).

        Raises
        ------
        AggregationError
            If an aggregator is missing.
        """
        if len(sums) < self.aggregators:
            raise AggregationError(f"too few shares: {len(sums)} arrived and {self.aggregators} are needed")
        return field.sum(sums, axis=0)

    def sum(
        self,
        words: Words,
        field: PrimeField,
        rng: Generator,
        dropped: Sequence[int] = (),
        failed: Sequence[int] = (),
    ) -> Words:
        """Sum over the clients that answer; no aggregator may fail."""
        words = words[_present("client", len(words), dropped)]
        sums = _collected(words, self.aggregators, field, lambda part: self.share(part, field, rng))
        return self.rebuild(sums[_present("aggregator", self.aggregators, failed)], field)


class ShamirShares(SumProtocol):
    """Each client sends values of random polynomials to some aggregators, who add up what they hold.

    Any `threshold` aggregators see uniform words; any threshold + 1 rebuild the sum, so that
    aggregators - threshold - 1 may drop out. Where more than threshold + 1 answer, a wrong share is noticed.

    Parameters
    ----------
    aggregators, threshold : int
        1 <= threshold < aggregators.

    Raises
    ------
    ValueError
        If a number is out of range.
    """

    def __init__(self, *, aggregators: int = 5, threshold: int = 2) -> None:
        check_whole("threshold", threshold, low=1)
        check_whole("aggregators", aggregators, low=threshold + 1)
        self.aggregators = aggregators
        self.threshold = threshold

    def share(self, words: Words, field: PrimeField, rng: Generator) -> Words:
        """Shares of vectors, shape (aggregators, ...)."""
        return shamir_shares(words, self.threshold, self.aggregators, field, rng)

    def rebuild(self, sums: Words, present: Sequence[int], field: PrimeField) -> Words:
        """The clients' sum from the sums of the aggregators present, shape (k, length).

        Raises
        ------
        AggregationError
            If there are too few or they contradict each other.
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
        """Sum over the clients that answer, from aggregators of which threshold + 1 must answer."""
        words = words[_present("client", len(words), dropped)]
        sums = _collected(words, self.aggregators, field, lambda part: self.share(part, field, rng))
        present = _present("aggregator", self.aggregators, failed)
        return self.rebuild(sums[present], present.tolist(), field)


class PairwiseMasks(SumProtocol):
    """Clients add masks that cancel in the sum, one for each neighbour, and one of their own.

    Neighbours form a random ring graph with k = O(log n) of them for each client (Bell et al. 2020); all-pairs masks
    are the case k >= n - 1. Each client shares the seeds of its masks among its neighbours by Shamir's scheme. After
    the masked vectors have arrived, neighbours reveal for each client either its own mask's seed (it answered) or its
    pairwise seeds (it dropped out), never both; the server takes these masks off the sum. Masks are expanded from
    seeds by SHAKE-128.

    Honest but curious throughout: everybody follows the protocol, nobody adds up what several have seen beyond the
    threshold. In particular a dealer, who draws the pairwise seeds and forgets them, stands in for the key agreement,
    and the server tells everyone the same list of who dropped out; against a server that lies about it, Bonawitz et
    al. add a round of signatures, which is not here.

    More than half of every client's neighbours must answer. That also keeps masks from falling apart: a client with
    more than k/2 answering neighbours has one on either side of the ring, so that masks connect all who answer and the
    server cannot split their sum in two.

    Parameters
    ----------
    neighbours : int, optional
        k, even, at least 2; by default twice the binary logarithm of the number of clients, rounded up to be even.
    threshold : int, optional
        So many neighbours learn nothing of a client's seeds and one more rebuild them; at least k / 2, the default.

    Raises
    ------
    ValueError
        If a number is out of range.

    References
    ----------
    Bonawitz et al. (2017), Practical secure aggregation for privacy-preserving machine learning, section 4; Bell et
    al. (2020), Secure single-server aggregation with (poly)logarithmic overhead, section 3.
    """

    def __init__(self, *, neighbours: int | None = None, threshold: int | None = None) -> None:
        if neighbours is not None:
            check_whole("neighbours", neighbours, low=2)
            if neighbours % 2:
                raise ValueError(f"neighbours must be even, got {neighbours}")
        if threshold is not None:
            check_whole("threshold", threshold, low=1)
            if neighbours is not None and not neighbours / 2 <= threshold < neighbours:
                raise ValueError(
                    f"threshold must be at least half of the {neighbours} neighbours and below them, got {threshold}"
                )
        self.neighbours = neighbours
        self.threshold = threshold

    def graph(self, clients: int, rng: Generator) -> NDArray[np.intp]:
        """Neighbours of each client, shape (clients, k): the nearest on a ring in random order, on both sides."""
        wanted = self.neighbours or 2 * max(1, int(np.ceil(np.log2(clients))))
        ring = rng.permutation(clients)
        reach = min(wanted // 2, (clients - 1) // 2)
        steps = np.concatenate([np.arange(1, reach + 1), -np.arange(1, reach + 1)])
        if clients - 1 <= wanted:
            steps = np.arange(1, clients)
        result = np.empty((clients, steps.size), dtype=np.intp)
        result[ring] = ring[(np.arange(clients)[:, None] + steps) % clients]
        return result

    def masked(self, words: Words, own: Words, pairs: Words, graph: NDArray[np.intp], field: PrimeField) -> Words:
        """What the clients send, shape (clients, length): vectors under all masks.

        Parameters
        ----------
        words : ndarray of uint64, shape (clients, length)
            The vectors.
        own, pairs : ndarray of uint64, shapes (clients, 2) and (clients, k, 2)
            Seeds; those of a pair are equal on both sides.
        graph : ndarray of int, shape (clients, k)
            Neighbours.
        field : PrimeField
            Where the words are from.
        """
        result = words.copy()
        for client in range(len(words)):
            result[client] = field.add(result[client], _mask(own[client], words.shape[1], field))
            for slot in np.flatnonzero(graph[client] > client):
                mask, other = _mask(pairs[client, slot], words.shape[1], field), graph[client, slot]
                result[client] = field.add(result[client], mask)
                result[other] = field.subtract(result[other], mask)
        return result

    def sum(
        self,
        words: Words,
        field: PrimeField,
        rng: Generator,
        dropped: Sequence[int] = (),
        failed: Sequence[int] = (),
    ) -> Words:
        """Sum over the clients that answer; the others fell silent after they had shared their seeds."""
        clients = len(words)
        present = _present("client", clients, dropped)
        _present("aggregator", 0, failed)
        graph = self.graph(clients, rng)
        degree = graph.shape[1]
        threshold = degree // 2 if self.threshold is None else self.threshold
        if threshold >= degree:
            raise AggregationError(
                f"too few clients: each of {clients} has {degree} neighbours, and threshold {threshold} needs more"
            )
        if threshold < degree // 2:
            raise AggregationError(
                f"too many clients: each of {clients} has {degree} neighbours, and threshold {threshold} is below half"
            )
        own = field.random((clients, _SEED_WORDS), rng)
        pairs = _pair_seeds(graph, field, rng)
        # Shares, shape (k, clients, k + 1, 2): what each client's neighbours hold of its own and its pairwise seeds.
        secrets = np.concatenate([own[:, None], pairs], axis=1)
        shares = shamir_shares(secrets, threshold, degree, field, rng)
        sent = self.masked(words, own, pairs, graph, field)
        answered = np.zeros(clients, dtype=bool)
        answered[present] = True
        result = field.sum(sent[present], axis=0)
        for client in range(clients):
            holders = np.flatnonzero(answered[graph[client]])
            if holders.size <= threshold:
                raise AggregationError(
                    f"too many dropouts: {holders.size} neighbours of client {client} answer and {threshold + 1} are "
                    "needed"
                )
            points = (holders[: threshold + 1] + 1).tolist()
            held = shares[holders[: threshold + 1], client]
            if answered[client]:
                seed = shamir_rebuild(held[:, 0], points, threshold, field)
                result = field.subtract(result, _mask(seed, words.shape[1], field))
                continue
            seeds = shamir_rebuild(held[:, 1:], points, threshold, field)
            for slot in holders:
                # The neighbour's mask has stayed in the sum: the larger number of a pair subtracted it.
                mask = _mask(seeds[slot], words.shape[1], field)
                undo = field.add if graph[client, slot] > client else field.subtract
                result = undo(result, mask)
        return result


class Paillier(SumProtocol):
    """Clients encrypt under a key of which the aggregator has the public half; ciphertexts multiply to the sum's.

    Several words travel in one plaintext, each with room for the sum. Who holds the private key sees the sum alone, if
    the aggregator does not hand on single ciphertexts. Clients may drop out before they send. Needs the package
    ``phe``.

    Parameters
    ----------
    bits : int
        Length of the modulus, at least 256; 2048 or more in earnest.

    Raises
    ------
    ValueError
        If `bits` is no whole number of at least 256.

    References
    ----------
    Paillier (1999), Public-key cryptosystems based on composite degree residuosity classes.
    """

    def __init__(self, *, bits: int = 2048) -> None:
        check_whole("bits", bits, low=256)
        self.bits = bits

    def sum(
        self,
        words: Words,
        field: PrimeField,
        rng: Generator,
        dropped: Sequence[int] = (),
        failed: Sequence[int] = (),
    ) -> Words:
        """Sum over the clients that send.

        Keys and ciphertexts draw from the system's source of randomness; the sum does not depend on it.

        Raises
        ------
        AggregationError
            If there is no client.
        ModuleNotFoundError
            If ``phe`` is not installed.
        """
        try:
            from phe import paillier
        except ModuleNotFoundError:
            raise ModuleNotFoundError("Paillier needs the package phe: pip install 'tokumei[paillier]'") from None
        present = _present("client", len(words), dropped)
        _present("aggregator", 0, failed)
        if not present.size:
            raise AggregationError("too few clients: nobody sends")
        public, private = paillier.generate_paillier_keypair(n_length=self.bits)
        width = (field.prime - 1).bit_length() + len(words).bit_length()
        # Numbers up to a third of the modulus are positive in the package, and 2^(bits - 3) is less than that.
        slots = (self.bits - 3) // width
        totals = None
        for client in present:
            sent = [public.encrypt(number) for number in _packed(words[client], slots, width)]
            totals = sent if totals is None else [a + b for a, b in zip(totals, sent, strict=True)]
        assert totals is not None  # noqa: S101 (somebody sends)
        numbers = [private.decrypt(total) for total in totals]
        return _unpacked(numbers, slots, width, words.shape[1], field)


def _present(kind: str, parties: int, silent: Sequence[int]) -> NDArray[np.intp]:
    wrong = [party for party in silent if not 0 <= party < parties]
    if wrong:
        raise ValueError(f"there is no {kind} {wrong[0]} to fall silent; there are {parties}")
    return np.setdiff1d(np.arange(parties), np.asarray(silent, dtype=np.intp))


def _collected(words: Words, aggregators: int, field: PrimeField, share: Callable[[Words], Words]) -> Words:
    """Each aggregator's sum of the shares that it gets, shape (aggregators, length), some clients at a time."""
    sums = np.zeros((aggregators, words.shape[1]), dtype=np.uint64)
    for start in range(0, len(words), _CHUNK):
        sums = field.add(sums, field.sum(share(words[start : start + _CHUNK]), axis=1))
    return sums


def _pair_seeds(graph: NDArray[np.intp], field: PrimeField, rng: Generator) -> Words:
    """Seeds of the pairs, shape (clients, k, 2), equal on both sides."""
    clients = len(graph)
    ends = np.sort(np.stack([np.broadcast_to(np.arange(clients)[:, None], graph.shape), graph]), axis=0)
    _, edge = np.unique(ends[0] * clients + ends[1], return_inverse=True)
    edge = edge.reshape(graph.shape)
    return field.random((int(edge.max()) + 1, _SEED_WORDS), rng)[edge]


def _mask(seed: Words, length: int, field: PrimeField) -> Words:
    """Elements expanded from a seed, shape (length,); an element's distance from uniform is below prime / 2^64."""
    stream = hashlib.shake_128(seed.astype("<u8").tobytes()).digest(8 * length)
    words = np.frombuffer(stream, dtype="<u8").astype(np.uint64)
    if field.prime == MERSENNE:
        words = words & np.uint64(MERSENNE)
        return np.where(words == np.uint64(MERSENNE), np.uint64(0), words)
    return words % np.uint64(field.prime)


def _packed(words: Words, slots: int, width: int) -> list[int]:
    numbers = words.tolist()
    return [
        sum(number << (width * place) for place, number in enumerate(numbers[start : start + slots]))
        for start in range(0, len(numbers), slots)
    ]


def _unpacked(numbers: list[int], slots: int, width: int, length: int, field: PrimeField) -> Words:
    one = (1 << width) - 1
    words = [(number >> (width * place) & one) % field.prime for number in numbers for place in range(slots)]
    return np.array(words[:length], dtype=np.uint64)
