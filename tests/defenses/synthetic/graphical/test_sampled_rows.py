"""Drawn rows meet the model's marginals within rounding, without bias."""

import numpy as np
import pytest
from test_graphical_belief_propagation import marginal

from defenses.base.queries.column_queries import counted
from defenses.synthetic.graphical.estimation import NoisyMarginal, estimated, rounded, sampled_rows

SIZES = (3, 2, 4)
SETS = ((0, 1), (1, 2))


def model():
    truth = np.random.default_rng(0).dirichlet(np.ones(24)).reshape(SIZES)
    return estimated(SIZES, [NoisyMarginal(c, 1000 * marginal(truth, c), 1.0) for c in SETS], 1000, iterations=500)


@pytest.mark.parametrize("n", [1, 7, 1000])
def test_rows_meet_the_marginals_within_rounding(n):
    fitted = model()
    rows = sampled_rows(fitted, n, np.random.default_rng(1))
    for columns, expected in fitted.marginals.items():
        drawn = counted([rows[column] for column in columns], expected.shape)
        # A group is rounded, and so is the group that it is a part of.
        assert np.abs(drawn - n * expected).max() < 2
    assert all(column.size == n for column in rows)


@pytest.mark.thorough
def test_rounding_is_to_the_next_integers_and_has_no_bias():
    weights = np.array([[0.15, 0.35, 0.5], [0.6, 0.4, 0.0]])
    given = np.repeat([0, 1], [7, 4])
    draws = np.array(
        [counted([given, rounded(weights, given, rng)], (2, 3)) for rng in map(np.random.default_rng, range(2000))]
    )
    expected = weights * np.array([[7], [4]])
    assert (np.abs(draws - expected) < 1).all()
    # Standard deviation of a mean is at most 0.5 / sqrt(2000); 5 of them: false alarm 4e-6.
    assert np.abs(draws.mean(axis=0) - expected).max() < 5 * 0.5 / np.sqrt(2000)


@pytest.mark.thorough
def test_each_row_of_a_group_is_as_likely_to_get_a_value():
    given = np.zeros(5, dtype=np.intp)
    weights = np.array([[0.2, 0.8]])
    first = np.array([rounded(weights, given, np.random.default_rng(seed)) == 0 for seed in range(2000)])
    assert (first.sum(axis=1) == 1).all()
    assert np.abs(first.mean(axis=0) - 0.2).max() < 5 * 0.4 / np.sqrt(2000)


def test_many_small_groups_keep_the_total():
    """Independent rounding of 1,000 groups of one row would miss the total by 15 rows; systematic rounding does not."""
    given = np.arange(1000)
    drawn = rounded(np.tile([0.63, 0.37], (1000, 1)), given, np.random.default_rng(2))
    assert abs(np.count_nonzero(drawn == 0) - 630) <= 3


def test_a_group_without_weights_gets_even_ones():
    drawn = rounded(np.zeros((1, 4)), np.zeros(8, dtype=np.intp), np.random.default_rng(0))
    assert np.bincount(drawn).tolist() == [2, 2, 2, 2]
    assert rounded(np.ones((1, 2)), np.zeros(0, dtype=np.intp), np.random.default_rng(0)).size == 0
