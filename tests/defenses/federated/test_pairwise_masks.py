"""Pairwise masks: they cancel, hide single vectors, and survive dropouts or refuse."""

import numpy as np
import pytest
from aggregation_tools import attempt
from hypothesis import given, settings
from hypothesis import strategies as st

from defenses.federated import (
    AggregationError,
    PairwiseMasks,
    PrimeField,
    SecureAggregation,
)
from defenses.federated.pairwise_masks import _mask, _pair_seeds


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: PairwiseMasks(neighbours=3), "neighbours"),
        (lambda: PairwiseMasks(neighbours=4, threshold=4), "threshold"),
        (lambda: PairwiseMasks(neighbours=4, threshold=1), "threshold"),
    ],
)
def test_bad_numbers_of_neighbours_are_named(make, name):
    with pytest.raises(ValueError, match=name):
        make()


@pytest.mark.parametrize("clients", [3, 4, 5, 33])
def test_masks_cancel_for_any_number_of_clients(clients):
    values = np.random.default_rng(1).normal(size=(clients, 5))
    total = SecureAggregation(protocol=PairwiseMasks()).total(values, np.random.default_rng(2))
    np.testing.assert_allclose(total, values.sum(axis=0), atol=clients * 2.0**-25)


def test_clients_that_drop_out_leave_the_sum_of_the_others():
    values = np.random.default_rng(1).normal(size=(20, 5))
    gone = [0, 3, 11, 19]
    total = SecureAggregation(protocol=PairwiseMasks()).total(values, np.random.default_rng(2), gone)
    np.testing.assert_allclose(total, np.delete(values, gone, axis=0).sum(axis=0), atol=1e-6)
    with pytest.raises(AggregationError, match="too many dropouts"):
        SecureAggregation(protocol=PairwiseMasks()).total(values, np.random.default_rng(2), list(range(17)))


def test_pairwise_masks_have_no_aggregator_that_could_fail():
    values = np.random.default_rng(1).normal(size=(20, 5))
    with pytest.raises(ValueError, match="no aggregator 0"):
        SecureAggregation(protocol=PairwiseMasks()).total(values, np.random.default_rng(2), failed=(0,))


class InOrder(PairwiseMasks):
    """Neighbours on a ring that is not shuffled."""

    def graph(self, clients, rng):
        reach = self.neighbours // 2
        steps = np.array([*range(1, reach + 1), *range(-reach, 0)])
        return (np.arange(clients)[:, None] + steps) % clients


class HalfWillDo(InOrder):
    """Rebuilds seeds where only half of the neighbours answer."""

    def __init__(self, *, neighbours=None, threshold=None):
        super().__init__(neighbours=neighbours)
        self.threshold = threshold


def test_masks_do_not_fall_apart():
    # Two gaps of four leave two arcs without a mask between them: their sums could be told apart.
    values, gaps = np.arange(40.0)[:, None], [0, 1, 2, 3, 20, 21, 22, 23]
    with pytest.raises(AggregationError, match="too many dropouts: 4 neighbours"):
        SecureAggregation(protocol=InOrder(neighbours=8)).total(values, np.random.default_rng(2), gaps)
    with pytest.raises(AggregationError, match="threshold 3 is below half"):
        SecureAggregation(protocol=HalfWillDo(neighbours=8, threshold=3)).total(values, np.random.default_rng(2))
    with pytest.raises(AggregationError, match="threshold 2 is below half"):
        SecureAggregation(protocol=PairwiseMasks(threshold=2)).total(values, np.random.default_rng(2))


def connected(graph, answered):
    """Whether masks connect all who answer."""
    reached, border = set(), [int(np.flatnonzero(answered)[0])]
    while border:
        client = border.pop()
        if client not in reached:
            reached.add(client)
            border += [int(other) for other in graph[client] if answered[other]]
    return len(reached) == answered.sum()


@pytest.mark.thorough
@given(clients=st.integers(3, 40), seed=st.integers(0, 2**32), data=st.data())
@settings(max_examples=60, deadline=None)
def test_masks_sum_those_who_answer_and_connect_them_or_refuse(clients, seed, data):
    gone = sorted(data.draw(st.sets(st.integers(0, clients - 1))))
    values = np.random.default_rng(seed).normal(size=(clients, 3))
    protocol = PairwiseMasks()
    total = attempt(SecureAggregation(protocol=protocol), values, seed, gone)
    if isinstance(total, str):
        assert gone
        assert "too few clients" in total or "too many dropouts" in total
        return
    np.testing.assert_allclose(total, np.delete(values, gone, axis=0).sum(axis=0), atol=clients * 2.0**-25)
    answered = np.ones(clients, dtype=bool)
    answered[gone] = False
    # The graph that the sum drew.
    graph = protocol.graph(clients, np.random.default_rng(seed).spawn(2)[1])
    assert connected(graph, answered)


def test_a_masked_vector_hides_its_own():
    # The mask of a client is a stream of its seeds, so one client's words are uniform; its mean is as of random ones.
    field, protocol, rng = PrimeField(), PairwiseMasks(), np.random.default_rng(5)
    words = np.zeros((10, 4000), dtype=np.uint64)
    graph = protocol.graph(10, rng)
    sent = protocol.masked(words, field.random((10, 2), rng), _pair_seeds(graph, field, rng), graph, field)
    shares = sent / field.prime
    assert abs(shares.mean() - 0.5) < 4 * np.sqrt(1 / 12 / shares.size)  # false alarm 6e-5
    assert _mask(np.array([1, 2], dtype=np.uint64), 5, PrimeField(7)).max() < 7


def test_the_graph_is_sparse_symmetric_and_connected():
    graph = PairwiseMasks().graph(1000, np.random.default_rng(6))
    assert graph.shape == (1000, 20)
    table = np.zeros((1000, 1000), dtype=bool)
    table[np.arange(1000)[:, None], graph] = True
    assert (table == table.T).all()
    assert not table.diagonal().any()
