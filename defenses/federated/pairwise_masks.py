"""Secure sums by pairwise masks that cancel."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.federated.field import MERSENNE, AggregationError, PrimeField, Words, shamir_rebuild, shamir_shares
from defenses.federated.sum_protocol import SumProtocol, present
from metrics.columns import check_integer, refuse

_SEED_WORDS = 2


class PairwiseMasks(SumProtocol):
    """Secure sum by pairwise masks that cancel, and a mask of each client's own.

    Neighbours form a random ring graph with degree k = O(log n) (Bell et al. 2020); all-pairs masks are the case
    k >= n - 1. Each client shares the seeds of its masks among its neighbours by Shamir's scheme. The masked vectors
    arrive first. The neighbours then reveal one kind of seed for each client, never both. If the client answered, it is
    the seed of its own mask; if it dropped out, its pairwise seeds. The server subtracts these masks from the sum.
    SHAKE-128 expands seeds to masks.

    All parties are honest but curious, and no more parties collude than the threshold allows. A dealer stands in for
    the key agreement: it draws the pairwise seeds and forgets them. The server announces the same list of dropouts to
    everyone. Against a server that lies about it, Bonawitz et al. add a round of signatures, which is not implemented
    here.

    More than half of every client's neighbours must answer. A client with more than k/2 answering neighbours then has
    one on either side of the ring. The masks therefore connect all clients that answer, and the server cannot split
    their sum in two.

    Parameters
    ----------
    neighbours : int, optional
        k, even, at least 2. The default is twice the binary logarithm of the number of clients, rounded up to an even
        number.
    threshold : int, optional
        Number of neighbours that learn nothing about a client's seeds; one more can rebuild them. At least k / 2, the
        default.

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
        self.neighbours = check_integer("neighbours", neighbours, low=2, optional=True)
        refuse(neighbours is not None and neighbours % 2, f"neighbours must be even, got {neighbours}")
        self.threshold = check_integer("threshold", threshold, low=1, optional=True)
        refuse(
            neighbours is not None and threshold is not None and not neighbours / 2 <= threshold < neighbours,
            f"threshold must be at least half of the {neighbours} neighbours and below them, got {threshold}",
        )

    def graph(self, clients: int, rng: Generator) -> NDArray[np.intp]:
        """Neighbours of each client, shape (clients, k): the nearest on both sides of a ring in random order."""
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
        """Masked vectors that the clients send, shape (clients, length).

        Parameters
        ----------
        words : ndarray of uint64, shape (clients, length)
            The vectors.
        own, pairs : ndarray of uint64, shapes (clients, 2) and (clients, k, 2)
            Seeds of own masks and of pairwise masks. Both clients of a pair have the same seed.
        graph : ndarray of int, shape (clients, k)
            Neighbours.
        field : PrimeField
            Field of the words.
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
        """Sum over the clients that answer; the others dropped out after sharing their seeds."""
        clients = len(words)
        answering = present("client", clients, dropped)
        present("aggregator", 0, failed)
        graph = self.graph(clients, rng)
        degree = graph.shape[1]
        threshold = degree // 2 if self.threshold is None else self.threshold
        refuse(
            threshold >= degree,
            f"too few clients: each of {clients} has {degree} neighbours, and threshold {threshold} needs more",
            AggregationError,
        )
        refuse(
            threshold < degree // 2,
            f"too many clients: each of {clients} has {degree} neighbours, and threshold {threshold} is below half",
            AggregationError,
        )
        own = field.random((clients, _SEED_WORDS), rng)
        pairs = _pair_seeds(graph, field, rng)
        # Shares, shape (k, clients, k + 1, 2): each neighbour's share of a client's own and pairwise seeds.
        secrets = np.concatenate([own[:, None], pairs], axis=1)
        shares = shamir_shares(secrets, threshold, degree, field, rng)
        sent = self.masked(words, own, pairs, graph, field)
        answered = np.zeros(clients, dtype=bool)
        answered[answering] = True
        result = field.sum(sent[answering], axis=0)
        for client in range(clients):
            holders = np.flatnonzero(answered[graph[client]])
            refuse(
                holders.size <= threshold,
                f"too many dropouts: {holders.size} neighbours of client {client} answer and {threshold + 1} are "
                "needed",
                AggregationError,
            )
            points = (holders[: threshold + 1] + 1).tolist()
            revealed = shares[holders[: threshold + 1], client]
            if answered[client]:
                seed = shamir_rebuild(revealed[:, 0], points, threshold, field)
                result = field.subtract(result, _mask(seed, words.shape[1], field))
                continue
            seeds = shamir_rebuild(revealed[:, 1:], points, threshold, field)
            for slot in holders:
                # The neighbour's mask is still in the sum; the client with the larger index subtracted it.
                mask = _mask(seeds[slot], words.shape[1], field)
                undo = field.add if graph[client, slot] > client else field.subtract
                result = undo(result, mask)
        return result


def _pair_seeds(graph: NDArray[np.intp], field: PrimeField, rng: Generator) -> Words:
    """Seeds of pairs, shape (clients, k, 2), the same for both clients of a pair."""
    clients = len(graph)
    ends = np.sort(np.stack([np.broadcast_to(np.arange(clients)[:, None], graph.shape), graph]), axis=0)
    _, edge = np.unique(ends[0] * clients + ends[1], return_inverse=True)
    edge = edge.reshape(graph.shape)
    return field.random((int(edge.max()) + 1, _SEED_WORDS), rng)[edge]


def _mask(seed: Words, length: int, field: PrimeField) -> Words:
    """Elements expanded from a seed, shape (length,); each is within prime / 2^64 of uniform."""
    stream = hashlib.shake_128(seed.astype("<u8").tobytes()).digest(8 * length)
    words = np.frombuffer(stream, dtype="<u8").astype(np.uint64)
    if field.prime == MERSENNE:
        words = words & np.uint64(MERSENNE)
        return np.where(words == np.uint64(MERSENNE), np.uint64(0), words)
    return words % np.uint64(field.prime)
