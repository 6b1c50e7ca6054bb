"""Paillier's additively homomorphic encryption, for secure sums."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from defenses.federated.field import AggregationError, PrimeField, Words
from defenses.federated.sum_protocol import SumProtocol, present
from metrics.columns import check_integer, require


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
        totals = None
        for client in answering:
            sent = [public.encrypt(number) for number in _packed(words[client], slots, width)]
            totals = sent if totals is None else [a + b for a, b in zip(totals, sent, strict=True)]
        assert totals is not None  # noqa: S101 (at least one client sends)
        numbers = [private.decrypt(total) for total in totals]
        return _unpacked(numbers, slots, width, words.shape[1], field)


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
