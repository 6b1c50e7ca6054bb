"""Packed bits: their counts by column, and their probability."""

import numpy as np
import pytest

from defenses.ldp.encoding.packed_bits import column_counts, grouped_counts, random_bits


def test_bits_are_counted_in_columns():
    rng = np.random.default_rng(0)
    for n, width in ((1, 1), (254, 7), (255, 8), (1000, 13)):
        bits = rng.random((n, width)) < 0.7
        packed = np.packbits(bits, axis=1)
        assert (column_counts(packed, width) == bits.sum(axis=0)).all()
        group = rng.integers(3, size=n)
        expected = [bits[group == number].sum(axis=0) for number in range(4)]
        assert (grouped_counts(packed, group, 4, width) == expected).all()


@pytest.mark.parametrize("probability", [0.0, 1e-6, 1 / 256, 0.3, 0.5, 0.999])
def test_random_bits_have_their_probability(probability):
    # 5 standard errors, 6 cases: a false alarm in 3 of 10^6 runs.
    n = 3_000_001
    ones = random_bits(n, probability, np.random.default_rng(1)).mean()
    assert abs(ones - probability) <= 5 * np.sqrt(probability * (1 - probability) / n)
