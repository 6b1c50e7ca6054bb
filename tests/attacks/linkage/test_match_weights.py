"""Match weights equal those of the ECM classifier of recordlinkage to the last digit."""

import logging

import numpy as np
import pandas as pd
import pytest

from attacks.linkage.agreement import Agreement
from attacks.linkage.match_weights import (
    BLOCK,
    LARGEST_WEIGHT,
    MatchWeights,
    distinct_patterns,
    fitted_weights,
    latent_classes,
)
from scenarios.seeds import generator

SHORT = (0, 1, 3)
"""Seeds whose patterns the other package fits soon."""


def patterns_of_pairs(seed):
    """Agreements of pairs; a tenth of them are matches, which agree more often."""
    rng = generator(seed, "patterns")
    comparisons, pairs = rng.integers(2, 20), rng.integers(20, 1500)
    match = rng.random((pairs, 1)) < 0.1
    rates = np.where(match, rng.uniform(0.3, 1, comparisons), rng.uniform(0, 0.6, comparisons))
    patterns = (rng.random((pairs, comparisons)) < rates).astype(np.int8)
    return patterns[:, patterns.min(axis=0) < patterns.max(axis=0)]


@pytest.fixture
def quiet():
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.long_for("0-1e-05")
@pytest.mark.parametrize("tolerance", [1e-2, 1e-5])
@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=() if seed in SHORT else pytest.mark.long) for seed in range(20)]
)
def test_probabilities_equal_those_of_recordlinkage(seed, tolerance, quiet):
    from recordlinkage import ECMClassifier

    patterns = patterns_of_pairs(seed)
    classifier = ECMClassifier(atol=tolerance)
    with np.errstate(all="ignore"):
        classifier.fit(pd.DataFrame(patterns))
    assert np.array_equal(latent_classes(patterns, tolerance), classifier.kernel.feature_log_prob_, equal_nan=True)


@pytest.mark.parametrize("seed", range(5))
def test_distinct_patterns_are_those_of_numpy(seed):
    patterns = patterns_of_pairs(seed)
    for ours, theirs in zip(distinct_patterns(patterns), np.unique(patterns, axis=0, return_counts=True), strict=True):
        assert (ours == theirs).all()


def test_a_constant_comparison_has_no_weight():
    weights = fitted_weights(Agreement(("a", "b", "c"), np.array([[1, 0, 1], [1, 1, 0], [1, 1, 1]], np.int8)), 1e-2)
    assert weights.names == ("b", "c")
    alike = Agreement(("a",), np.ones((3, 1), np.int8))
    assert fitted_weights(alike, 1e-2).of_pairs(alike).tolist() == [0, 0, 0]


def test_the_weight_of_a_perfect_comparison_is_bounded():
    patterns = np.array([[1, 1]] * 10 + [[0, 0]] * 90, np.int8)
    weights = fitted_weights(Agreement(("a", "b"), patterns), 1e-2)
    assert np.abs(weights.gains).max() <= 2 * LARGEST_WEIGHT
    assert (np.diff(weights.of_pairs(Agreement(("a", "b"), patterns))[[10, 9]]) > 0).all()


@pytest.mark.parametrize("pairs", [0, 1, BLOCK, 2 * BLOCK + 3])
def test_weights_of_many_pairs_are_those_of_each(pairs):
    """Fewer pairs than a block, one block, and a rest."""
    rng = np.random.default_rng(1)
    patterns = rng.integers(2, size=(pairs, 3)).astype(np.int8)
    weights = MatchWeights(0.25, ("a", "b", "c"), np.array([1.0, -2.0, 0.5]))
    expected = 0.25 + patterns[:, 0] - 2.0 * patterns[:, 1] + 0.5 * patterns[:, 2]
    np.testing.assert_array_equal(weights.of_pairs(Agreement(("a", "b", "c"), patterns)), expected)
