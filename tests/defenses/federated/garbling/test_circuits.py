"""The circuits compute what they say, with as few AND gates as published."""

import numpy as np
import pytest

from defenses.federated.garbling.gates import PlainGates, added, count, from_bits, greater, maximum, to_bits


def test_bits_round_trip():
    numbers = np.array([0, 1, 5, 2**63 - 1], dtype=np.uint64)
    assert from_bits(to_bits(numbers, 63)).tolist() == numbers.tolist()


@pytest.mark.parametrize("bits", [1, 2, 3, 4])
def test_every_pair_of_small_numbers(bits):
    left, right = (grid.reshape(-1) for grid in np.meshgrid(np.arange(2**bits), np.arange(2**bits)))
    wires = to_bits(left, bits), to_bits(right, bits)
    assert greater(PlainGates(), *wires).tolist() == (left > right).tolist()
    assert from_bits(added(PlainGates(), *wires)).tolist() == (left + right).tolist()
    assert from_bits(maximum(PlainGates(), np.stack(wires, axis=1))).tolist() == np.maximum(left, right).tolist()


@pytest.mark.parametrize("m", [*range(1, 20), 31, 32, 33, 1000])
def test_count_of_any_number_of_bits(m):
    bits = np.random.default_rng(m).random((m, 5)) < 0.6
    assert from_bits(count(PlainGates(), bits)).tolist() == bits.sum(axis=0).tolist()
    assert len(count(PlainGates(), bits)) == m.bit_length()


@pytest.mark.parametrize(("bits", "m"), [(1, 2), (8, 3), (32, 2), (32, 10), (32, 1000)])
def test_gates_are_as_few_as_published(bits, m):
    # Kolesnikov, Sadeghi and Schneider (2009), table 1: comparison n, minimum or maximum of m numbers 2 n (m - 1)
    # (without the index), adder n.
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 2**bits, (m,))
    gates = PlainGates()
    greater(gates, to_bits(numbers[0], bits), to_bits(numbers[1], bits))
    assert gates.and_gates == bits
    gates = PlainGates()
    assert from_bits(maximum(gates, to_bits(numbers, bits))) == numbers.max()
    assert gates.and_gates == 2 * bits * (m - 1)
    gates = PlainGates()
    added(gates, to_bits(numbers, bits), to_bits(numbers, bits))
    assert gates.and_gates == bits * m
