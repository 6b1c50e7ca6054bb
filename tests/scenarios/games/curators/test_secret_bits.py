"""The secret-bit game: counts that determine bits, chance, and refusals."""

import math

import numpy as np
import pytest
from statistics_tools import rng

from scenarios import SecretBits, load


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda r: SecretBits(records=r, column="spending", category="yes"), "column"),
        (lambda r: SecretBits(records=r, column="district", category="moon"), "category"),
        (lambda r: SecretBits(records=r, column="district", category="east", persons=1), "persons"),
        (lambda r: SecretBits(records=r.take([0]), column="district", category="east", persons=2), "persons"),
        (lambda r: SecretBits(records=r, column="district", category="east", workload=0), "workload"),
    ],
)
def test_bad_parameters_are_named(make, name):
    with pytest.raises(ValueError, match=name):
        make(load("city").records)


@pytest.fixture(scope="module")
def game(bank):
    return SecretBits(records=bank, column="housing", category="yes", persons=30, workload=4)


def test_counts_of_groups_determine_every_bit(game):
    secret = game.draw(rng(1))
    owners = (secret.records.frame["housing"] == "yes").to_numpy()
    assert secret.truths.tolist() == owners.astype(float).tolist()
    for person, target in enumerate(secret.known.targets):
        solved = sum(w * q.exact(secret.records) for w, q in zip(target.weights, target.queries, strict=True))
        assert solved == owners[person]
    group = np.arange(30) < 11
    total = secret.known.total(group)
    assert total.weights[0] * total.queries[0].exact(secret.records) == owners[:11].sum()


def test_chance_is_the_share_of_the_more_frequent_bit(game):
    for seed in range(5):
        secret = game.draw(rng(seed))
        assert secret.chance == max(secret.truths.mean(), 1 - secret.truths.mean())


def test_the_analyst_counts_in_random_halves(game):
    secret = game.draw(rng(2))
    assert len(secret.workload) == 4
    sizes = [int(question.query.members.sum()) for question in secret.workload]
    assert all(0 < size < 30 for size in sizes)
    # Without an answer every person of the half has the attribute with one half.
    assert [question.guess for question in secret.workload] == [size / 2 for size in sizes]


def test_claims_count_by_their_side_of_one_half(game):
    assert game.right(0.7, 1.0)
    assert game.right(-3.0, 0.0)
    assert not game.right(0.4, 1.0)
    assert not game.right(math.nan, 1.0)
