"""Histogram and correlation across offices that may not pool their records."""

import numpy as np
import pytest
from aggregation_tools import corrupted

from defenses.federated import (
    AggregationError,
    PrimeField,
    SecureAggregation,
    secure_correlation,
    secure_distance,
    secure_histogram,
    shamir_rebuild,
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


@pytest.mark.thorough_beyond(3)
@pytest.mark.parametrize("seed", range(12))
def test_positions_are_near_or_not_as_in_the_clear(seed):
    rng = np.random.default_rng(seed)
    left, right = rng.integers(-50, 50, (2, 1 + seed % 4))
    exact = float(np.linalg.norm(left - right))
    for limit in (int(exact), int(np.ceil(exact)), 0, 2**70):
        assert secure_distance(left, right, limit, rng).value == (exact <= limit)


def test_positions_at_the_edges_of_the_field():
    most, rng = 438_353_264, np.random.default_rng(0)
    ends = np.full(3, most), np.full(3, -most)
    # The squared distance, 3 x (2 x most)^2, is just below 2^61 - 1.
    exact = 2 * most * np.sqrt(3)
    assert secure_distance(*ends, int(exact) + 1, rng).value == 1
    assert secure_distance(*ends, int(exact) - 1, rng).value == 0
    for one, other, message in (
        ([most + 1, 0, 0], [0, 0, 0], "left must hold at least one coordinate, each an integer from -438353264"),
        ([], [], "left must hold at least one"),
        ([0.5], [1], "left must hold"),
        ([np.nan], [1], "left must hold"),
        ([True], [1], "left must hold"),
        ([1], [10**30], "right must hold"),
        ([[1]], [1], "left must hold"),
        ([1], [1, 2], "one length, got 1 and 2"),
    ):
        with pytest.raises(ValueError, match=message):
            secure_distance(one, other, 1, rng)
    for limit in (-1, 1.5, np.inf):
        with pytest.raises(ValueError, match="limit"):
            secure_distance([0], [1], limit, rng)


@pytest.mark.parametrize("mask", [0, 5, 2**61 - 2])
def test_the_compared_interval_may_wrap_around_the_prime(mask, monkeypatch):
    monkeypatch.setattr(PrimeField, "random", lambda field, shape, rng: np.full(shape, mask, dtype=np.uint64))
    for limit, near in ((4, 0), (5, 1), (6, 1)):
        assert secure_distance([0, 0], [3, 4], limit, np.random.default_rng(0)).value == near


@pytest.mark.thorough
def test_what_is_opened_is_uniform(monkeypatch):
    """The opened number in 400 runs: Kolmogorov's distance; false alarm 0.1 %."""
    from scipy import stats

    from defenses.federated import secure_statistics

    seen = []

    def watched(circuit, own, other, rng):
        seen.append(float((other * 2.0 ** np.arange(-61, 0)).sum()))
        raise AggregationError("only the opened number is of interest")

    monkeypatch.setattr(secure_statistics, "run_two_parties", watched)
    rng = np.random.default_rng(5)
    for _ in range(400):
        with pytest.raises(AggregationError, match="only the opened"):
            secure_distance([7, 0, 1], [7, 0, 2], 3, rng)
    assert stats.kstest(seen, "uniform").pvalue > 1e-3


def test_products_of_secret_numbers_need_shares():
    """A sum of products from shares of both factors, as on the page about federated learning."""
    field, rng = PrimeField(), np.random.default_rng(6)
    left, right = (shamir_shares(field.elements(numbers), 1, 4, field, rng) for numbers in ([6, -2], [7, 3]))
    opened = shamir_rebuild(node_products(left, right, 1, field, rng)[:, None], range(1, 5), 2, field)
    assert field.signed(opened).tolist() == [36]
