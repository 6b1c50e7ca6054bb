"""Fixed-point numbers in a field, with check words."""

import numpy as np
import pytest
from aggregation_tools import attempt
from hypothesis import given, settings
from hypothesis import strategies as st

from defenses.federated import (
    AggregationError,
    PrimeField,
    SecureAggregation,
)
from defenses.federated.secret_sharing import MERSENNE
from defenses.federated.secure_aggregation import FixedPoint


@pytest.mark.thorough
@given(
    clients=st.integers(2, 6),
    bits=st.integers(0, 60),
    limit=st.floats(1e-3, 1e18),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=150, deadline=None)
def test_any_fixed_point_gives_the_sum_or_an_overflow(clients, bits, limit, seed):
    values = np.random.default_rng(seed).uniform(-limit, limit, (clients, 3)) * 1.2
    total = attempt(SecureAggregation(fraction_bits=bits, limit=limit, minimum=2), values, seed)
    if isinstance(total, str):
        assert "overflow" in total
        assert (np.abs(values) > limit).any() or clients * limit * 2.0**bits >= MERSENNE / 2
        return
    np.testing.assert_allclose(total, values.sum(axis=0), atol=clients * 2.0 ** -(bits + 1), rtol=1e-12)


def test_a_sum_beyond_what_clients_can_send_is_refused():
    field = PrimeField()
    numbers = FixedPoint(8, 1.0, field)
    key = numbers.key(1, np.random.default_rng(13))
    words = field.elements(np.array([1000]))
    forged = np.append(words, numbers.check_word(words, key))
    with pytest.raises(AggregationError, match="overflow"):
        numbers.decode(forged, key, 3)
