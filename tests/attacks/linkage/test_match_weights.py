"""Match weights equal those of the ECM classifier of recordlinkage, but for the prior."""

import logging

import numpy as np
import pandas as pd
import pytest

from attacks.linkage.fellegi_sunter import (
    Agreement,
    distinct_patterns,
    fitted_weights,
    latent_classes,
)
from scenarios.tables.seeds import generator

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
    theirs = classifier.kernel.feature_log_prob_
    alone = np.ones(patterns.shape[1], dtype=bool)
    if np.isfinite(theirs).all():
        assert latent_classes(patterns, alone, tolerance, prior=0.0) == pytest.approx(theirs, rel=1e-9)
    # Without a prior, probabilities end at 0 and 1.
    assert (latent_classes(patterns, alone, tolerance) < 0).all()
    assert np.isfinite(latent_classes(patterns, alone, tolerance)).all()


@pytest.mark.parametrize("seed", range(5))
def test_distinct_patterns_are_those_of_numpy(seed):
    patterns = patterns_of_pairs(seed)
    for ours, theirs in zip(distinct_patterns(patterns), np.unique(patterns, axis=0, return_counts=True), strict=True):
        assert (ours == theirs).all()


def test_a_constant_comparison_has_no_weight():
    weights = fitted_weights(
        Agreement(tuple("abc"), tuple("abc"), np.array([[1, 0, 1], [1, 1, 0], [1, 1, 1]], np.int8)), 1e-2
    )
    assert weights.names == ("b", "c")
    alike = Agreement(("a",), ("a",), np.ones((3, 1), np.int8))
    assert fitted_weights(alike, 1e-2).intercept == 0
    assert fitted_weights(alike, 1e-2).of_outcomes(alike.names).tolist() == [0, 0]


def test_a_perfect_comparison_weighs_what_its_pairs_show():
    patterns = np.array([[1, 1]] * 10 + [[0, 0]] * 90, np.int8)
    pairs = Agreement(("a", "b"), ("a", "b"), patterns)
    weights = fitted_weights(pairs, 1e-2)
    assert weights.gains == pytest.approx(np.log(10.5 / 0.5) + np.log(90.5 / 0.5), abs=0.1)
    assert weights.of_outcomes(("b", "c", "a")).tolist() == [0, weights.gains[1], 0, weights.gains[0]]
    assert weights.intercept < 0 < weights.intercept + weights.gains.sum()


def test_outcomes_of_a_column_exclude_each_other():
    """Matches agree in the first or the second comparison of column a; probabilities of its outcomes add up to 1."""
    rng = generator(1, "outcomes")
    kind = np.where(
        rng.random(2000) < 0.2, rng.choice(3, 2000, p=[0.1, 0.6, 0.3]), rng.choice(3, 2000, p=[0.85, 0.05, 0.1])
    )
    patterns = np.column_stack([kind == 1, kind == 2, rng.random(2000) < np.where(kind > 0, 0.9, 0.1)]).astype(np.int8)
    probability = np.exp(latent_classes(patterns, np.array([True, False, True]), 1e-5))
    assert probability.shape == (2, 5)
    assert probability[:, :3].sum(axis=1) == pytest.approx(1)
    assert probability[:, 3:].sum(axis=1) == pytest.approx(1)
    weights = fitted_weights(Agreement(("a", "a (bins)", "b"), ("a", "a", "b"), patterns), 1e-5)
    assert (weights.gains > 0).all()
