"""Gaussian noise on updates: bad input, and audits of the accountants' bounds."""

import math

import numpy as np
import pytest
from epsilon_tools import told_apart
from federated_tools import clients

from defenses import FederatedAveraging
from defenses.federated import (
    Client,
    EqualSplit,
    ExampleClipping,
    Network,
    PrivacyLossNoise,
    RenyiNoise,
    SequentialNoise,
    TrainingRules,
    UpdateClipping,
    classical_multiplier,
    downlink_sensitivity,
    federated_averaging,
    gaussian_epsilon,
    gaussian_shift,
    privacy_loss_epsilon,
    renyi_epsilon,
    sequential_composition,
    uplink_sensitivity,
)
from scenarios.running.methods.invented_people import people


def test_the_lectures_bound_fails_for_minimisers_and_holds_for_clipped_gradients():
    values = np.array([-1.0] * 50 + [1.0] * 51)
    moved = values.copy()
    moved[-1] = -1.0
    # Mean absolute loss on [-C, C], n = 101: the minimiser is the median, and one record moves it by 2C, not 2C/101.
    assert abs(np.median(values) - np.median(moved)) == 2.0
    assert uplink_sensitivity(1.0, 101) < 0.02
    assert ExampleClipping(norm=1.0).record_sensitivity(101, 1) == uplink_sensitivity(1.0, 101)
    assert ExampleClipping(norm=1.0).record_sensitivity(101, 3) == pytest.approx(2 / 101 + 4)
    assert [ExampleClipping(norm=0.5).client_sensitivity(steps) for steps in (1, 3)] == [1.0, 3.0]
    assert UpdateClipping(norm=1.0).record_sensitivity(101, 1) == UpdateClipping(norm=1.0).client_sensitivity(1) == 2


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("clipping", [ExampleClipping(norm=0.3), UpdateClipping(norm=0.3)])
@pytest.mark.parametrize("steps", [1, 3])
def test_no_replaced_record_moves_an_update_further_than_its_sensitivity(clipping, steps):
    rng = np.random.default_rng(13)
    farthest = 0.0
    for _ in range(50):
        group = clients(rng, count=2, n=4)
        other = Client(group[0].features.copy(), group[0].labels.copy(), group[0].classes)
        other.features[0] = 10 * rng.normal(size=5)
        other.labels[0] = rng.integers(3)
        rules = TrainingRules(1, steps, 2.0, clipping=clipping)
        ends = [
            federated_averaging(Network((5, 3)), [first, group[1]], rules, np.random.default_rng(0)).updates[0][0]
            for first in (group[0], other)
        ]
        farthest = max(farthest, np.linalg.norm(ends[0] - ends[1]))
    assert 0 < farthest <= clipping.record_sensitivity(4, steps) + 1e-12


@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf, "1", True])
def test_clipping_norms_that_are_no_bound_are_refused(value):
    for kind in (ExampleClipping, UpdateClipping):
        with pytest.raises(ValueError, match="norm"):
            kind(norm=value)


def test_noise_scales_are_the_lectures_at_worked_values():
    # C = 1, n_i = 100: uplink sensitivity 0.02. sqrt(2 ln(1.25 / 1e-5)) = 4.8448; at epsilon 0.5 sigma = 0.19379.
    assert uplink_sensitivity(1.0, 100) == pytest.approx(0.02)
    assert classical_multiplier(0.5, 1e-5) * uplink_sensitivity(1.0, 100) == pytest.approx(0.193792, abs=1e-6)
    # p_i = 0.1, C = 1, m = 100: downlink sensitivity 0.002, sigma = 0.019379.
    assert downlink_sensitivity(1.0, 0.1, 100) == pytest.approx(0.002)
    assert classical_multiplier(0.5, 1e-5) * downlink_sensitivity(1.0, 0.1, 100) == pytest.approx(0.0193792, abs=1e-7)


def test_t_rounds_both_ways_cost_2_t_epsilon_serially():
    assert sequential_composition(0.1, 1e-6, 30, 2) == pytest.approx((6.0, 6e-5))
    up = SequentialNoise(epsilon=3.0, delta=3e-5)
    assert up.multiplier(30) == pytest.approx(classical_multiplier(0.1, 1e-6))
    records = people(60, np.random.default_rng(9))
    defense = FederatedAveraging(
        split=EqualSplit(clients=6), rounds=30, clipping=ExampleClipping(), uplink=up, downlink=up
    )
    guaranteed = defense.guarantee(records)
    assert guaranteed.epsilon == pytest.approx(6.0)
    assert guaranteed.delta == pytest.approx(6e-5)
    assert "record level" in guaranteed.statement
    assert "client level" in guaranteed.statement


@pytest.mark.thorough
def test_accountants_agree_with_each_other_and_need_less_noise():
    for rounds, budget in ((1, 0.5), (20, 8.0), (100, 2.0)):
        exact = PrivacyLossNoise(epsilon=budget, delta=1e-5).multiplier(rounds)
        renyi = RenyiNoise(epsilon=budget, delta=1e-5).multiplier(rounds)
        assert privacy_loss_epsilon(exact, rounds, 1e-5) == pytest.approx(budget, rel=2e-3)
        assert renyi_epsilon(renyi, rounds, 1e-5) <= budget
        assert exact <= renyi
        if budget < rounds:
            assert renyi < SequentialNoise(epsilon=budget, delta=1e-5).multiplier(rounds)
    assert gaussian_epsilon(gaussian_shift(2.0, 1e-5), 1e-5) == pytest.approx(2.0)
    # Balle and Wang, theorem 8: Phi(-1/2) - e Phi(-3/2).
    assert gaussian_epsilon(1.0, 0.30853754 - math.e * 0.06680720) == pytest.approx(1.0, abs=1e-6)
    for make in (SequentialNoise, RenyiNoise, PrivacyLossNoise):
        multiplier = make(epsilon=4.0, delta=1e-6).multiplier(30)
        assert gaussian_epsilon(np.sqrt(30) / multiplier, 1e-6) <= 4.0 + 1e-9


def test_client_level_follows_group_privacy_of_one_shift():
    records = people(60, np.random.default_rng(9))
    uplink = PrivacyLossNoise(epsilon=1.0, delta=1e-5)
    defense = FederatedAveraging(split=EqualSplit(clients=6), clipping=ExampleClipping(), uplink=uplink)
    # Ten records a client, one step: a client moves ten times as far as a record.
    expected = gaussian_epsilon(10 * gaussian_shift(1.0, 1e-5), 1e-5)
    assert f"client level: epsilon {expected:.3g}" in defense.guarantee(records).statement
    downlink_alone = FederatedAveraging(split=EqualSplit(clients=6), clipping=ExampleClipping(), downlink=uplink)
    assert downlink_alone.guarantee(records).epsilon is None
    assert "none against the server" in downlink_alone.guarantee(records).statement


@pytest.mark.parametrize("share", [0.0, 1.5])
def test_a_weight_of_a_client_is_a_share(share):
    with pytest.raises(ValueError, match="share"):
        downlink_sensitivity(1.0, share, 10)
    assert downlink_sensitivity(3.0, 1.0, 10) == 0.6


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
