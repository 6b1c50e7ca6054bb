"""Gaussian noise on updates: bad input, and audits of the accountants' bounds."""

import math

import numpy as np
import pytest
from epsilon_tools import told_apart

from defenses.federated import (
    Client,
    ExampleClipping,
    Network,
    PrivacyLossNoise,
    RenyiNoise,
    SequentialNoise,
    TrainingRules,
    federated_averaging,
    gaussian_epsilon,
    privacy_loss_epsilon,
    uplink_sensitivity,
)


@pytest.mark.parametrize("kind", [SequentialNoise, RenyiNoise, PrivacyLossNoise])
def test_budgets_out_of_range_are_refused(kind):
    for delta in (0.0, 1.0, 1.5, math.nan):
        with pytest.raises(ValueError, match="delta"):
            kind(delta=delta)
    for epsilon in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="epsilon"):
            kind(epsilon=epsilon)


class HalfTheNoise(PrivacyLossNoise):
    """Claims its budget and spends more."""

    def multiplier(self, rounds):
        return super().multiplier(rounds) / 2


def audited(noise, delta, rounds=5, runs=20_000, seed=11):
    """Lower bound on epsilon of a client's updates over all rounds, on the worst neighbours (confidence 99.9 %).

    One of four records reverses its gradient, the largest change of an update that clipping allows. Every client of one
    training is an independent run. Weights stay constant (rate 1e-12). The most powerful statistic is then the sum
    over rounds along the record's direction. Its threshold is chosen on the first half of the runs.
    """
    network = Network((1, 2))
    features, labels = np.full((4, 1), 1e3), [np.array([0, 0, 0, 0]), np.array([1, 0, 0, 0])]

    def sums(own, noise, count, rounds):
        group = [Client(features, own, ("a", "b"))] * count
        rules = TrainingRules(rounds, 1, 1e-12, clipping=ExampleClipping(norm=1.0), uplink=noise)
        training = federated_averaging(network, group, rules, np.random.default_rng([seed, own[0]]))
        return sum(np.stack(list(updates.values())) for updates in training.updates)

    clean = [sums(own, None, 2, 1)[0] for own in labels]
    direction = clean[1] - clean[0]
    assert np.linalg.norm(direction) == pytest.approx(uplink_sensitivity(1.0, 4), rel=1e-3)
    second, first = (sums(own, noise, runs, rounds) @ direction for own in labels)
    return told_apart(first, second, delta)


@pytest.mark.thorough
@pytest.mark.long_for("PrivacyLossNoise", "RenyiNoise")
@pytest.mark.parametrize("make", [SequentialNoise, RenyiNoise, PrivacyLossNoise])
def test_an_audit_never_exceeds_the_accountants_bound(make):
    # Three audits, each wrong with 0.1 %.
    noise = make(epsilon=2.0, delta=1e-3)
    # The accountants of more noise than necessary are far from being exceeded.
    bound = audited(noise, 1e-3, runs=20_000 if make is PrivacyLossNoise else 8000)
    assert bound <= 2.0
    assert bound <= gaussian_epsilon(np.sqrt(5) / noise.multiplier(5), 1e-3)
    assert bound <= privacy_loss_epsilon(noise.multiplier(5), 5, 1e-3)
    if make is PrivacyLossNoise:
        assert bound > 1.0


@pytest.mark.thorough
def test_the_audit_catches_half_the_noise():
    assert audited(HalfTheNoise(epsilon=2.0, delta=1e-3), 1e-3, runs=12_000) > 2.0
