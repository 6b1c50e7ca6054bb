"""Oblivious transfer: a receiver learns one of several messages; the sender does not learn which one."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256, shake_128
from types import ModuleType

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.federated.field import AggregationError
from defenses.federated.garbling.labels import LABEL_BYTES, Labels, hashed, random_labels, selected

Choices = NDArray[np.bool_]
BASE_TRANSFERS = 128
"""Transfers by curve arithmetic on which an extension rests, one per bit of security."""
_POINT_BYTES = 32
_PAIR = 2
"""Choices that one transfer by curve arithmetic combines: it moves one of four messages of two labels each."""


@dataclass(frozen=True)
class Transfer:
    """The outcome of oblivious transfers.

    Attributes
    ----------
    received : ndarray of uint64, shape (m, 2)
        The chosen labels.
    sent : int
        Bytes from the sender to the receiver.
    answered : int
        Bytes from the receiver to the sender.
    """

    received: Labels
    sent: int
    answered: int


def transfer(zeros: Labels, ones: Labels, choices: Choices, rng: Generator) -> Transfer:
    """Transfer one label of each pair: the label of 1 where the receiver chooses so, else the label of 0.

    Few transfers use curve arithmetic. More than `BASE_TRANSFERS` use the extension of Ishai et al., which needs as
    many by curve arithmetic and hashes for the rest. Both are secure against honest-but-curious parties.

    Parameters
    ----------
    zeros, ones : ndarray of uint64, shape (m, 2)
        The sender's labels.
    choices : ndarray of bool, shape (m,)
        The receiver's choices.
    rng : Generator
        Randomness of both parties; real parties draw from their system's cryptographic source.

    Raises
    ------
    AggregationError
        If a point is not on the curve.
    ModuleNotFoundError
        If PyNaCl is not installed.

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
        key = _key(shared, offered, point, first)
        messages.append(_masked(plain, key))
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
