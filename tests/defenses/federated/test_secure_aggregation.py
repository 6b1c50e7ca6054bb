"""Secure aggregation by every protocol: exact sums, or an error."""

import builtins

import numpy as np
import pytest
from aggregation_tools import attempt
from hypothesis import given, settings
from hypothesis import strategies as st

from defenses.federated import (
    AdditiveShares,
    AggregationError,
    Paillier,
    PairwiseMasks,
    PrimeField,
    SecureAggregation,
    ShamirShares,
)
from defenses.federated.secret_sharing import MERSENNE
from defenses.federated.secure_aggregation import _mask, _pair_seeds


def test_paillier_keys_that_are_too_short_are_refused():
    with pytest.raises(ValueError, match="bits"):
        Paillier(bits=64)


def test_paillier_sums():
    values = np.random.default_rng(14).normal(size=(4, 9))
    secure = SecureAggregation(protocol=Paillier(bits=256))
    np.testing.assert_allclose(secure.total(values, np.random.default_rng(15)), values.sum(axis=0), atol=1e-6)


@pytest.mark.thorough
def test_paillier_plaintexts_never_overflow():
    # 31 clients need 66 bits a word, and four words 264: with all of them near the prime this is more than a third of
    # most moduli of 266 bits, beyond which the package takes numbers for negative.
    values = -np.ones((31, 7))
    secure = SecureAggregation(protocol=Paillier(bits=266))
    for seed in range(5):
        total = secure.total(values, np.random.default_rng(seed), [3])
        np.testing.assert_array_equal(total, -30.0)


def test_paillier_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **named):
        if name == "phe":
            raise ModuleNotFoundError(name)
        return real(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'tokumei\[paillier\]'"):
        SecureAggregation(protocol=Paillier(bits=256)).total(np.ones((3, 2)), np.random.default_rng(0))


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


PROTOCOLS = [AdditiveShares(), ShamirShares(), PairwiseMasks(), PairwiseMasks(neighbours=4, threshold=2)]


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=repr)
def test_sums_are_right(protocol):
    values = np.random.default_rng(1).normal(0, 1000, (20, 37))
    total = SecureAggregation(protocol=protocol).total(values, np.random.default_rng(2))
    np.testing.assert_allclose(total, values.sum(axis=0), atol=20 * 2.0**-25)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=repr)
def test_too_few_clients_after_dropouts_are_an_error(protocol):
    values = np.arange(18.0).reshape(9, 2)
    secure = SecureAggregation(protocol=protocol, minimum=8)
    assert secure.total(values, np.random.default_rng(2), [4]).tolist() == [64, 72]
    with pytest.raises(AggregationError, match="too few clients: 7 send and 8 are needed"):
        secure.total(values, np.random.default_rng(2), [4, 5])
    with pytest.raises(ValueError, match="no client 9"):
        secure.total(values, np.random.default_rng(2), [9])


class Tampered:
    """Adds an amount to one word on the way."""

    place, amount = 0, 0

    @classmethod
    def changed(cls, words):
        words = words.copy()
        flat = words.reshape(-1)
        place = Tampered.place % flat.size
        flat[place] = (int(flat[place]) + Tampered.amount) % MERSENNE
        return words


class TamperedAdditive(Tampered, AdditiveShares):
    def share(self, words, field, rng):
        return self.changed(super().share(words, field, rng))


class TamperedShamir(Tampered, ShamirShares):
    def share(self, words, field, rng):
        return self.changed(super().share(words, field, rng))


class TamperedMasks(Tampered, PairwiseMasks):
    def masked(self, words, own, pairs, graph, field):
        return self.changed(super().masked(words, own, pairs, graph, field))


class TamperedSeeds(Tampered, PairwiseMasks):
    """A client uses another mask of its own than the one that its neighbours hold the seed of."""

    def masked(self, words, own, pairs, graph, field):
        return super().masked(words, self.changed(own), pairs, graph, field)


@pytest.mark.thorough
@given(
    kind=st.sampled_from([TamperedAdditive, TamperedShamir, TamperedMasks, TamperedSeeds]),
    place=st.integers(0, 10**6),
    amount=st.integers(0, MERSENNE - 1),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=150, deadline=None)
def test_no_tampered_word_gives_a_wrong_sum(kind, place, amount, seed):
    Tampered.place, Tampered.amount = place, amount
    values = np.random.default_rng(seed).normal(size=(7, 4))
    total = attempt(SecureAggregation(protocol=kind()), values, seed)
    if amount:
        # A wrong check word fits by chance once in 2^61.
        assert isinstance(total, str)
        assert "a share is wrong" in total
    else:
        np.testing.assert_allclose(total, values.sum(axis=0), atol=1e-6)


def test_a_tampered_vector_of_a_client_that_dropped_out_does_no_harm():
    values = np.random.default_rng(1).normal(size=(7, 4))
    Tampered.place, Tampered.amount = 5 * 1 + 2, 3
    total = attempt(SecureAggregation(protocol=TamperedMasks()), values, 2, [1])
    np.testing.assert_allclose(total, np.delete(values, 1, axis=0).sum(axis=0), atol=1e-6)
    assert "a share is wrong" in attempt(SecureAggregation(protocol=TamperedMasks()), values, 2, [2])


def test_numbers_that_do_not_fit_are_refused():
    secure = SecureAggregation(limit=10.0)
    rng = np.random.default_rng(12)
    good = np.ones((3, 2))
    with pytest.raises(AggregationError, match="too few clients: 2 send and 3 are needed"):
        secure.total(good[:2], rng)
    with pytest.raises(AggregationError, match="too few clients"):
        secure.total(good[:0], rng)
    for value, message in ((np.nan, "client 1: a number is not finite"), (np.inf, "not finite"), (10.1, "overflow")):
        wrong = good.copy()
        wrong[1, 1] = value
        with pytest.raises(AggregationError, match=message):
            secure.total(wrong, rng)
    with pytest.raises(AggregationError, match="overflow: 3 clients"):
        SecureAggregation(limit=2.0**40).total(good, rng)
    with pytest.raises(AggregationError, match="1 dimensions"):
        secure.total([1.0, 2.0, 3.0], rng)
    assert secure.total([[1, 2], [3, 4], [5, 6]], rng).tolist() == [9, 12]


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: SecureAggregation(fraction_bits=2000), "fraction_bits"),
        (lambda: SecureAggregation(protocol="shamir"), "protocol"),
        (lambda: SecureAggregation(limit=float("nan")), "limit"),
        (lambda: SecureAggregation(minimum=1), "minimum"),
    ],
)
def test_bad_parameters_are_named(make, name):
    with pytest.raises(ValueError, match=name):
        make()
