"""Games on groups, with secret bits and secret numbers: answers that determine them, chance, and refusals."""

import math

import numpy as np
import pytest
from statistics_tools import rng

from scenarios import (
    SecretBits,
    SecretNumbers,
    load,
)

# The secret-number game: sums and means that determine numbers, chance, and refusals.


@pytest.mark.parametrize("query", ["Sum", "Mean"])
def test_what_solves_for_a_sum_is_the_sum_of_the_numbers(query):
    game = SecretNumbers(records=load("bank").records, column="age", above=39.5, query=query, persons=5, workload=1)
    secret = game.draw(rng())
    group = np.array([True, False, True, True, False])
    total = secret.known.total(group)
    answer = total.queries[0].exact(secret.records)
    assert total.weights[0] * answer == pytest.approx(secret.records.frame["age"][group].sum())
    for person, target in enumerate(secret.known.targets):
        found = sum(w * q.exact(secret.records) for w, q in zip(target.weights, target.queries, strict=True))
        assert found == pytest.approx(secret.records.frame["age"][person])


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda r: SecretNumbers(records=r, column="district", above=1), "column"),
        (lambda r: SecretNumbers(records=r, column="spending", above=math.nan), "above"),
        (lambda r: SecretNumbers(records=r, column="spending", above=1e9), "above"),
        (lambda r: SecretNumbers(records=r, column="spending", above=1, query="Median"), "query"),
        (lambda r: SecretNumbers(records=r, column="spending", above=1, persons=1), "persons"),
        (lambda r: SecretNumbers(records=r, column="spending", above=1, workload=0), "workload"),
    ],
)
def test_bad_parameters_of_numbers_are_named(make, name):
    with pytest.raises(ValueError, match=name):
        make(load("city").records)


def test_claims_count_by_their_side_of_the_threshold():
    game = SecretNumbers(records=load("bank").records, column="age", above=39.5, persons=5)
    assert game.right(40.0, 90.0)
    assert game.right(12.0, 39.0)
    assert not game.right(39.0, 40.0)
    secret = game.draw(rng(1))
    above = (secret.records.frame["age"] > 39.5).mean()
    assert secret.chance == max(above, 1 - above)


def test_a_guess_without_a_query_is_the_middle_of_the_bounds():
    records = load("bank").records
    group = np.array([True, False, True, True, False])
    middle = (records.domains["age"].low + records.domains["age"].high) / 2
    for query, expected in (("Sum", 3 * middle), ("Mean", middle)):
        game = SecretNumbers(records=records, column="age", above=39.5, query=query, persons=5)
        assert game.guess(group) == pytest.approx(expected)
        assert game.weight(group) == (3 if query == "Mean" else 1)


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
