"""Prime-field arithmetic on arrays of unsigned 64-bit words, without overflow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, reduce

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from metrics.columns import refuse, require

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
