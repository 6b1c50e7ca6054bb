"""Optimal one-to-one assignment, and posteriors of one-to-one matchings."""

from itertools import permutations

import numpy as np
import pytest
from linkage_tools import (
    permanents,
)

from attacks.linkage.linkage_answers import enumerated_posterior, matching_posterior, one_to_one, propagated_posterior


def test_one_to_one_assigns_every_candidate_and_leaves_the_other_rows():
    assert sorted(one_to_one(np.zeros((5, 3)))) == [-1, -1, 0, 1, 2]


def test_posterior_rows_sum_to_one_and_columns_to_at_most_one():
    rng = np.random.default_rng(0)
    posterior = matching_posterior(rng.normal(0, 5, (20, 50)))
    assert posterior.sum(axis=1) == pytest.approx(np.ones(20))
    assert posterior.sum(axis=0).max() < 1.01
    assert posterior.sum() == pytest.approx(20)


def test_posterior_comes_near_the_permanents():
    rng = np.random.default_rng(0)
    for _ in range(20):
        scores = rng.normal(0, 1, (3, 6))
        exact = np.zeros((3, 6))
        for order in permutations(range(6), 3):
            exact[np.arange(3), order] += np.exp(scores[np.arange(3), order].sum())
        exact /= exact[0].sum()
        assert matching_posterior(scores) == pytest.approx(exact, abs=0.05)


def test_posterior_is_exact_where_nothing_competes():
    # One row: the posterior is the normalised likelihood.
    likelihood = np.array([[0.1, 0.2, 0.7]])
    assert matching_posterior(np.log(likelihood)) == pytest.approx(likelihood)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("shape", [(6, 6), (1, 1), (3, 7), (4, 4)])
def test_posterior_of_few_candidates_is_the_ratio_of_permanents(shape):
    rng = np.random.default_rng(0)
    for _ in range(5):
        scores = rng.normal(0, 3, shape)
        assert enumerated_posterior(scores) == pytest.approx(permanents(scores), abs=1e-9)
        assert matching_posterior(scores + rng.normal(0, 50, (shape[0], 1))) == pytest.approx(
            permanents(scores), abs=1e-9
        )


def test_propagated_posterior_is_near_the_exact_one_for_twelve_candidates():
    # With six rows and six candidates its error exceeds .05; `matching_posterior` is exact for such small tables.
    rng = np.random.default_rng(1)
    loose = rng.normal(0, 2, (6, 12))
    assert propagated_posterior(loose) == pytest.approx(enumerated_posterior(loose), abs=0.05)


def test_impossible_pairs_leave_a_posterior():
    scores = np.array([[0, -1000, -np.inf], [0, -2000, -1500], [0, -np.inf, -np.inf]])
    posterior = matching_posterior(scores)
    assert np.isfinite(posterior).all()
    assert posterior.sum(axis=1) == pytest.approx(np.ones(3))


@pytest.mark.parametrize("strength", [0.0, 3.0, 30.0])
def test_ending_when_posteriors_repeat_changes_nothing(strength):
    """Plain rounds give the same digits, whether the posteriors settle within them or not."""
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(20, 30))
    scores[np.arange(20), rng.permutation(30)[:20]] += strength
    scores[rng.random(scores.shape) < 0.1] = -np.inf
    scores[:, 0] = 0.0
    weight = np.exp(scores - scores.max(axis=1, keepdims=True))
    posterior = weight.copy()
    for _ in range(10):
        need = weight / np.maximum(posterior.sum(axis=1, keepdims=True) - posterior, 1e-200)
        posterior = weight / (np.maximum(need.sum(axis=0) - need, 0) + 1)
    expected = posterior / posterior.sum(axis=1, keepdims=True)
    np.testing.assert_array_equal(propagated_posterior(scores), expected)
