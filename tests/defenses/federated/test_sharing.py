"""Additive and Shamir secret sharing: rebuilding, perfect secrecy, wrong shares."""

import itertools

import numpy as np
import pytest
from aggregation_tools import corrupted

from defenses.federated import (
    AggregationError,
    PrimeField,
    additive_shares,
    shamir_rebuild,
    shamir_shares,
)


def test_any_t_plus_1_shares_rebuild():
    field = PrimeField()
    secrets = field.random((50,), np.random.default_rng(3))
    for threshold, parties in ((1, 3), (2, 5), (3, 4)):
        shares = shamir_shares(secrets, threshold, parties, field, np.random.default_rng(4))
        for chosen in itertools.combinations(range(parties), threshold + 1):
            points = [party + 1 for party in chosen]
            np.testing.assert_array_equal(shamir_rebuild(shares[list(chosen)], points, threshold, field), secrets)
        with pytest.raises(AggregationError, match="too few shares"):
            shamir_rebuild(shares[:threshold], range(1, threshold + 1), threshold, field)


class Listed:
    """Hands out given field elements instead of random ones, to go through all of them."""

    def __init__(self, values):
        self.values = np.asarray(values, dtype=np.uint64)

    def integers(self, low, high, shape, dtype):
        assert (low, self.values.shape) == (0, shape)
        return self.values


def test_t_shares_reveal_nothing_exactly():
    # Every secret and every choice of coefficients in the field of 5: any two shares are uniform whatever the secret.
    field, threshold, parties = PrimeField(5), 2, 4
    coefficients = np.array(list(itertools.product(range(5), repeat=threshold))).T
    for secret in range(5):
        secrets = np.full(25, secret, dtype=np.uint64)
        shares = shamir_shares(secrets, threshold, parties, field, Listed(coefficients))
        for chosen in itertools.combinations(range(parties), threshold):
            pairs = shares[list(chosen)]
            assert len({tuple(pair) for pair in pairs.T.tolist()}) == 25
        # Three of them are not: the test can fail.
        assert len({tuple(triple) for triple in shares[:3].T.tolist()}) == 25 < 5**3


def test_additive_shares_reveal_nothing_exactly():
    field = PrimeField(5)
    free = np.array(list(itertools.product(range(5), repeat=2))).T
    for secret in range(5):
        shares = additive_shares(np.full(25, secret, dtype=np.uint64), 3, field, Listed(free))
        for chosen in itertools.combinations(range(3), 2):
            assert len({tuple(pair) for pair in shares[list(chosen)].T.tolist()}) == 25
        assert (shares.sum(axis=0) % 5 == secret).all()


def test_spare_shamir_shares_catch_a_wrong_one():
    field = PrimeField()
    shares = shamir_shares(field.random((4,), np.random.default_rng(10)), 2, 5, field, np.random.default_rng(11))
    for party in range(5):
        with pytest.raises(AggregationError, match="no common polynomial"):
            shamir_rebuild(corrupted(shares, (party, 1)), range(1, 6), 2, field)
