"""Statistics of tables that offices may not pool: a histogram, and a correlation across two of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from defenses.base.parameters import check_integer
from defenses.federated.field import AggregationError, PrimeField, Words
from defenses.federated.secure_aggregation import SecureAggregation
from defenses.federated.sharing import shamir_rebuild, shamir_shares
from metrics.domains import Domain


def secure_histogram(
    columns: Sequence[ArrayLike], domain: Domain, aggregation: SecureAggregation, rng: Generator
) -> NDArray[np.intp]:
    """Counts of each category or public bin over all offices' records, shape (size,), of which only the sum is seen.

    Parameters
    ----------
    columns : sequence of array_like
        One office's values each; different people.
    domain : Domain
        Public categories or bins; missing values are not counted.
    aggregation : SecureAggregation
        How to add up; a table of more than its limit of records in one category is refused.
    rng : Generator
        Draws whatever the protocol draws.

    Raises
    ------
    AggregationError
        If there are too few offices or a count is too large.
    ValueError
        If a value is none of the domain.
    """
    counts = [np.bincount(domain.codes(np.asarray(column)), minlength=domain.size + 1)[:-1] for column in columns]
    total = aggregation.total(np.array(counts, dtype=float).reshape(len(columns), -1), rng)
    return np.rint(total).astype(np.intp)


def secure_correlation(
    left: ArrayLike, right: ArrayLike, rng: Generator, *, nodes: int = 4, threshold: int = 1
) -> float:
    """Pearson's correlation of one office's column with another's, of which nobody sees more than the result.

    Each office standardizes its own column (mean 0, mean square 1) and sends Shamir shares of degree t to some nodes.
    A node multiplies its shares of both columns person by person and adds up: these are shares of degree 2t of the sum
    of products, n times the correlation. Both offices add a fresh sharing of 0 of degree 2t, without which the product
    of two polynomials would not be a random one. Any t nodes see uniform words; 2t + 1 open the sum, and every node
    beyond them checks it.

    Parameters
    ----------
    left, right : array_like, shape (n,)
        The columns, the same person in the same place; how the offices align them is not part of this.
    rng : Generator
        Draws the shares.
    nodes, threshold : int
        Number of nodes, at least 2 t + 2, and t, at least 1.

    Raises
    ------
    AggregationError
        If a share is wrong.
    ValueError
        If the columns differ in length, have fewer than two values, a value that is not finite, or no spread, or the
        numbers of nodes do not fit.

    References
    ----------
    Ben-Or, Goldwasser and Wigderson (1988), section 3; Bogdanov et al. (2016), Students and taxes, for the use.
    """
    check_integer("threshold", threshold, low=1)
    check_integer("nodes", nodes, low=2 * threshold + 2)
    scores = [_standardized(name, values) for name, values in (("left", left), ("right", right))]
    count = scores[0].size
    if scores[1].size != count:
        raise ValueError(f"left and right must be of one length, got {count} and {scores[1].size} values")
    field = PrimeField()
    # |sum of products| <= n, which must stay below half the prime with both factors' bits after the point.
    bits = (58 - int(count).bit_length()) // 2
    held = [
        shamir_shares(field.elements(np.rint(values * 2.0**bits).astype(np.int64)), threshold, nodes, field, rng)
        for values in scores
    ]
    opened = node_products(held[0], held[1], threshold, field, rng)
    return open_correlation(opened, count, bits, threshold, field)


def node_products(left: Words, right: Words, threshold: int, field: PrimeField, rng: Generator) -> Words:
    """What each node sends to open the sum of products, shape (nodes,), from its shares, shapes (nodes, n)."""
    nodes = len(left)
    products = field.sum(field.multiply(left, right), axis=1)
    nothing = field.elements(np.zeros(2, dtype=np.int64))
    zeros = shamir_shares(nothing, 2 * threshold, nodes, field, rng)
    return field.add(products, field.sum(zeros, axis=1))


def open_correlation(sent: Words, count: int, bits: int, threshold: int, field: PrimeField) -> float:
    """The correlation from what all nodes sent, shape (nodes,).

    Raises
    ------
    AggregationError
        If the nodes contradict each other, or the result lies outside [-1, 1] by more than rounding explains.
    """
    total = shamir_rebuild(sent[:, None], range(1, len(sent) + 1), 2 * threshold, field)
    value = float(field.signed(total)[0]) / count / 4.0**bits
    if abs(value) > 1 + 2.0 ** (1 - bits) * np.sqrt(count):
        raise AggregationError("a share is wrong: the correlation lies outside [-1, 1]")
    return float(np.clip(value, -1, 1))


def _standardized(name: str, values: ArrayLike) -> NDArray[np.float64]:
    numbers = np.asarray(values, dtype=float)
    if numbers.ndim != 1 or numbers.size < 2 or not np.isfinite(numbers).all():
        raise ValueError(f"{name} must hold at least two finite numbers in one dimension")
    if (numbers == numbers[0]).all():
        raise ValueError(f"{name} is constant; it correlates with nothing")
    # Scaled first, so that squares neither overflow nor vanish; by a power of 2, so that no difference is lost.
    scaled = np.ldexp(numbers, -np.frexp(np.abs(numbers).max())[1])
    scaled = scaled - scaled[0]
    scaled /= np.abs(scaled).max()
    centered = scaled - scaled.mean()
    return np.asarray(centered / np.sqrt(np.square(centered).mean()))
