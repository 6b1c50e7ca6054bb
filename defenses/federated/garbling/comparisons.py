"""Computations of two parties by garbled circuits: the millionaires' problem, a maximum, a count of common people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256, shake_128
from types import ModuleType

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from defenses.federated.garbling.gates import (
    LABEL_BYTES,
    Circuit,
    EvaluatingGates,
    GarblingGates,
    Gates,
    Labels,
    Wires,
    count,
    digests,
    from_bits,
    greater,
    hashed,
    maximum,
    random_labels,
    selected,
    to_bits,
)
from defenses.federated.secret_sharing import AggregationError
from metrics.columns import check_integer, require

# Yao's protocol: one party garbles a circuit, the other evaluates it.

# Oblivious transfer: a receiver learns one of several messages; the sender does not learn which one.

Choices = NDArray[np.bool_]
BASE_TRANSFERS = 128
"""Transfers by curve arithmetic on which an extension rests, one per bit of security."""
_POINT_BYTES = 32
_PAIR = 2
"""Choices that one transfer by curve arithmetic combines: it moves one of four messages of two labels each."""


@dataclass(frozen=True)
class Transfer:
    """The outcome of oblivious transfers.

    - received of shape (m, 2): The chosen labels.
    - sent: Bytes from the sender to the receiver.
    - answered: Bytes from the receiver to the sender.
    """

    received: Labels
    sent: int
    answered: int


def transfer(zeros: Labels, ones: Labels, choices: Choices, rng: Generator) -> Transfer:
    """Transfer one label of each pair: the label of 1 where the receiver chooses so, else the label of 0.

    Few transfers use curve arithmetic. More than `BASE_TRANSFERS` use the extension of Ishai et al., which needs as
    many by curve arithmetic and hashes for the rest. Both are secure against honest-but-curious parties.

    - zeros, ones of shape (m, 2): The sender's labels.
    - choices of shape (m,): The receiver's choices.
    - rng: Randomness of both parties; real parties draw from their system's cryptographic source.

    Raises AggregationError if a point is not on the curve. Raises ModuleNotFoundError if PyNaCl is not installed.

    References
    ----------
    Chou and Orlandi (2015), The simplest protocol for oblivious transfer, with one of four messages.
    Ishai, Kilian, Nissim and Petrank (2003), Extending oblivious transfers efficiently, section 3.
    """
    if len(choices) <= BASE_TRANSFERS:
        return _by_curve(zeros, ones, choices, rng)
    return _extended(zeros, ones, choices, rng)


def _by_curve(zeros: Labels, ones: Labels, choices: Choices, rng: Generator) -> Transfer:
    """Transfers by arithmetic on Ed25519, two choices at a time.

    The sender sends A = aG. For choice c the receiver sends B = bG + cA and computes the key from bA. The sender
    computes the keys of all choices from aB - c(aA); only the key of the receiver's c equals bA.
    """
    curve = _curve()
    odd = len(choices) % _PAIR
    if odd:
        zeros, ones = (np.concatenate([labels, labels[-1:]]) for labels in (zeros, ones))
        choices = np.append(choices, False)
    secret = _scalar(curve, rng)
    offered = curve.crypto_scalarmult_ed25519_base_noclamp(secret)
    shift = curve.crypto_scalarmult_ed25519_noclamp(secret, offered)
    multiples = [offered]
    while len(multiples) < 3:
        multiples.append(curve.crypto_core_ed25519_add(multiples[-1], offered))
    received = np.empty_like(zeros)
    sent, answered = _POINT_BYTES, 0
    for first in range(0, len(choices), _PAIR):
        choice = int(choices[first]) + 2 * int(choices[first + 1])
        blinding = _scalar(curve, rng)
        point = curve.crypto_scalarmult_ed25519_base_noclamp(blinding)
        if choice:
            point = curve.crypto_core_ed25519_add(point, multiples[choice - 1])
        answered += _POINT_BYTES
        messages = _encrypted(curve, secret, shift, offered, point, first, zeros, ones)
        sent += sum(map(len, messages))
        key = _key(curve.crypto_scalarmult_ed25519_noclamp(blinding, offered), offered, point, first)
        plain = _masked(messages[choice], key)
        received[first : first + _PAIR] = np.frombuffer(plain, dtype="<u8").reshape(_PAIR, 2)
    return Transfer(received[: len(received) - odd], sent, answered)


def _encrypted(
    curve: ModuleType,
    secret: bytes,
    shift: bytes,
    offered: bytes,
    point: bytes,
    first: int,
    zeros: Labels,
    ones: Labels,
) -> list[bytes]:
    """The sender's four messages: the labels of two wires for each choice, under that choice's key."""
    # The multiplication itself refuses points outside of the group of prime order.
    try:
        shared = curve.crypto_scalarmult_ed25519_noclamp(secret, point)
    except RuntimeError:
        raise AggregationError("a point of the oblivious transfer is not on the curve") from None
    pairs = np.stack([zeros[first : first + _PAIR], ones[first : first + _PAIR]]).astype("<u8")
    messages = []
    for choice in range(4):
        plain = pairs[choice & 1, 0].tobytes() + pairs[choice >> 1, 1].tobytes()
        messages.append(_masked(plain, _key(shared, offered, point, first)))
        if choice < 3:
            shared = curve.crypto_core_ed25519_sub(shared, shift)
    return messages


def _extended(zeros: Labels, ones: Labels, choices: Choices, rng: Generator) -> Transfer:
    """Extension: the roles of the base transfers are reversed, and each column of a bit matrix is one of them.

    The receiver holds two seeds a column, the sender learns one of both by a random bit. From the seeds' streams and
    the receiver's correction the sender obtains rows q = t + r s, where t is the receiver's row, r the choice and s the
    sender's bits. The hash of q or of q + s is the key of a label; the receiver knows the hash of t.
    """
    count = len(choices)
    width = -(-count // 8)
    seeds = random_labels((2, BASE_TRANSFERS), rng)
    secret_bits = rng.integers(0, 2, BASE_TRANSFERS).astype(bool)
    base = _by_curve(seeds[0], seeds[1], secret_bits, rng)
    first, second = _streams(seeds[0], width), _streams(seeds[1], width)
    corrections = first ^ second ^ np.packbits(choices)
    columns = _streams(base.received, width) ^ np.where(secret_bits[:, None], corrections, np.uint8(0))
    sender_rows, receiver_rows = _rows(columns, count), _rows(first, count)
    offset = np.packbits(secret_bits).view("<u8").astype(np.uint64)
    sent_zeros = zeros ^ hashed(sender_rows, 0)
    sent_ones = ones ^ hashed(sender_rows ^ offset, 0)
    chosen = sent_zeros ^ selected(choices, sent_zeros ^ sent_ones)
    received = chosen ^ hashed(receiver_rows, 0)
    return Transfer(received, base.answered + 2 * count * LABEL_BYTES, base.sent + corrections.nbytes)


def _streams(seeds: Labels, width: int) -> NDArray[np.uint8]:
    """Pseudorandom bytes of each seed, shape (seeds, width)."""
    streams = [shake_128(seed.astype("<u8").tobytes()).digest(width) for seed in seeds]
    return np.frombuffer(b"".join(streams), dtype=np.uint8).reshape(len(seeds), width)


def _rows(columns: NDArray[np.uint8], count: int) -> Labels:
    """Rows of a bit matrix of 128 packed columns, as labels of shape (count, 2)."""
    bits = np.unpackbits(columns, axis=1, count=count)
    return np.ascontiguousarray(np.packbits(bits.T, axis=1)).view("<u8").astype(np.uint64)


def _key(shared: bytes, offered: bytes, point: bytes, index: int) -> bytes:
    """Key of one message, 32 bytes, bound to this transfer."""
    return sha256(b"transfer" + index.to_bytes(8, "little") + offered + point + shared).digest()


def _masked(text: bytes, key: bytes) -> bytes:
    """Exclusive or of a text and a key of its length."""
    return (int.from_bytes(text, "little") ^ int.from_bytes(key, "little")).to_bytes(len(text), "little")


def _scalar(curve: ModuleType, rng: Generator) -> bytes:
    scalar: bytes = curve.crypto_core_ed25519_scalar_reduce(rng.bytes(64))
    return scalar


def _curve() -> ModuleType:
    try:
        from nacl import bindings
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "oblivious transfer needs the package pynacl: pip install 'tokumei[garbling]'"
        ) from None
    return bindings


_DIGEST_BYTES = sha256().digest_size


@dataclass(frozen=True)
class GarbledCircuit:
    """What the garbler sends: tables, labels of its own inputs, and the digests of the output labels.

    - tables, each of shape (2, gates, 2): Two rows of 128 bits for each AND gate.
    - inputs of shape (..., 2): One label for each bit of the garbler's input.
    - outputs: Digests of the labels of 0 and of 1, for each output bit.
    """

    tables: list[Labels]
    inputs: Labels
    outputs: list[tuple[bytes, bytes]]

    @property
    def and_gates(self) -> int:
        """Number of AND gates."""
        return sum(table.shape[1] for table in self.tables)


@dataclass(frozen=True)
class GarbledKeys:
    """What the garbler keeps: both labels of each bit of the evaluator's input, and of each output bit.

    - zeros, ones of shape (..., 2): Labels of the evaluator's input.
    - output_zeros, output_ones of shape (..., 2): Labels of the output.
    """

    zeros: Labels
    ones: Labels
    output_zeros: Labels
    output_ones: Labels


@dataclass(frozen=True)
class TwoPartyResult:
    """Output of a circuit with its cost.

    Attributes
    ----------
    bits : ndarray of bool
        The output.
    and_gates : int
        Number of AND gates.
    sent : mapping of str to int
        Bytes of each kind of message.
    """

    bits: NDArray[np.bool_]
    and_gates: int
    sent: Mapping[str, int]

    @property
    def total_bytes(self) -> int:
        """Bytes of all messages in both directions."""
        return sum(self.sent.values())


def run_two_parties(
    circuit: Circuit, garbler: NDArray[np.bool_], evaluator: NDArray[np.bool_], rng: Generator
) -> TwoPartyResult:
    """Compute a circuit of two parties' bits; both learn the output and nothing else.

    Parameters
    ----------
    circuit : Circuit
        The function.
    garbler, evaluator : ndarray of bool
        The inputs, in the shapes that the circuit takes.
    rng : Generator
        Randomness of both parties; real parties draw from their system's cryptographic source.

    Returns
    -------
    TwoPartyResult

    Raises
    ------
    AggregationError
        If a message was tampered with.
    ModuleNotFoundError
        If PyNaCl is not installed.

    Notes
    -----
    Guarantee: both parties are honest but curious. The evaluator sees one label per wire, which is uniform; the garbler
    sees the points of the oblivious transfer, which are uniform, and the output labels. Authenticity: without the
    garbler's offset, nobody can compute the other label of an output wire. A tampered table, input or answer therefore
    leads to a label that neither party accepts. A garbler that garbles another circuit is not noticed.

    References
    ----------
    Yao (1986), How to generate and exchange secrets. Bellare, Hoang and Rogaway (2012), Foundations of garbled
    circuits, for privacy and authenticity.
    """
    garbled, keys = garble(circuit, garbler, evaluator.shape, rng)
    moved = transfer(keys.zeros.reshape(-1, 2), keys.ones.reshape(-1, 2), evaluator.reshape(-1), rng)
    answer = evaluate(circuit, garbled, moved.received.reshape(*evaluator.shape, 2))
    bits = decoded(answer, garbled)
    require(np.array_equal(bits, accepted(answer, keys)), "both parties read different outputs", AggregationError)
    sent = {
        "tables": sum(table.nbytes for table in garbled.tables),
        "labels of the garbler": garbled.inputs.size // 2 * LABEL_BYTES,
        "digests of the output": 2 * len(garbled.outputs) * _DIGEST_BYTES,
        "oblivious transfer": moved.sent + moved.answered,
        "labels of the output": bits.size * LABEL_BYTES,
    }
    return TwoPartyResult(bits, garbled.and_gates, sent)


def garble(
    circuit: Circuit, bits: NDArray[np.bool_], evaluator_shape: tuple[int, ...], rng: Generator
) -> tuple[GarbledCircuit, GarbledKeys]:
    """Garble a circuit for these bits of the garbler and an input of the evaluator of this shape."""
    gates = GarblingGates(rng)
    own, other = gates.fresh(bits.shape), gates.fresh(evaluator_shape)
    output = circuit(gates, own, other)
    opposite = output ^ gates.offset
    published = list(zip(digests(output), digests(opposite), strict=True))
    message = GarbledCircuit(gates.tables, gates.labels_of(own, bits), published)
    return message, GarbledKeys(other, other ^ gates.offset, output, opposite)


def evaluate(circuit: Circuit, garbled: GarbledCircuit, labels: Labels) -> Labels:
    """Output labels of a garbled circuit, from the labels of the evaluator's input.

    Raises AggregationError if the tables do not fit the circuit.
    """
    return circuit(EvaluatingGates(garbled.tables), garbled.inputs, labels)


def decoded(answer: Labels, garbled: GarbledCircuit) -> NDArray[np.bool_]:
    """Output bits as the evaluator reads them, from the digests of the garbler.

    Raises AggregationError if a label is neither that of 0 nor that of 1.
    """
    pairs = list(zip(digests(answer), garbled.outputs, strict=True))
    require(
        all(digest in pair for digest, pair in pairs),
        "a label of the output is forged: a table or an input was tampered with",
        AggregationError,
    )
    return np.array([digest == pair[1] for digest, pair in pairs], dtype=bool).reshape(answer.shape[:-1])


def accepted(answer: Labels, keys: GarbledKeys) -> NDArray[np.bool_]:
    """Output bits as the garbler reads them, from the evaluator's answer.

    Raises AggregationError if a label is neither that of 0 nor that of 1.
    """
    zero = (answer == keys.output_zeros).all(axis=-1)
    one = (answer == keys.output_ones).all(axis=-1)
    require(
        (zero | one).all(),
        "a label of the output is forged: the evaluator's answer was tampered with",
        AggregationError,
    )
    return np.asarray(one)


@dataclass(frozen=True)
class SecureAnswer:
    """An answer with the cost of its protocol.

    Attributes
    ----------
    value : int
        The answer; 0 or 1 where it is a truth value.
    cost : TwoPartyResult
        AND gates, and bytes of each kind of message.
    """

    value: int
    cost: TwoPartyResult


def secure_greater(left: int, right: int, rng: Generator, *, bits: int = 32) -> SecureAnswer:
    """Whether the left party's number exceeds the right party's: Yao's millionaires' problem.

    Parameters
    ----------
    left, right : int
        The numbers, from 0 to 2^bits - 1.
    rng : Generator
        Randomness of both parties.
    bits : int
        Bits of a number, from 1 to 63.

    Raises
    ------
    AggregationError
        If a message was tampered with.
    ModuleNotFoundError
        If PyNaCl is not installed.
    ValueError
        If a number is out of range.

    References
    ----------
    Yao (1982), Protocols for secure computations, section 2.

    Examples
    --------
    >>> import numpy as np
    >>> answer = secure_greater(1_200_000, 950_000, np.random.default_rng(1))
    >>> answer.value, answer.cost.and_gates
    (1, 32)
    """
    own = to_bits(_checked("left must be an integer", [left], bits)[0], bits)
    other = to_bits(_checked("right must be an integer", [right], bits)[0], bits)
    cost = run_two_parties(greater, own, other, rng)
    return SecureAnswer(int(cost.bits), cost)


def secure_maximum(numbers: ArrayLike, rng: Generator, *, bits: int = 32) -> SecureAnswer:
    """Maximum of many people's numbers by two servers, none of which sees a number: a sealed-bid auction.

    Each person splits its number into two random words, one for each server, whose exclusive or is the number.

    Parameters
    ----------
    numbers : array_like of int, shape (m,)
        The people's numbers, from 0 to 2^bits - 1.
    rng : Generator
        Randomness of the people and both servers.
    bits : int
        Bits of a number, from 1 to 63.

    Raises
    ------
    AggregationError
        If a message was tampered with.
    ModuleNotFoundError
        If PyNaCl is not installed.
    ValueError
        If there is no number, or a number is out of range.

    References
    ----------
    Naor, Pinkas and Sumner (1999), Privacy preserving auctions and mechanism design.
    """
    require(np.ndim(numbers) == 1 and np.size(numbers) != 0, "numbers must hold at least one number in one dimension")
    words = _checked("numbers must be integers", numbers, bits)
    masks = rng.integers(0, 2**bits, words.size, dtype=np.uint64)
    cost = run_two_parties(_shared_maximum, to_bits(words ^ masks, bits), to_bits(masks, bits), rng)
    return SecureAnswer(int(from_bits(cost.bits)), cost)


def secure_common_count(left: ArrayLike, right: ArrayLike, rng: Generator) -> SecureAnswer:
    """Number of people for whom both parties hold true: the patients that two hospitals have in common.

    Parameters
    ----------
    left, right : array_like of bool, shape (people,)
        One entry for each person of a public list, in the same order.
    rng : Generator
        Randomness of both parties.

    Raises
    ------
    AggregationError
        If a message was tampered with.
    ModuleNotFoundError
        If PyNaCl is not installed.
    ValueError
        If the lists are empty, differ in length, or hold other values than true and false.

    Notes
    -----
    Guarantee: both parties learn the exact count, and a count can itself disclose a person. Publish it with noise of
    differential privacy.
    """
    own, other = _truths("left", left), _truths("right", right)
    require(own.size == other.size, f"left and right must be of one length, got {own.size} and {other.size} people")
    cost = run_two_parties(_common_count, own, other, rng)
    return SecureAnswer(int(from_bits(cost.bits)), cost)


def _shared_maximum(gates: Gates, left: Wires, right: Wires) -> Wires:
    return maximum(gates, gates.xor(left, right))


def _common_count(gates: Gates, left: Wires, right: Wires) -> Wires:
    return count(gates, gates.both(left, right))


def _checked(demand: str, numbers: ArrayLike, bits: int) -> NDArray[np.uint64]:
    """Numbers as words; ValueError stating the demand unless they are integers of this many bits."""
    check_integer("bits", bits, low=1)
    require(bits <= 63, f"bits must be at most 63, got {bits}")
    integers = [int(value) if _is_integer(value) else -1 for value in np.asarray(numbers).tolist()]
    # The message shows no number: they are private.
    require(all(0 <= integer < 2**bits for integer in integers), f"{demand} from 0 to 2^{bits} - 1")
    return np.array(integers, dtype=np.uint64)


def _is_integer(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and float(value).is_integer()


def _truths(name: str, values: ArrayLike) -> NDArray[np.bool_]:
    array = np.asarray(values)
    require(
        array.ndim == 1 and array.size != 0 and np.isin(array, [0, 1]).all(),
        f"{name} must hold true or false for each person, for at least one person",
    )
    return array.astype(bool)
