"""Yao's protocol: one party garbles a circuit, the other evaluates it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.federated.field import AggregationError
from defenses.federated.garbling.circuits import Circuit
from defenses.federated.garbling.gates import EvaluatingGates, GarblingGates
from defenses.federated.garbling.labels import LABEL_BYTES, Labels, digests
from defenses.federated.garbling.oblivious_transfer import transfer

_DIGEST_BYTES = sha256().digest_size


@dataclass(frozen=True)
class GarbledCircuit:
    """What the garbler sends: tables, labels of its own inputs, and the digests of the output labels.

    Attributes
    ----------
    tables : list of ndarray of uint64, each of shape (2, gates, 2)
        Two rows of 128 bits for each AND gate.
    inputs : ndarray of uint64, shape (..., 2)
        One label for each bit of the garbler's input.
    outputs : list of (bytes, bytes)
        Digests of the labels of 0 and of 1, for each output bit.
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

    Attributes
    ----------
    zeros, ones : ndarray of uint64, shape (..., 2)
        Labels of the evaluator's input.
    output_zeros, output_ones : ndarray of uint64, shape (..., 2)
        Labels of the output.
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
    checked = accepted(answer, keys)
    if not np.array_equal(bits, checked):
        raise AggregationError("both parties read different outputs")
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

    Raises
    ------
    AggregationError
        If the tables do not fit the circuit.
    """
    return circuit(EvaluatingGates(garbled.tables), garbled.inputs, labels)


def decoded(answer: Labels, garbled: GarbledCircuit) -> NDArray[np.bool_]:
    """Output bits as the evaluator reads them, from the digests of the garbler.

    Raises
    ------
    AggregationError
        If a label is neither that of 0 nor that of 1.
    """
    bits = []
    for digest, pair in zip(digests(answer), garbled.outputs, strict=True):
        if digest not in pair:
            raise AggregationError("a label of the output is forged: a table or an input was tampered with")
        bits.append(digest == pair[1])
    return np.array(bits, dtype=bool).reshape(answer.shape[:-1])


def accepted(answer: Labels, keys: GarbledKeys) -> NDArray[np.bool_]:
    """Output bits as the garbler reads them, from the evaluator's answer.

    Raises
    ------
    AggregationError
        If a label is neither that of 0 nor that of 1.
    """
    zero = (answer == keys.output_zeros).all(axis=-1)
    one = (answer == keys.output_ones).all(axis=-1)
    if not (zero | one).all():
        raise AggregationError("a label of the output is forged: the evaluator's answer was tampered with")
    return np.asarray(one)
