"""Additive and Shamir secret sharing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.random import Generator

from defenses.federated.field import AggregationError, PrimeField, Words
from metrics.columns.parameters import require


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
    if len(points) <= threshold:
        raise AggregationError(f"too few shares: {len(points)} arrived and {threshold + 1} are needed")
    used, spare = tuple(points[: threshold + 1]), points[threshold + 1 :]
    for number, point in enumerate(spare, start=threshold + 1):
        if not np.array_equal(_interpolated(shares[: threshold + 1], used, point, field), shares[number]):
            raise AggregationError("a share is wrong: the shares lie on no common polynomial")
    return _interpolated(shares[: threshold + 1], used, 0, field)


def _value(secrets: Words, coefficients: Words, point: int, field: PrimeField) -> Words:
    """Value of a polynomial at a point, by Horner's scheme."""
    if not len(coefficients):
        return secrets
    result = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        result = field.add(field.multiply(result, _word(point)), coefficient)
    return field.add(field.multiply(result, _word(point)), secrets)


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
        numerator = denominator = 1
        for other in points:
            if other != own:
                numerator = numerator * (at - other) % field.prime
                denominator = denominator * (own - other) % field.prime
        weights.append(numerator * field.inverse(denominator) % field.prime)
    return tuple(weights)
