"""Half gates with free XOR: a circuit is garbled and evaluated gate by gate, many gates at a time."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from defenses.federated.secret_sharing import AggregationError

# Wire labels of garbled circuits: 128 bits each, and the hash that encrypts them.

Labels = NDArray[np.uint64]
"""Labels, shape (..., 2): two words of 64 bits each; the lowest bit of the first word is the colour."""

LABEL_BYTES = 16
_ONE = np.uint64(1)


def random_labels(shape: tuple[int, ...], rng: Generator) -> Labels:
    """Independent uniform labels, shape (*shape, 2)."""
    return rng.integers(0, 2**64, (*shape, 2), dtype=np.uint64, endpoint=False)


def random_offset(rng: Generator) -> Labels:
    """The secret offset between both labels of every wire (free XOR), shape (2,); its colour is 1."""
    offset = random_labels((), rng)
    offset[0] |= _ONE
    return offset


def colours(labels: Labels) -> NDArray[np.bool_]:
    """Colours of labels (point and permute), shape (...): they say which row of a table to use, not which value."""
    return (labels[..., 0] & _ONE).astype(bool)


def selected(which: NDArray[np.bool_], labels: Labels) -> Labels:
    """The labels where `which` is true and 0 elsewhere; `which` has the labels' shape without the last axis."""
    return np.where(which[..., None], labels, np.uint64(0))


def hashed(labels: Labels, first_tweak: int) -> Labels:
    """SHA-256 of each label and its tweak, cut to 128 bits; the tweaks count up from `first_tweak`.

    - labels of shape (n, 2): Labels to hash.
    - first_tweak: Tweak of the first label. No tweak may be used for two labels of one kind.
    """
    tweaks = np.arange(first_tweak, first_tweak + len(labels), dtype=np.uint64)
    text = np.column_stack([labels, tweaks]).astype("<u8").tobytes()
    digests = b"".join([sha256(text[start : start + 24]).digest() for start in range(0, len(text), 24)])
    return np.frombuffer(digests, dtype="<u8").reshape(-1, 4)[:, :2].astype(np.uint64)


def digests(labels: Labels) -> list[bytes]:
    """SHA-256 of each label, in full, to publish: it identifies a label and does not reveal it."""
    return [sha256(b"output" + label.astype("<u8").tobytes()).digest() for label in labels.reshape(-1, 2)]


Wires = NDArray[Any]
"""Wires of a circuit: an array whose first axis counts bits, the lowest bit first."""


class Gates(Protocol):
    """The gates that circuits are built of.

    Circuits are functions of gates and wires. The same function runs on bits, on the garbler's labels and on the
    evaluator's labels, so both parties walk the same circuit. Only AND costs communication.
    """

    def xor(self, left: Wires, right: Wires) -> Wires:
        """Exclusive or of wires of one shape; free for both parties."""
        return np.asarray(left ^ right)

    def both(self, left: Wires, right: Wires) -> Wires:
        """And of wires of one shape."""

    def negated(self, wires: Wires) -> Wires:
        """Negation of wires."""


class PlainGates(Gates):
    """Gates on bits; they count the AND gates."""

    def __init__(self) -> None:
        self.and_gates = 0

    def both(self, left: Wires, right: Wires) -> Wires:
        """And."""
        self.and_gates += left.size
        return np.asarray(left & right)

    def negated(self, wires: Wires) -> Wires:
        """Negation."""
        return ~wires


