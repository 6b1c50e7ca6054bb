"""OptimalRetention and OptimalRetentionWithPrior: releases, guarantees, leakage."""

from itertools import product
from math import log

import numpy as np
import pytest
from pram_tools import JOB, _plain, people

from defenses import (
    OptimalRetention,
    OptimalRetentionWithPrior,
)
from defenses.pram import k_for_epsilon, optimal_retention, retention_epsilon, transition_matrix


def test_released_histogram_is_where_the_matrix_says():
    # Four standard deviations of a binomial count in four categories, fixed seed.
    records = people(20_000)
    release = OptimalRetention(epsilon=2.0, columns=["job"]).apply(records, np.random.default_rng(2))
    counts = np.bincount(JOB.codes(records.frame["job"]), minlength=4)
    expected = transition_matrix(optimal_retention(counts, 2.0)) @ counts
    released = np.bincount(JOB.codes(_plain(release.frame["job"])), minlength=4)
    assert (np.abs(released - expected) <= 4 * np.sqrt(20_000) / 2).all()
    assert release.channel.parts[0].retention == tuple(optimal_retention(counts, 2.0).tolist())


def test_the_papers_form_promises_nothing_and_says_so():
    guarantee = OptimalRetention(k=20).guarantee(people())
    assert (guarantee.epsilon, guarantee.pk, guarantee.delta) == (None, None, None)
    assert "none: the matrix is made of these records" in guarantee.statement
    assert "Pk of at least 20" in guarantee.statement


def test_prior_form_promises_what_its_matrices_have():
    defense = OptimalRetentionWithPrior(prior={"age": [1, 2, 3, 4], "job": [3, 2, 1, 0]}, epsilon=2.0)
    guarantee = defense.guarantee(people())
    parts = defense.apply(people(), np.random.default_rng(3)).channel.parts
    assert guarantee.epsilon == pytest.approx(sum(retention_epsilon(part.retention) for part in parts))
    assert 1.9 < guarantee.epsilon <= 2.0
    assert guarantee.pk >= k_for_epsilon(guarantee.epsilon, 400) * (1 - 1e-9)
    other = defense.apply(people(seed=9), np.random.default_rng(3)).channel
    assert other == defense.apply(people(), np.random.default_rng(3)).channel


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: OptimalRetention(), "exactly one"),
        (lambda: OptimalRetention(epsilon=1, k=2), "exactly one"),
        (lambda: OptimalRetention(epsilon=0), "epsilon"),
        (lambda: OptimalRetention(epsilon=float("nan")), "epsilon"),
        (lambda: OptimalRetention(k=0.5), "k must"),
        (lambda: OptimalRetention(k=500).apply(people(), np.random.default_rng(0)), "at most the number"),
        (lambda: OptimalRetentionWithPrior(prior={"job": [0, 0]}, epsilon=1), "prior of column 'job'"),
        (lambda: OptimalRetentionWithPrior(prior=[1, 2], epsilon=1), "prior must map"),
        (
            lambda: OptimalRetentionWithPrior(prior={"job": [1, 2]}, epsilon=1).apply(
                people(), np.random.default_rng(0)
            ),
            "prior",
        ),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def released_distribution(histogram, retention):
    """Probability of each released histogram, exactly."""
    matrix = transition_matrix(retention)
    d = len(histogram)
    outcomes = {(0,) * d: 1.0}
    for category in np.repeat(np.arange(d), histogram):
        fresh = {}
        for counts, probability in outcomes.items():
            for released in range(d):
                key = tuple(count + (i == released) for i, count in enumerate(counts))
                fresh[key] = fresh.get(key, 0) + probability * matrix[released, category]
        outcomes = fresh
    return outcomes


def leak(n, level, tune):
    """Largest log-ratio of a released histogram's probability over all neighbouring histograms of three categories."""
    largest = 0.0
    histograms = [h for h in product(range(n + 1), repeat=3) if sum(h) == n]
    laws = {h: released_distribution(h, optimal_retention(tune or h, level)) for h in histograms}
    for h in histograms:
        for i, j in product(range(3), repeat=2):
            other = tuple(count - (c == i) + (c == j) for c, count in enumerate(h))
            if i != j and other in laws:
                largest = max(largest, *(log(laws[h][y] / laws[other][y]) for y in laws[h]))
    return largest


@pytest.mark.parametrize(("n", "found"), [(4, 3.19), (6, 3.59)])
def test_the_papers_form_leaks_more_than_the_epsilon_of_its_matrix(n, found):
    assert leak(n, 1.0, None) == pytest.approx(found, abs=0.005)


def test_a_public_histogram_leaks_no_more():
    assert leak(4, 1.0, (3, 2, 1)) <= 1.0
