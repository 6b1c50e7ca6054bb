"""Secure statistics of data that parties may not pool: a histogram, a correlation, and whether positions are near."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from defenses.federated.garbling.comparisons import SecureAnswer, TwoPartyResult, run_two_parties
from defenses.federated.garbling.gates import Gates, Wires, greater, to_bits
from defenses.federated.secret_sharing import AggregationError, PrimeField, Words, shamir_rebuild, shamir_shares
from defenses.federated.secure_aggregation import SecureAggregation
from metrics.columns import Domain, check_integer, refuse, require


def secure_histogram(
    columns: Sequence[ArrayLike], domain: Domain, aggregation: SecureAggregation, rng: Generator
) -> NDArray[np.intp]:
    """Histogram over all offices' records, shape (size,), that reveals no single office's counts.

    Parameters
    ----------
    columns : sequence of array_like
        Values of each office; the offices hold different people.
    domain : Domain
        Public categories or bins; missing values are not counted.
    aggregation : SecureAggregation
        Secure sum; an office's count above its limit is refused.
    rng : Generator
        Randomness of the protocol.

    Raises
    ------
    AggregationError
        If there are too few offices or a count is too large.
    ValueError
        If a value lies outside the domain.
    """
    counts = [np.bincount(domain.codes(np.asarray(column)), minlength=domain.size + 1)[:-1] for column in columns]
    total = aggregation.total(np.array(counts, dtype=float).reshape(len(columns), -1), rng)
    return np.rint(total).astype(np.intp)


def secure_correlation(
    left: ArrayLike, right: ArrayLike, rng: Generator, *, nodes: int = 4, threshold: int = 1
) -> float:
    """Pearson's correlation of two offices' columns, by secure multiplication of Shamir shares.

    Each office standardizes its own column (mean 0, mean square 1) and sends Shamir shares of degree t to the nodes. A
    node multiplies its shares of both columns person by person and sums the products. The results are shares of
    degree 2t of the sum of products, which is n times the correlation. Both offices add a fresh sharing of 0 of degree
    2t, since the product of two random polynomials is not a uniformly random one. Any t nodes see uniform words; 2t + 1
    nodes open the sum, and each further node checks it.

    Parameters
    ----------
    left, right : array_like, shape (n,)
        The columns, with each person at the same position; aligning them is outside of this protocol.
    rng : Generator
        Draws the shares.
    nodes, threshold : int
        Number of nodes, at least 2t + 2, and t, at least 1.

    Raises
    ------
    AggregationError
        If a share is wrong.
    ValueError
        If the columns differ in length, or one is constant, has fewer than two values or one that is not finite. If
        `nodes` or `threshold` is out of range.

    References
    ----------
    Ben-Or, Goldwasser and Wigderson (1988), section 3; Bogdanov et al. (2016), Students and taxes, for the use.
    """
    check_integer("threshold", threshold, low=1)
    check_integer("nodes", nodes, low=2 * threshold + 2)
    scores = [_standardized(name, values) for name, values in (("left", left), ("right", right))]
    count, other = (values.size for values in scores)
    require(count == other, f"left and right must be of one length, got {count} and {other} values")
    field = PrimeField()
    # |sum of products| <= n; times both factors' scale it must stay below half the prime.
    bits = (58 - int(count).bit_length()) // 2
    shares = [
        shamir_shares(field.elements(np.rint(values * 2.0**bits).astype(np.int64)), threshold, nodes, field, rng)
        for values in scores
    ]
    opened = node_products(shares[0], shares[1], threshold, field, rng)
    return open_correlation(opened, count, bits, threshold, field)


def secure_distance(
    left: ArrayLike, right: ArrayLike, limit: int, rng: Generator, *, nodes: int = 4, threshold: int = 1
) -> SecureAnswer:
    """Whether two parties' positions are at most `limit` apart: satellites whose orbits are secret.

    Each party sends Shamir shares of its coordinates to the nodes. A node squares its shares of the differences and
    adds them up. The sum is a share of degree 2t of the squared distance. The left party adds a random mask in shares,
    so that opening the sum shows the right party a uniform number. A garbled circuit of mask and number compares the
    squared distance with the squared limit. Nothing is opened but its one bit. Any t nodes see uniform words.

    Parameters
    ----------
    left, right : array_like of int, shape (n,)
        Coordinates in one unit, n at least 1. A coordinate is at most sqrt(prime / 4n) from 0: 438,353,264 for n = 3.
    limit : int
        The distance, in the same unit, not negative.
    rng : Generator
        Randomness of both parties.
    nodes, threshold : int
        Number of nodes, at least 2t + 2, and t, at least 1.

    Raises
    ------
    AggregationError
        If a share or a message is wrong.
    ModuleNotFoundError
        If PyNaCl is not installed.
    ValueError
        If a position is no vector of integers in range, they differ in length, or a number is out of range.

    References
    ----------
    Kamm and Willemson (2015), Secure floating point arithmetic and private satellite collision analysis, for the use;
    Ben-Or, Goldwasser and Wigderson (1988), section 3, for products.

    Examples
    --------
    >>> import numpy as np
    >>> secure_distance([7000, 0, 0], [7003, 4, 0], 5, np.random.default_rng(1)).value
    1
    """
    check_integer("threshold", threshold, low=1)
    check_integer("nodes", nodes, low=2 * threshold + 2)
    check_integer("limit", limit, low=0)
    field = PrimeField()
    places = [_position(name, values, field) for name, values in (("left", left), ("right", right))]
    count, other = (place.size for place in places)
    require(count == other, f"left and right must be of one length, got {count} and {other} coordinates")
    shares = [shamir_shares(field.elements(place), threshold, nodes, field, rng) for place in places]
    apart = field.subtract(*shares)
    mask = field.random((1,), rng)
    masked = field.add(
        node_products(apart, apart, threshold, field, rng),
        shamir_shares(mask, 2 * threshold, nodes, field, rng)[:, 0],
    )
    opened = shamir_rebuild(masked[:, None], range(1, nodes + 1), 2 * threshold, field)
    low = int(mask[0])
    # The positions are near if the opened number lies from `low` to `high`, modulo the prime.
    wrapped, high = divmod(low + min(limit**2, field.prime - 1), field.prime)
    bits = field.prime.bit_length()
    own = to_bits([low + (wrapped << bits), high], bits + 1)
    result = run_two_parties(_within, own, to_bits(opened[0], bits), rng)
    word = masked.itemsize
    sent = {
        "shares": 2 * nodes * count * word,
        "shares of 0 and of the mask": 3 * nodes * word,
        "results": nodes * word,
    }
    return SecureAnswer(int(result.bits), TwoPartyResult(result.bits, result.and_gates, {**sent, **result.sent}))


def _within(gates: Gates, own: Wires, number: Wires) -> Wires:
    """Whether a number lies from the first to the second of two, or outside of them if the first has its last bit set.

    Without that bit the first is the smaller, so that the number is never below the first and above the second. With
    it, the first is the larger, so that the number is always below the first or above the second.
    """
    ends = own[:-1]
    outside = greater(gates, np.stack([ends[:, 0], number], axis=1), np.stack([number, ends[:, 1]], axis=1))
    return gates.xor(gates.negated(gates.xor(outside[0], outside[1])), own[-1, 0])


def _position(name: str, values: ArrayLike, field: PrimeField) -> NDArray[np.int64]:
    """A party's coordinates; messages do not show them."""
    numbers = np.asarray(values)
    most = isqrt(field.prime // (4 * max(1, numbers.size)))
    require(
        numbers.ndim == 1
        and numbers.size
        and numbers.dtype.kind in "iu"
        and ((numbers >= -most) & (numbers <= most)).all(),
        f"{name} must hold at least one coordinate, each an integer from -{most} to {most}",
    )
    return numbers.astype(np.int64)


def node_products(left: Words, right: Words, threshold: int, field: PrimeField, rng: Generator) -> Words:
    """Each node's share of the sum of products, shape (nodes,), from its shares of both columns, shapes (nodes, n)."""
    nodes = len(left)
    products = field.sum(field.multiply(left, right), axis=1)
    zeros = field.elements(np.zeros(2, dtype=np.int64))
    blinding = shamir_shares(zeros, 2 * threshold, nodes, field, rng)
    return field.add(products, field.sum(blinding, axis=1))


def open_correlation(sent: Words, count: int, bits: int, threshold: int, field: PrimeField) -> float:
    """The correlation, opened from all nodes' shares of the sum of products, shape (nodes,).

    Raises AggregationError if the shares are inconsistent, or the result lies outside [-1, 1] by more than rounding
    explains.
    """
    total = shamir_rebuild(sent[:, None], range(1, len(sent) + 1), 2 * threshold, field)
    value = float(field.signed(total)[0]) / count / 4.0**bits
    refuse(
        abs(value) > 1 + 2.0 ** (1 - bits) * np.sqrt(count),
        "a share is wrong: the correlation lies outside [-1, 1]",
        AggregationError,
    )
    return float(np.clip(value, -1, 1))


def _standardized(name: str, values: ArrayLike) -> NDArray[np.float64]:
    numbers = np.asarray(values, dtype=float)
    require(
        numbers.ndim == 1 and numbers.size >= 2 and np.isfinite(numbers).all(),
        f"{name} must hold at least two finite numbers in one dimension",
    )
    refuse((numbers == numbers[0]).all(), f"{name} is constant; it correlates with nothing")
    # Scaling keeps squares from over- and underflow; a power of 2 loses no digit.
    scaled = np.ldexp(numbers, -np.frexp(np.abs(numbers).max())[1])
    scaled = scaled - scaled[0]
    scaled /= np.abs(scaled).max()
    centered = scaled - scaled.mean()
    return np.asarray(centered / np.sqrt(np.square(centered).mean()))