class GarblingGates(Gates):
    """Gates of the garbler, on labels that stand for 0; they collect the tables of the AND gates.

    The label of 1 is the label of 0 plus a secret offset, so XOR and negation need no table. An AND gate is the sum of
    two half gates with one table row of 128 bits each.

    - rng: Draws the offset and the labels.

    References
    ----------
    Kolesnikov and Schneider (2008), Improved garbled circuit: free XOR gates and applications.
    Zahur, Rosulek and Evans (2015), Two halves make a whole, figure 2.
    """

    def __init__(self, rng: Generator) -> None:
        self.offset = random_offset(rng)
        self.tables: list[Labels] = []
        self._rng = rng
        self._tweak = 0

    def fresh(self, shape: tuple[int, ...]) -> Labels:
        """Labels of 0 of input wires, shape (*shape, 2)."""
        return random_labels(shape, self._rng)

    def labels_of(self, zeros: Labels, bits: NDArray[np.bool_]) -> Labels:
        """Labels of these bits on wires with these labels of 0."""
        return zeros ^ selected(bits, np.broadcast_to(self.offset, zeros.shape))

    def negated(self, wires: Wires) -> Wires:
        """Negation, free: the labels swap meaning."""
        return np.asarray(wires ^ self.offset)

    def both(self, left: Wires, right: Wires) -> Wires:
        """And: two rows of 128 bits a gate."""
        shape = left.shape
        a, b = left.reshape(-1, 2), right.reshape(-1, 2)
        a_zero, a_one, b_zero, b_one = self._hashes(a, b)
        a_colour, b_colour = colours(a), colours(b)
        offset = np.broadcast_to(self.offset, a.shape)
        garbler_row = a_zero ^ a_one ^ selected(b_colour, offset)
        garbler_half = a_zero ^ selected(a_colour, garbler_row)
        evaluator_row = b_zero ^ b_one ^ a
        evaluator_half = b_zero ^ selected(b_colour, evaluator_row ^ a)
        self.tables.append(np.stack([garbler_row, evaluator_row]))
        return (garbler_half ^ evaluator_half).reshape(shape)

    def _hashes(self, a: Labels, b: Labels) -> tuple[Labels, Labels, Labels, Labels]:
        """Hashes of both labels of both inputs; each half gate has a tweak of its own."""
        count = len(a)
        first, second = self._tweak, self._tweak + count
        self._tweak += 2 * count
        return hashed(a, first), hashed(a ^ self.offset, first), hashed(b, second), hashed(b ^ self.offset, second)


class EvaluatingGates(Gates):
    """Gates of the evaluator, on one label per wire; they use up the garbler's tables.

    - tables, each of shape (2, gates, 2): Tables in the order of the circuit.
    """

    def __init__(self, tables: list[Labels]) -> None:
        self._tables = iter(tables)
        self._tweak = 0

    def negated(self, wires: Wires) -> Wires:
        """Negation, free: the label stays."""
        return wires

    def both(self, left: Wires, right: Wires) -> Wires:
        """And, by the rows that the labels' colours select.

        Raises AggregationError if a table is missing or has another number of gates.
        """
        a, b = left.reshape(-1, 2), right.reshape(-1, 2)
        count = len(a)
        table = next(self._tables, None)
        if table is None or table.shape != (2, count, 2):
            raise AggregationError("the garbled tables do not fit the circuit")
        garbler_row, evaluator_row = table
        garbler_half = hashed(a, self._tweak) ^ selected(colours(a), garbler_row)
        evaluator_half = hashed(b, self._tweak + count) ^ selected(colours(b), evaluator_row ^ a)
        self._tweak += 2 * count
        return (garbler_half ^ evaluator_half).reshape(left.shape)


# Boolean circuits of few AND gates: comparison, maximum, count of common bits.

Circuit = Callable[[Gates, Wires, Wires], Wires]
"""A circuit of the garbler's and the evaluator's wires."""


def greater(gates: Gates, left: Wires, right: Wires) -> Wires:
    """Whether each left number exceeds the right one; n AND gates for n bits.

    - left, right of shape (bits, ...): Numbers, the lowest bit first.
    - returns shape (...).

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

    - numbers of shape (bits, m, ...): The numbers.
    - returns shape (bits, ...).

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

    - bits of shape (m, ...): The bits.
    - returns shape (width, ...): The number; `width` is that of m.
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
