"""Secret sharing in prime fields, the contract of secure sums, and sums by shares at several aggregators."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, reduce

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from defenses.base import Parametrized
from metrics.columns import check_integer, refuse, refuse_any, require

Words = NDArray[np.uint64]
MERSENNE = 2**61 - 1
_LOW, _MIDDLE = np.uint64(31), np.uint64(30)
_LOW_MASK, _MIDDLE_MASK = np.uint64(2**31 - 1), np.uint64(2**30 - 1)
_HALF, _HALF_MASK = np.uint64(32), np.uint64(2**32 - 1)


class AggregationError(ValueError):
    """A sum that cannot be trusted or must not be computed: wrong share, too few parties, or overflow."""


@dataclass(frozen=True)
class PrimeField:
    """The integers modulo a prime; elements are unsigned words below the prime.

    Parameters
    ----------
    prime : int
        2^61 - 1, or a prime below 2^31.

    Raises
    ------
    ValueError
        If `prime` is neither.
    """

    prime: int = MERSENNE

    def __post_init__(self) -> None:
        if self.prime == MERSENNE:
            return
        small = 2 <= self.prime < 2**31
        refuse(
            not small or any(self.prime % divisor == 0 for divisor in range(2, int(self.prime**0.5) + 1)),
            f"prime must be 2^61 - 1 or a prime below 2^31, got {self.prime!r}",
        )

    def elements(self, numbers: ArrayLike) -> Words:
        """Elements congruent to integers of any sign."""
        return np.mod(np.asarray(numbers, dtype=np.int64), np.int64(self.prime)).astype(np.uint64)

    def signed(self, words: Words) -> NDArray[np.int64]:
        """Elements as integers between -prime / 2 and prime / 2."""
        numbers = words.astype(np.int64)
        return np.where(numbers > self.prime // 2, numbers - self.prime, numbers)

    def random(self, shape: tuple[int, ...], rng: Generator) -> Words:
        """Independent uniform elements."""
        return rng.integers(0, self.prime, shape, dtype=np.uint64)

    def add(self, left: Words, right: Words) -> Words:
        """Left + right."""
        return self._reduced(left + right)

    def subtract(self, left: Words, right: Words) -> Words:
        """Left - right."""
        return self._reduced(left + (np.uint64(self.prime) - right))

    def multiply(self, left: Words, right: Words) -> Words:
        """Left * right.

        For 2^61 - 1 each factor is split as a 2^31 + b. Since 2^61 = 1 in the field, a a' 2^62 = 2 a a', and the mixed
        products' bits from 2^30 on wrap around. No sum reaches 2^64.
        """
        if self.prime != MERSENNE:
            return (left * right) % np.uint64(self.prime)
        high, low = left >> _LOW, left & _LOW_MASK
        other_high, other_low = right >> _LOW, right & _LOW_MASK
        mixed = high * other_low + low * other_high
        product = low * other_low
        total = (
            ((high * other_high) << np.uint64(1))
            + (mixed >> _MIDDLE)
            + ((mixed & _MIDDLE_MASK) << _LOW)
            + (product >> np.uint64(61))
            + (product & np.uint64(MERSENNE))
        )
        return self._reduced((total & np.uint64(MERSENNE)) + (total >> np.uint64(61)))

    def sum(self, words: Words, axis: int) -> Words:
        """Sum of at most 2^32 elements along an axis."""
        high, low = (words >> _HALF).sum(axis=axis), (words & _HALF_MASK).sum(axis=axis)
        prime = np.uint64(self.prime)
        return self.add(self.multiply(high % prime, np.asarray(2**32 % self.prime, dtype=np.uint64)), low % prime)

    def inverse(self, number: int) -> int:
        """1 / number.

        Raises
        ------
        ValueError
            If the number is 0 in the field.
        """
        return pow(int(number), -1, self.prime)

    def _reduced(self, words: Words) -> Words:
        """Words below twice the prime as elements."""
        return words - np.where(words >= np.uint64(self.prime), np.uint64(self.prime), np.uint64(0))


# Additive and Shamir secret sharing.


def additive_shares(secrets: Words, parties: int, field: PrimeField, rng: Generator) -> Words:
    """Additive shares of the secrets, shape (parties, ...); all but the last are uniform.

    Any parties - 1 shares are independent uniform elements for every secret, since for each secret exactly one last
    share fits.
    """
    free = field.random((parties - 1, *secrets.shape), rng)
    return np.concatenate([free, field.subtract(secrets, field.sum(free, axis=0))[None]])


def shamir_shares(secrets: Words, threshold: int, parties: int, field: PrimeField, rng: Generator) -> Words:
    """Shamir shares of the secrets, shape (parties, ...).

    Shares are values at 1..parties of random polynomials of degree `threshold` with the secrets at 0. Any `threshold`
    shares are independent uniform elements for every secret: with the secret at 0, exactly one polynomial passes
    through them. One share more determines the polynomial.

    Raises
    ------
    ValueError
        Unless 0 <= threshold < parties < prime.

    References
    ----------
    Shamir (1979), How to share a secret.
    """
    require(
        0 <= threshold < parties < field.prime,
        (
            f"threshold must be at least 0 and below the number of parties, and that below the prime, got threshold "
            f"{threshold}, {parties} parties and prime {field.prime}"
        ),
    )
    coefficients = field.random((threshold, *secrets.shape), rng)
    return np.stack([_value(secrets, coefficients, point, field) for point in range(1, parties + 1)])


def shamir_rebuild(shares: Words, points: Sequence[int], threshold: int, field: PrimeField) -> Words:
    """Secrets rebuilt from Shamir shares, shape (k, ...), at the given points.

    Raises
    ------
    AggregationError
        If there are at most `threshold` shares, or the shares do not lie on one polynomial of degree `threshold`.
    """
    refuse(
        len(points) <= threshold,
        f"too few shares: {len(points)} arrived and {threshold + 1} are needed",
        AggregationError,
    )
    used, spare = tuple(points[: threshold + 1]), points[threshold + 1 :]
    for number, point in enumerate(spare, start=threshold + 1):
        require(
            np.array_equal(_interpolated(shares[: threshold + 1], used, point, field), shares[number]),
            "a share is wrong: the shares lie on no common polynomial",
            AggregationError,
        )
    return _interpolated(shares[: threshold + 1], used, 0, field)


def _value(secrets: Words, coefficients: Words, point: int, field: PrimeField) -> Words:
    """Value of a polynomial at a point, by Horner's scheme."""
    x = _word(point)
    return reduce(lambda value, term: field.add(field.multiply(value, x), term), [*coefficients[::-1], secrets])


def _interpolated(shares: Words, points: tuple[int, ...], at: int, field: PrimeField) -> Words:
    weights = lagrange_weights(points, at, field)
    terms = [field.multiply(share, _word(weight)) for share, weight in zip(shares, weights, strict=True)]
    return field.sum(np.stack(terms), axis=0)


def _word(number: int) -> Words:
    return np.asarray(number, dtype=np.uint64)


@cache
def lagrange_weights(points: tuple[int, ...], at: int, field: PrimeField) -> tuple[int, ...]:
    """Lagrange weights of the values at `points` for the polynomial's value at the point `at`."""
    weights = []
    for own in points:
        others = [point for point in points if point != own]
        numerator, denominator = (math.prod(place - other for other in others) for place in (at, own))
        weights.append(numerator * field.inverse(denominator) % field.prime)
    return tuple(weights)


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
