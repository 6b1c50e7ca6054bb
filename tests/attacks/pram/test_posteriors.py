"""Posterior of a pair from counts: equal to permanents, at most 1/k, and 1/k for the worst table."""

from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product
from math import prod

import numpy as np
import pytest
from pk_tools import game, played

from attacks import BestPosterior
from attacks.base.sides import column_matrix
from attacks.pram.posteriors import histogram_from_matrix, most_informative_pair, posterior_from_counts
from defenses import (
    OptimalRetentionWithPrior,
    RetentionReplacement,
)
from defenses.pram import optimal_retention, pk, transition_matrix
from scenarios.games.playing import play_alone
from scenarios.tables.seeds import generator


def test_counts_are_proportional_to_reciprocal_flip_probabilities():
    flips = np.array([0.1, 0.15, 0.2, 0.4, 0.7, 0.8])
    shares = histogram_from_matrix(np.diag(1 - flips))
    # The two smallest and the two largest may be at a bound; the others are as 1/0.2 to 1/0.4.
    assert np.isnan(shares[[0, 1, 4, 5]]).all()
    assert shares[[2, 3]] == pytest.approx([2 / 3, 1 / 3])


def test_four_categories_may_all_be_at_a_bound():
    assert np.isnan(histogram_from_matrix(np.eye(4) / 2)).all()


@pytest.mark.parametrize("matrix", [[[1.0, 0.0]], [1.0, 0.0]])
def test_a_matrix_that_is_not_square_is_refused(matrix):
    with pytest.raises(ValueError, match="matrix must be square"):
        histogram_from_matrix(matrix)


def test_the_worst_table_is_found_where_categories_are_not_alike():
    defense = OptimalRetentionWithPrior(prior={"x": [60, 30, 1]}, epsilon=1.0)
    rules = game(5, ("a", "b", "c"))
    secret, release, scores = play_alone(defense, BestPosterior(), rules, generator(1))
    matrix = column_matrix(release.channel, "x", rules.records.domain("x"))
    a, b, ratio = most_informative_pair(matrix)
    table = secret.records.frame["x"].tolist()
    assert table == ["abc"[a]] + ["abc"[b]] * 4
    assert scores.measures["bound"] == pytest.approx(1 / (1 + 4 / ratio)) == pytest.approx(1 / pk(matrix, 5))


@pytest.mark.long
@pytest.mark.parametrize(("k", "plays"), [(1.2, 100), pytest.param(2, 400, marks=pytest.mark.long)])
def test_best_posterior_wins_as_often_as_it_says(k, plays):
    # The mean posterior and the win rate differ by less than 4 standard errors: 1 in 16,000 for a random seed.
    summary = played(RetentionReplacement(k=k), BestPosterior(), 4, plays)
    assert summary.answered.value == 1.0
    assert abs(summary.win.value - summary.typical) < 4 * np.sqrt(0.25 / plays)


def fraction_matrix(rng, d, zeros):
    weights = rng.integers(0 if zeros else 1, 6, (d, d))
    weights[0] += weights.sum(axis=0) == 0
    return np.array([[Fraction(int(w), int(weights[:, j].sum())) for j, w in enumerate(row)] for row in weights])


def permanent(matrix):
    return sum(prod(matrix[i][s[i]] for i in range(len(matrix))) for s in permutations(range(len(matrix))))


def brute_force_posterior(matrix, released, table, i, j):
    likelihood = [[matrix[x, y] for y in table] for x in released]
    rest = [row[:j] + row[j + 1 :] for k, row in enumerate(likelihood) if k != i]
    return likelihood[i][j] * permanent(rest) / permanent(likelihood)


def posterior_of(matrix, released, table):
    x, rows = np.unique(released, return_counts=True)
    y, records = np.unique(table, return_counts=True)
    return x, y, posterior_from_counts(matrix[np.ix_(x, y)], rows, records)


def exact_k(matrix, n):
    """k of a matrix of fractions, by its formula."""
    d = len(matrix)
    ratios = [
        matrix[y, a] * matrix[x, b] / (matrix[x, a] * matrix[y, b])
        for a, b, x, y in product(range(d), repeat=4)
        if a != b and matrix[x, a] and matrix[y, b]
    ]
    return 1 + (n - 1) * min(ratios)


@pytest.mark.thorough_beyond(5)
@pytest.mark.parametrize(("n", "d"), [(1, 2), (2, 2), (3, 2), (4, 2), (2, 3), (3, 3), (4, 3)])
@pytest.mark.parametrize("zeros", [False, True])
def test_no_posterior_exceeds_one_in_k_and_the_worst_attains_it(n, d, zeros):
    rng = np.random.default_rng(100 * n + d)
    for _ in range(3):
        matrix = fraction_matrix(rng, d, zeros)
        k, worst = exact_k(matrix, n), Fraction(0)
        for table in combinations_with_replacement(range(d), n):
            for released in combinations_with_replacement(range(d), n):
                likelihood = [[matrix[x, y] for y in table] for x in released]
                if permanent(likelihood) == 0:
                    with pytest.raises(ValueError, match="cannot stem"):
                        posterior_of(matrix, released, table)
                    continue
                _, _, found = posterior_of(matrix, released, table)
                assert all(isinstance(value, Fraction) for value in found.ravel())
                assert found.max() <= 1 / k
                worst = max(worst, found.max())
        assert worst == 1 / k
        assert pk(matrix.astype(float), n) == pytest.approx(float(k), rel=1e-12)
        *_, ratio = most_informative_pair(matrix.astype(float))
        assert 1 + (n - 1) / ratio == pytest.approx(float(k), rel=1e-12)


@pytest.mark.thorough_beyond(1)
@pytest.mark.long_for("5-3")
@pytest.mark.parametrize(("n", "d"), [(3, 2), (4, 3), (5, 3)])
def test_posterior_equals_permanents(n, d):
    rng = np.random.default_rng(n)
    for _ in range(20):
        matrix, table = fraction_matrix(rng, d, zeros=False), rng.integers(d, size=n)
        released = rng.integers(d, size=n)
        x, y, found = posterior_of(matrix, released, table)
        for i, j in product(range(n), repeat=2):
            cell = found[np.searchsorted(x, released[i]), np.searchsorted(y, table[j])]
            assert cell == brute_force_posterior(matrix, released, table, i, j)


def test_posterior_of_the_worst_table_is_the_closed_form():
    matrix = transition_matrix(optimal_retention([50, 3, 9], 1.5))
    odds = matrix[:, 0] / matrix[:, 2]
    counts = np.array([3, 900, 97])
    found = posterior_from_counts(matrix[:, [0, 2]], counts, np.array([1, 999]))
    np.testing.assert_allclose(found[:, 0], odds / (counts @ odds))
    np.testing.assert_allclose(counts @ found, 1)
    np.testing.assert_allclose(found @ np.array([1, 999]), 1)


def test_posterior_refuses_what_does_not_fit():
    even = np.full((2, 2), 0.5)
    with pytest.raises(ValueError, match="3 rows and 4 records"):
        posterior_from_counts(even, np.array([1, 2]), np.array([2, 2]))
    with pytest.raises(ValueError, match="too many matchings"):
        posterior_from_counts(np.full((6, 6), 1 / 6), np.full(6, 40), np.full(6, 40))
