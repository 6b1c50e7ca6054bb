"""Sums over shares at several aggregators."""

import itertools

import numpy as np
import pytest
from aggregation_tools import corrupted

from defenses.federated import (
    AdditiveShares,
    AggregationError,
    PrimeField,
    SecureAggregation,
    ShamirShares,
)
from defenses.federated.secure_aggregation import FixedPoint


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: AdditiveShares(aggregators=1), "aggregators"),
        (lambda: ShamirShares(aggregators=2, threshold=2), "aggregators"),
        (lambda: ShamirShares(threshold=0), "threshold"),
    ],
)
def test_bad_numbers_of_aggregators_are_named(make, name):
    with pytest.raises(ValueError, match=name):
        make()


def test_aggregators_that_drop_out():
    values = np.random.default_rng(1).normal(size=(20, 5))
    shamir = SecureAggregation(protocol=ShamirShares(aggregators=5, threshold=2))
    for gone in itertools.combinations(range(5), 2):
        total = shamir.total(values, np.random.default_rng(2), failed=gone)
        np.testing.assert_allclose(total, values.sum(axis=0), atol=1e-6)
    with pytest.raises(AggregationError, match="too few shares: 2 arrived and 3 are needed"):
        shamir.total(values, np.random.default_rng(2), failed=(0, 1, 2))
    with pytest.raises(AggregationError, match="too few shares"):
        SecureAggregation(protocol=AdditiveShares()).total(values, np.random.default_rng(2), failed=(1,))
    with pytest.raises(ValueError, match="no aggregator 9"):
        shamir.total(values, np.random.default_rng(2), failed=(9,))


@pytest.mark.parametrize("protocol", [AdditiveShares(), ShamirShares(aggregators=3, threshold=2)], ids=repr)
@pytest.mark.parametrize("place", [(0, 4, 2), (2, 7, 0), (1, 0, -1)])
def test_a_wrong_share_is_an_error_never_a_wrong_sum(protocol, place):
    field = PrimeField()
    numbers = FixedPoint(24, 100.0, field)
    values = np.random.default_rng(7).normal(size=(8, 5))
    key = numbers.key(5, np.random.default_rng(8))
    shares = protocol.share(numbers.encode(values, key), field, np.random.default_rng(9))

    def opened(shares):
        sums = field.sum(shares, axis=1)
        words = (
            protocol.rebuild(sums, field)
            if isinstance(protocol, AdditiveShares)
            else protocol.rebuild(sums, range(3), field)
        )
        return numbers.decode(words, key, 8)

    np.testing.assert_allclose(opened(shares), values.sum(axis=0), atol=1e-6)
    with pytest.raises(AggregationError, match="a share is wrong"):
        opened(corrupted(shares, place))
