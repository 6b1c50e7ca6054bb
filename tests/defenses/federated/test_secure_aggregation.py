"""Secure aggregation by every protocol: exact sums, or an error."""

import numpy as np
import pytest
from aggregation_tools import attempt
from hypothesis import given, settings
from hypothesis import strategies as st

from defenses.federated import (
    AdditiveShares,
    AggregationError,
    PairwiseMasks,
    SecureAggregation,
    ShamirShares,
)
from defenses.federated.field import MERSENNE

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
