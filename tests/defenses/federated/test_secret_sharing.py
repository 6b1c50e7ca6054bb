"""Sums over shares at several aggregators."""

import itertools

import numpy as np
import pytest
from aggregation_tools import corrupted

from defenses.federated import (
    AdditiveShares,
    AggregationError,
    Paillier,
    PairwiseMasks,
    PrimeField,
    SecureAggregation,
    ShamirShares,
    SumProtocol,
)
from defenses.federated.secret_sharing import MERSENNE, present
from defenses.federated.secure_aggregation import FixedPoint


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


PROTOCOLS = [AdditiveShares(), ShamirShares(), PairwiseMasks(), Paillier(bits=256)]


def plain_sum(words, field):
    """Sums of columns modulo the prime, by integers of any length."""
    return [sum(column) % field.prime for column in words.T.tolist()]


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=repr)
def test_sums_are_those_of_integers_modulo_the_prime(protocol):
    field, rng = PrimeField(), np.random.default_rng(1)
    words = field.random((9, 4), rng)
    # The largest words, whose sum exceeds the prime many times.
    words[:, 1] = field.prime - 1
    before = words.copy()
    assert isinstance(protocol, SumProtocol)
    assert protocol.sum(words, field, rng).tolist() == plain_sum(words, field)
    assert (words == before).all()


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=repr)
@pytest.mark.parametrize("dropped", [(3,), (0, 8), (2, 2)])
def test_clients_that_drop_out_do_not_count(protocol, dropped):
    field = PrimeField()
    words = field.random((9, 3), np.random.default_rng(2))
    rest = np.delete(words, sorted(set(dropped)), axis=0)
    assert protocol.sum(words, field, np.random.default_rng(3), dropped).tolist() == plain_sum(rest, field)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=repr)
def test_one_seed_gives_one_sum_and_equal_protocols_are_clones(protocol):
    field = PrimeField()
    words = field.random((5, 2), np.random.default_rng(4))
    first, second = (each.sum(words, field, np.random.default_rng(5)) for each in (protocol, protocol.clone()))
    assert first.tolist() == second.tolist()
    assert protocol.clone().get_params() == protocol.get_params()


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=repr)
def test_parties_that_do_not_exist_are_named(protocol):
    field = PrimeField()
    words = field.random((5, 2), np.random.default_rng(6))
    for party in (5, -1):
        with pytest.raises(ValueError, match=f"there is no client {party} to drop out; there are 5"):
            protocol.sum(words, field, np.random.default_rng(7), [party])
    with pytest.raises(ValueError, match="there is no aggregator 7 to drop out"):
        protocol.sum(words, field, np.random.default_rng(7), failed=[7])


def test_nobody_that_sends_is_an_error_of_aggregation():
    field = PrimeField()
    words = field.random((4, 2), np.random.default_rng(8))
    for protocol in (PairwiseMasks(), Paillier(bits=256)):
        with pytest.raises(AggregationError, match=r"too many dropouts|nobody sends"):
            protocol.sum(words, field, np.random.default_rng(9), range(4))


def test_those_present_are_in_order():
    assert present("client", 5, [3, 0, 3]).tolist() == [1, 2, 4]
    assert present("client", 2, []).tolist() == [0, 1]
    assert present("client", 0, []).tolist() == []
    with pytest.raises(ValueError, match="there is no aggregator 0 to drop out; there are 0"):
        present("aggregator", 0, [0])


def test_the_contract_itself_sums_nothing():
    with pytest.raises(TypeError, match="abstract"):
        SumProtocol()


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
