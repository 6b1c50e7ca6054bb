"""Weights find the features that members have, are shrunken, and leave a table out."""

import numpy as np
import pytest

from attacks.membership.marginal_membership import learned_weights


def tables(rng, shift, count=4, people=400):
    member = [rng.permutation(people) < people // 2 for _ in range(count)]
    return [rng.normal(size=(people, len(shift))) + np.outer(inside, shift) for inside in member], member


def test_weights_are_those_of_the_linear_discriminant():
    # Independent features of variance 1 + shift^2 / 4 in all; the best weights are proportional to the shift.
    shift = np.array([1.0, 0.5, 0.0, 0.0])
    learned = learned_weights(*tables(np.random.default_rng(0), shift), np.ones((1, 4)))
    assert learned.weights / learned.weights[0] == pytest.approx(shift, abs=0.15)
    assert learned.without.shape == (4, 4)


def test_a_table_does_not_teach_its_own_weights():
    seen, unseen = [], []
    for seed in range(1, 5):
        features, member = tables(np.random.default_rng(seed), np.zeros(50), count=3, people=60)
        learned = learned_weights(features, member, np.ones((1, 50)))
        for table, weights, inside in zip(features, learned.without, member, strict=True):
            seen.append(np.corrcoef(table @ learned.weights, inside)[0, 1])
            unseen.append(np.corrcoef(table @ weights, inside)[0, 1])
    # Nothing is to be learned. The standard error of the mean of twelve correlations of 60 pairs is .04.
    assert np.mean(seen) > 0.3
    assert np.mean(unseen) < 0.12


def test_a_sum_of_weak_features_is_learned_before_its_parts():
    features, member = tables(np.random.default_rng(2), np.full(60, 0.1), people=100)
    some, none = (learned_weights(features, member, np.ones((sums, 60))).weights for sums in (1, 0))
    assert some.std() / some.mean() < 0.7 * none.std() / none.mean()


def test_constant_features_get_finite_weights():
    learned = learned_weights([np.ones((4, 2))] * 2, [np.array([True, False, True, False])] * 2, np.ones((1, 2)))
    assert np.isfinite(learned.weights).all()
    assert np.isfinite(learned.without).all()
