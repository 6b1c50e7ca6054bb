"""Secure sums of clients' vectors: homomorphic encryption, pairwise masks, and sums of real numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from defenses.base import Parametrized, check_part
from defenses.federated.secret_sharing import (
    MERSENNE,
    AdditiveShares,
    AggregationError,
    PrimeField,
    SumProtocol,
    Words,
    present,
    shamir_rebuild,
    shamir_shares,
)
from metrics.columns import check_integer, check_real, refuse, refuse_rows, require


class Paillier(SumProtocol):
    """Secure sum by Paillier encryption.

    Clients encrypt with a public key, and the aggregator multiplies the ciphertexts to one of the sum. One plaintext
    packs several words, each with room for the sum. The holder of the private key sees only the sum, provided that the
    aggregator passes on no single ciphertext. Clients may drop out before they send. Needs the package ``phe``.

    Parameters
    ----------
    bits : int
        Length of the modulus, at least 256; real deployments need 2048 or more.

    Raises
    ------
    ValueError
        If `bits` is not an integer of at least 256.

    References
    ----------
    Paillier (1999), Public-key cryptosystems based on composite degree residuosity classes.
    """

    def __init__(self, *, bits: int = 2048) -> None:
        self.bits = check_integer("bits", bits, low=256)

    def sum(
        self,
        words: Words,
        field: PrimeField,
        rng: Generator,
        dropped: Sequence[int] = (),
        failed: Sequence[int] = (),
    ) -> Words:
        """Sum over the clients that send.

        Keys and ciphertexts use the system's randomness; the sum does not depend on it.

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
        answering = present("client", len(words), dropped)
        present("aggregator", 0, failed)
        require(answering.size, "too few clients: nobody sends", AggregationError)
        public, private = paillier.generate_paillier_keypair(n_length=self.bits)
        width = (field.prime - 1).bit_length() + len(words).bit_length()
        # The package takes plaintexts up to a third of the modulus as positive, and 2^(bits - 3) is smaller.
        slots = (self.bits - 3) // width
        sent = ([public.encrypt(number) for number in _packed(words[client], slots, width)] for client in answering)
        totals = reduce(lambda left, right: [a + b for a, b in zip(left, right, strict=True)], sent)
        return _unpacked([private.decrypt(total) for total in totals], slots, width, words.shape[1], field)


def _packed(words: Words, slots: int, width: int) -> list[int]:
    numbers = words.tolist()
    return [
        sum(number << (width * slot) for slot, number in enumerate(numbers[start : start + slots]))
        for start in range(0, len(numbers), slots)
    ]


def _unpacked(numbers: list[int], slots: int, width: int, length: int, field: PrimeField) -> Words:
    mask = (1 << width) - 1
    words = [(number >> (width * slot) & mask) % field.prime for number in numbers for slot in range(slots)]
    return np.array(words[:length], dtype=np.uint64)


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


# Fixed-point encoding of real vectors in a prime field, with a check word that detects wrong sums.


@dataclass(frozen=True)
class FixedPoint:
    """Fixed-point numbers with a linear check word.

    Numbers have absolute value at most `limit` and are rounded to multiples of 2^-fraction_bits. A vector x is followed
    by its check word, the inner product <key, x>. Clients and the receiver of the sum share the random key; parties
    that carry shares do not know it. Check words add up as vectors do. A changed sum passes the check with probability
    1/prime.

    - fraction_bits: Bits after the binary point.
    - limit: Largest absolute value of one client's number.
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
