"""PRAM with privately tuned matrices: guarantees and a distinguishing audit."""

from itertools import permutations, product
from math import exp, inf

import numpy as np
import pandas as pd
import pytest
from pram_tools import PRIVATE, people

from defenses import (
    Microdata,
    OptimalRetentionByOutput,
    OptimalRetentionFromNoisyHistogram,
)
from defenses.pram import k_for_epsilon, optimal_retention, retention_epsilon, transition_matrix
from defenses.pram.perturbation import (
    noisy_histogram,
    retention_by_objective,
    retention_by_output,
)
from metrics.columns.domains import CategoricalDomain


@pytest.mark.parametrize("form", PRIVATE)
def test_private_forms_promise_the_sum_and_their_matrices_keep_to_it(form):
    defense = form(epsilon_matrix=0.5, epsilon_release=2.0)
    guarantee = defense.guarantee(people())
    assert guarantee.epsilon == 2.5
    assert guarantee.pk == pytest.approx(k_for_epsilon(2.0, 400))
    parts = defense.apply(people(), np.random.default_rng(4)).channel.parts
    assert sum(retention_epsilon(part.retention) for part in parts) <= 2.0


def largest_posterior(matrix, values):
    """Largest posterior of a pair of person and released row over all releases, for an adversary who knows the table.

    `matrix` has shape (released, original); all permutations are enumerated, so that nothing rests on a formula.
    """
    n = len(values)
    orders = np.array(list(permutations(range(n))))
    highest = 0.0
    for released in product(range(len(matrix)), repeat=n):
        weights = matrix[np.array(released)[orders], np.array(values)].prod(axis=1)
        first = np.bincount(orders[:, 0], weights, minlength=n)
        highest = max(highest, first.max() / weights.sum())
    return highest


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("form", PRIVATE)
@pytest.mark.parametrize("values", [(0, 1, 1, 1), (0, 1, 1, 2), (0, 0, 1, 1)])
def test_pk_holds_against_an_adversary_who_knows_the_table(form, values):
    names = ("a", "b", "c")
    frame = pd.DataFrame({"x": [names[value] for value in values]})
    records = Microdata(frame, quasi_identifiers=("x",), domains={"x": CategoricalDomain(names)})
    for epsilon_matrix, epsilon_release in ((1.0, 0.5), (20.0, 0.5), (0.1, 1.0)):
        defense = form(epsilon_matrix=epsilon_matrix, epsilon_release=epsilon_release)
        guaranteed = defense.guarantee(records).pk
        for seed in range(3):
            channel = defense.apply(records, np.random.default_rng(seed)).channel
            matrix = transition_matrix(channel.parts[0].retention)
            assert largest_posterior(matrix, values) <= 1 / guaranteed * (1 + 1e-9)


def test_pk_of_the_release_is_reached_and_that_of_both_budgets_is_too_low():
    # Retention-replacement on two categories: the lone record is found with the posterior that the bound allows.
    keep = exp(0.5) / (1 + exp(0.5))
    matrix = np.array([[keep, 1 - keep], [1 - keep, keep]])
    assert largest_posterior(matrix, (0, 1, 1, 1)) == pytest.approx(1 / k_for_epsilon(0.5, 4))
    guaranteed = OptimalRetentionFromNoisyHistogram(epsilon_matrix=1.0, epsilon_release=1.0).guarantee(people(1000)).pk
    assert guaranteed == pytest.approx(136.2, abs=0.05)
    assert k_for_epsilon(2.0, 1000) == pytest.approx(19.3, abs=0.05)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: OptimalRetentionFromNoisyHistogram(epsilon_matrix=0, epsilon_release=1), "epsilon_matrix"),
        (lambda: OptimalRetentionByOutput(epsilon_matrix=1, epsilon_release=inf), "epsilon_release"),
    ],
)
def test_bad_budgets_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def private_tuning(tune):
    return lambda counts, matrix_level, level, rng: optimal_retention(tune(counts, matrix_level, rng), level)


def distinguished(tune, matrix_level, release_level, runs, seed):
    """Whether matrices and releases of two neighbours differ by more than both levels together allow.

    Events: the first retention probability (its excess over the second, the released count, a mix) is beyond c, for c
    at each decile. A true ratio within the levels exceeds its bound by 4 standard errors with probability below 1e-4
    an event, of which there are 144.
    """
    rng = np.random.default_rng(seed)
    outcomes = []
    for histogram in ((3, 2, 0), (2, 3, 0)):
        seen = []
        for _ in range(runs):
            retention = tune(histogram, matrix_level, release_level, rng)
            columns = transition_matrix(retention).T
            released = sum(rng.multinomial(c, column) for c, column in zip(histogram, columns, strict=True))
            seen.append([retention[0], retention[1] - retention[0], released[0], released[0] + 10 * retention[0]])
        outcomes.append(np.array(seen))
    first, second = outcomes
    ratio = exp(matrix_level + release_level)
    for feature in range(4):
        for cut in np.quantile(np.concatenate(outcomes)[:, feature], np.linspace(0.1, 0.9, 9)):
            for sign in (1, -1):
                a, b = ((sign * (side[:, feature] - cut) >= 0).mean() for side in (first, second))
                for high, low in ((a, b), (b, a)):
                    if high > ratio * low + 4 * np.sqrt((high * (1 - high) + ratio**2 * low * (1 - low)) / runs):
                        return True
    return False


@pytest.mark.long_for("100-retention_by_objective", "100-retention_by_output")
@pytest.mark.parametrize("tune", [private_tuning(noisy_histogram), retention_by_objective, retention_by_output])
@pytest.mark.parametrize("runs", [100, pytest.param(800, marks=pytest.mark.long)])
def test_private_forms_survive_the_distinguishing_audit(tune, runs):
    assert not distinguished(tune, 0.4, 0.4, runs, seed=11)


@pytest.mark.thorough
def test_the_distinguishing_audit_catches_the_papers_form_and_too_little_noise():
    def papers(counts, matrix_level, level, rng):
        return optimal_retention(counts, level)

    def too_little(counts, matrix_level, level, rng):
        return optimal_retention(noisy_histogram(counts, 10 * matrix_level, rng), level)

    assert distinguished(papers, 0.4, 0.4, 100, seed=11)
    # With 100 runs it is caught for six seeds of six.
    assert distinguished(too_little, 0.4, 0.4, 100, seed=11)
