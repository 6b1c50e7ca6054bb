"""Boolean circuits of few AND gates: comparison, maximum, count of common bits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from defenses.federated.garbling.gates import Gates, Wires

Circuit = Callable[[Gates, Wires, Wires], Wires]
"""A circuit of the garbler's and the evaluator's wires."""


def greater(gates: Gates, left: Wires, right: Wires) -> Wires:
    """Whether each left number exceeds the right one; n AND gates for n bits.

    Parameters
    ----------
    gates : Gates
        Gates to compute with.
    left, right : Wires, shape (bits, ...)
        Numbers, the lowest bit first.

    Returns
    -------
    Wires, shape (...)

    Notes
    -----
    From the lowest bit up: c' = a xor ((a xor c) and (b xor c)) is a where a and b differ, and c where they agree.

    References
    ----------
    Kolesnikov, Sadeghi and Schneider (2009), Improved garbled circuit building blocks, section 3.2.
    """
    result = gates.both(left[0], gates.negated(right[0]))
    for a, b in zip(left[1:], right[1:], strict=True):
        result = gates.xor(a, gates.both(gates.xor(a, result), gates.xor(b, result)))
    return result


def maximum(gates: Gates, numbers: Wires) -> Wires:
    """Maximum of m numbers by a tournament; 2 n (m - 1) AND gates for n bits.

    Parameters
    ----------
    gates : Gates
        Gates to compute with.
    numbers : Wires, shape (bits, m, ...)
        The numbers.

    Returns
    -------
    Wires, shape (bits, ...)

    References
    ----------
    Kolesnikov, Sadeghi and Schneider (2009), section 3.3.
    """
    while numbers.shape[1] > 1:
        pairs = numbers.shape[1] // 2
        left, right = numbers[:, :pairs], numbers[:, pairs : 2 * pairs]
        first_wins = np.broadcast_to(greater(gates, left, right), left.shape)
        winners = gates.xor(right, gates.both(first_wins, gates.xor(left, right)))
        numbers = np.concatenate([winners, numbers[:, 2 * pairs :]], axis=1)
    return np.asarray(numbers[:, 0])


def added(gates: Gates, left: Wires, right: Wires) -> Wires:
    """Sums of numbers of n bits, shape (n + 1, ...); n AND gates each."""
    carry = gates.both(left[0], right[0])
    bits = [gates.xor(left[0], right[0])]
    for a, b in zip(left[1:], right[1:], strict=True):
        different = gates.xor(a, carry)
        bits.append(gates.xor(different, b))
        carry = gates.xor(carry, gates.both(different, gates.xor(b, carry)))
    return np.stack([*bits, carry])


def count(gates: Gates, bits: Wires) -> Wires:
    """Number of ones among m bits by a tree of adders; about 2 m AND gates.

    Parameters
    ----------
    gates : Gates
        Gates to compute with.
    bits : Wires, shape (m, ...)
        The bits.

    Returns
    -------
    Wires, shape (width, ...)
        The number; `width` is that of m.
    """
    width = int(bits.shape[0]).bit_length()
    numbers = bits[None]
    odd: list[Wires] = []
    while numbers.shape[1] > 1:
        if numbers.shape[1] % 2:
            odd.append(numbers[:, -1])
        pairs = numbers.shape[1] // 2
        numbers = added(gates, numbers[:, :pairs], numbers[:, pairs : 2 * pairs])
    total = np.asarray(numbers[:, 0])
    for number in reversed(odd):
        zeros = np.broadcast_to(gates.xor(number[0], number[0]), (len(total) - len(number), *number[0].shape))
        total = added(gates, total, np.concatenate([number, zeros]))[:width]
    return total[:width]


def to_bits(numbers: ArrayLike, width: int) -> NDArray[np.bool_]:
    """Bits of non-negative integers, shape (width, ...), the lowest bit first."""
    values = np.asarray(numbers, dtype=np.uint64)
    shifts = np.arange(width, dtype=np.uint64).reshape(-1, *([1] * values.ndim))
    return ((values >> shifts) & np.uint64(1)).astype(bool)


def from_bits(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Non-negative integers from their bits, shape (bits, ...)."""
    weights = (np.uint64(1) << np.arange(len(bits), dtype=np.uint64)).reshape(-1, *([1] * (bits.ndim - 1)))
    return np.asarray((bits * weights).sum(axis=0), dtype=np.uint64)
