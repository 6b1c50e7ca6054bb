"""Garbled circuits give the output of the plain circuit, hide the inputs, and notice what is tampered with."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from defenses.federated import AggregationError
from defenses.federated.garbling.comparisons import accepted, decoded, evaluate, garble, run_two_parties
from defenses.federated.garbling.gates import (
    EvaluatingGates,
    GarblingGates,
    PlainGates,
    colours,
    count,
    greater,
    to_bits,
)


@pytest.mark.thorough
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_circuit_gives_what_it_gives_on_bits(data):
    width = data.draw(st.integers(1, 6))
    steps = data.draw(
        st.lists(st.tuples(st.sampled_from(["xor", "both", "negated"]), *[st.integers(0, 99)] * 2), max_size=20)
    )

    def circuit(gates, left, right):
        wires = [*left, *right]
        for name, first, second in steps:
            a, b = wires[first % len(wires)], wires[second % len(wires)]
            wires.append(gates.negated(a) if name == "negated" else getattr(gates, name)(a, b))
        return np.stack(wires)

    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    own, other = rng.random((2, width, 3)) < 0.5
    result = run_two_parties(circuit, own, other, rng)
    plain = PlainGates()
    assert result.bits.tolist() == circuit(plain, own, other).tolist()
    assert result.and_gates == plain.and_gates
    # Half gates: two rows of 128 bits for each AND gate (Zahur, Rosulek and Evans 2015, table 1).
    assert result.sent["tables"] == 32 * plain.and_gates


def prepared(left=19, right=23, bits=8):
    rng = np.random.default_rng(5)
    own, other = to_bits(left, bits), to_bits(right, bits)

    def circuit(gates, a, b):
        return greater(gates, a, b)[None]

    garbled, keys = garble(circuit, own, other.shape, rng)
    labels = np.where(other[:, None], keys.ones, keys.zeros)
    return circuit, garbled, keys, labels


def test_the_honest_run_is_accepted():
    circuit, garbled, keys, labels = prepared()
    answer = evaluate(circuit, garbled, labels)
    assert decoded(answer, garbled).tolist() == accepted(answer, keys).tolist() == [False]


def test_a_tampered_table_is_noticed():
    # A flipped bit reaches the output only if the evaluator uses that row: half of the rows, by their colours.
    circuit, garbled, _, labels = prepared()
    noticed = 0
    for gate, table in enumerate(garbled.tables):
        for row in range(2):
            tables = [each.copy() for each in garbled.tables]
            tables[gate][row, 0, 1] ^= np.uint64(1 << 40)
            try:
                bits = decoded(evaluate(circuit, replace(garbled, tables=tables), labels), garbled)
            except AggregationError as error:
                assert "forged" in str(error)  # noqa: PT017
                noticed += 1
            else:
                assert bits.tolist() == [False]
        assert table.shape == (2, 1, 2)
    assert noticed >= 4


def test_a_cheating_label_is_noticed():
    circuit, garbled, keys, labels = prepared()
    for position in range(8):
        wrong = labels.copy()
        wrong[position, 1] ^= np.uint64(1 << 17)
        with pytest.raises(AggregationError, match="a label of the output is forged"):
            decoded(evaluate(circuit, garbled, wrong), garbled)
    inputs = garbled.inputs.copy()
    inputs[3, 0] ^= np.uint64(2)
    with pytest.raises(AggregationError, match="a label of the output is forged"):
        decoded(evaluate(circuit, replace(garbled, inputs=inputs), labels), garbled)
    # The evaluator cannot claim the other output: it does not know the offset.
    answer = evaluate(circuit, garbled, labels)
    for guess in (answer ^ np.uint64(1), np.zeros_like(answer), labels[:1]):
        with pytest.raises(AggregationError, match="the evaluator's answer was tampered with"):
            accepted(guess, keys)


def test_tables_of_another_circuit_are_noticed():
    circuit, garbled, _, labels = prepared()
    for tables in (garbled.tables[:-1], [np.repeat(table, 2, axis=1) for table in garbled.tables]):
        with pytest.raises(AggregationError, match="do not fit the circuit"):
            evaluate(circuit, replace(garbled, tables=tables), labels)


@pytest.mark.thorough
def test_the_evaluator_sees_nothing_but_coins():
    # Colours of all labels that the evaluator holds, for two inputs of the garbler: shares of ones within 5 standard
    # deviations of 1/2 each (false-alarm probability below 1e-4 for 33 wires and both inputs).
    runs = 400
    for left in (0, 255):
        seen = []
        for seed in range(runs):
            rng = np.random.default_rng(seed)
            own, other = to_bits(left, 8), to_bits(77, 8)
            message, keys = garble(lambda gates, a, b: count(gates, gates.both(a, b)), own, (8,), rng)
            labels = np.where(other[:, None], keys.ones, keys.zeros)
            gates = EvaluatingGates(message.tables)
            seen.append(
                np.concatenate([colours(message.inputs), colours(labels), colours(gates.both(message.inputs, labels))])
            )
        shares = np.mean(seen, axis=0)
        assert (np.abs(shares - 0.5) < 5 * 0.5 / np.sqrt(runs)).all()


def test_labels_of_both_values_never_coincide():
    gates = GarblingGates(np.random.default_rng(0))
    zeros = gates.fresh((1000,))
    bits = np.ones(1000, dtype=bool)
    assert (colours(zeros) != colours(gates.labels_of(zeros, bits))).all()
    assert (gates.negated(gates.negated(zeros)) == zeros).all()
