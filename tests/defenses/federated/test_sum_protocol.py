"""Every secure sum protocol: sums modulo the prime, clients that drop out, and parties that do not exist."""

import numpy as np
import pytest

from defenses.federated import (
    AdditiveShares,
    AggregationError,
    Paillier,
    PairwiseMasks,
    PrimeField,
    ShamirShares,
    SumProtocol,
)
from defenses.federated.sum_protocol import present

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
