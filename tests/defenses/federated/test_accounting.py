"""Accounting for Gaussian noise over many rounds."""

import math

import numpy as np
import pytest

from defenses import FederatedAveraging
from defenses.federated import (
    EqualSplit,
    ExampleClipping,
    PrivacyLossNoise,
    RenyiNoise,
    SequentialNoise,
    classical_multiplier,
    downlink_sensitivity,
    gaussian_epsilon,
    gaussian_shift,
    privacy_loss_epsilon,
    renyi_epsilon,
    sequential_composition,
    uplink_sensitivity,
)
from scenarios.running.methods.invented_people import people


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
