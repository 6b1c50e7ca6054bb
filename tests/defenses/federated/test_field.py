"""Arithmetic in prime fields."""

import numpy as np
import pytest

from defenses.federated import (
    PrimeField,
)
from defenses.federated.field import MERSENNE


@pytest.mark.parametrize("prime", [2, 5, 2**31 - 1, MERSENNE])
def test_the_field_is_that_of_whole_numbers(prime):
    field = PrimeField(prime)
    rng = np.random.default_rng(0)
    left, right = field.random((500,), rng), field.random((500,), rng)
    left[:4], right[:4] = [0, prime - 1, prime - 1, 1], [prime - 1, prime - 1, 1, 0]
    pairs = list(zip(map(int, left), map(int, right), strict=True))
    assert field.multiply(left, right).tolist() == [a * b % prime for a, b in pairs]
    assert field.add(left, right).tolist() == [(a + b) % prime for a, b in pairs]
    assert field.subtract(left, right).tolist() == [(a - b) % prime for a, b in pairs]
    assert int(field.sum(left, axis=0)) == sum(map(int, left)) % prime
    assert int(field.sum(np.full(10_000, prime - 1, dtype=np.uint64), axis=0)) == -10_000 % prime


def test_other_numbers_make_no_field():
    for number in (1, 9, 2**31 + 11, 2**61):
        with pytest.raises(ValueError, match="prime"):
            PrimeField(number)
