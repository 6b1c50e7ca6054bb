"""Histogram and correlation across offices that may not pool their records."""

import numpy as np
import pytest
from aggregation_tools import corrupted

from defenses.federated import (
    AggregationError,
    PrimeField,
    SecureAggregation,
    secure_correlation,
    secure_histogram,
    shamir_shares,
)
from defenses.federated.secure_statistics import node_products, open_correlation
from metrics import CategoricalDomain, NumericDomain


def test_secure_histogram():
    domain = CategoricalDomain(("a", "b", "c"))
    offices = [["a", "b", "a"], ["c", None], ["b", "b"]]
    counts = secure_histogram(offices, domain, SecureAggregation(), np.random.default_rng(16))
    assert counts.tolist() == [2, 3, 1]
    bins = NumericDomain(0, 10, cuts=(5,))
    assert secure_histogram([[1], [6, 7], []], bins, SecureAggregation(), np.random.default_rng(0)).tolist() == [1, 2]
    with pytest.raises(AggregationError, match="too few"):
        secure_histogram(offices[:2], domain, SecureAggregation(), np.random.default_rng(17))


@pytest.mark.parametrize("n", [2, 7, 1000, 100_000])
def test_secure_correlation_of_two_offices(n):
    rng = np.random.default_rng(18)
    hours = rng.gamma(2, 10, n)
    failed = hours / 50 + rng.normal(size=n)
    ours = secure_correlation(hours, failed, np.random.default_rng(19))
    assert ours == pytest.approx(np.corrcoef(hours, failed)[0, 1], abs=1e-5)
    assert secure_correlation(hours, -hours, np.random.default_rng(20)) == pytest.approx(-1, abs=1e-5)


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1.0, 1e200, 1e307])
def test_secure_correlation_knows_no_scale(scale):
    left, right = np.array([-9.0, 1.0, 4.0, 4.5]), np.array([1.0, 2.0, -3.0, 5.0])
    expected = np.corrcoef(left, right)[0, 1]
    for pair in ((left * scale, right), (left, right * scale)):
        # Numbers below 1e-308 have fewer digits.
        assert secure_correlation(*pair, np.random.default_rng(0)) == pytest.approx(expected, abs=1e-6)
    assert secure_correlation([1.0, 1.0 + 2.0**-52, 1.0], [0.0, 1.0, 0.0], np.random.default_rng(0)) == pytest.approx(1)


def test_secure_correlation_refuses_what_it_cannot_answer():
    rng = np.random.default_rng(21)
    for left, right, message in (
        ([1.0, 2.0], [1.0, 2.0, 3.0], "one length"),
        ([1.0, 1.0], [1.0, 2.0], "left is constant"),
        ([1.0, np.nan], [1.0, 2.0], "left must hold"),
        ([1.0, 2.0], [1.0], "right must hold"),
    ):
        with pytest.raises(ValueError, match=message):
            secure_correlation(left, right, rng)
    with pytest.raises(ValueError, match="nodes"):
        secure_correlation([1.0, 2.0], [1.0, 2.0], rng, nodes=3)


def test_a_wrong_node_is_caught():
    field = PrimeField()
    left, right = (
        shamir_shares(field.random((6,), np.random.default_rng(seed)), 1, 4, field, np.random.default_rng(seed))
        for seed in (22, 23)
    )
    sent = node_products(left, right, 1, field, np.random.default_rng(24))
    for node in range(4):
        with pytest.raises(AggregationError, match="a share is wrong"):
            open_correlation(corrupted(sent, node), 6, 10, 1, field)
