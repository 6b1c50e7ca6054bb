"""Noise of federated averaging: its scales, the accounts of it, and audits that hold them to it."""

import math

import numpy as np
import pytest

from defenses import FederatedAveraging
from defenses.federated import (
    Client,
    EqualSplit,
    ExampleClipping,
    Network,
    PrivacyLossNoise,
    RenyiNoise,
    SerialNoise,
    TrainingRules,
    classical_multiplier,
    downlink_sensitivity,
    federated_averaging,
    gaussian_epsilon,
    gaussian_shift,
    privacy_loss_epsilon,
    renyi_epsilon,
    serial_composition,
    uplink_sensitivity,
)
from defenses.federated.discrete_noise import noisy_on_grid, part_of_noise
from metrics.empirical_epsilon import epsilon_lower_bound
from scenarios.conformance.people import people


def test_noise_scales_are_the_lectures_at_worked_values():
    # C = 1, n_i = 100: uplink sensitivity 0.02. sqrt(2 ln(1.25 / 1e-5)) = 4.8448; at epsilon 0.5 sigma = 0.19379.
    assert uplink_sensitivity(1.0, 100) == pytest.approx(0.02)
    assert classical_multiplier(0.5, 1e-5) * uplink_sensitivity(1.0, 100) == pytest.approx(0.193792, abs=1e-6)
    # p_i = 0.1, C = 1, m = 100: downlink sensitivity 0.002, sigma = 0.019379.
    assert downlink_sensitivity(1.0, 0.1, 100) == pytest.approx(0.002)
    assert classical_multiplier(0.5, 1e-5) * downlink_sensitivity(1.0, 0.1, 100) == pytest.approx(0.0193792, abs=1e-7)


def test_parts_of_discrete_noise_add_up_to_the_multiplier():
    # Beyond the stated noise by the rounding of vectors and of noise alone.
    step, length, parties = 2.0**-24, 300, 50
    part = part_of_noise(4.0, 0.02, length, step, parties)
    assert part * np.sqrt(parties) * step == pytest.approx(4.0 * 0.02, rel=1e-3)
    assert part * np.sqrt(parties) >= 4.0 * (0.02 / step + np.sqrt(length))
    with pytest.raises(ValueError, match="fraction_bits"):
        part_of_noise(0.1, 1.0, 1, 1.0, 1)
    values = np.random.default_rng(0).normal(size=(parties, 400))
    sent = noisy_on_grid(values, part, step, np.random.default_rng(1))
    np.testing.assert_array_equal(sent / step, np.rint(sent / step))
    noise = (sent - values).sum(axis=0)
    assert noise.std() == pytest.approx(4.0 * 0.02, rel=0.15)  # 400 draws: 4.2 standard errors


def test_sums_of_discrete_noise_are_discrete_noise_as_the_proof_says():
    # Two parties of the least parameter allowed; the convolution, exactly, beside one discrete Gaussian.
    part = 4 * np.sqrt(2)
    numbers = np.arange(-120, 121)

    def law(parameter, places):
        weights = np.exp(-np.square(places / parameter) / 2)
        return weights / weights.sum()

    both = np.convolve(law(part, numbers), law(part, numbers))
    wide = np.arange(-240, 241)
    one = law(part * np.sqrt(2), wide)
    near = np.abs(wide) <= 60
    np.testing.assert_allclose(both[near], one[near], rtol=1e-12)
    # And a parameter far below: not the same.
    narrow, middle = np.convolve(law(0.4, numbers), law(0.4, numbers)), slice(240 - 2, 240 + 3)
    assert np.abs(narrow[middle] / law(0.4 * np.sqrt(2), wide)[middle] - 1).max() > 1e-3
    # Rounding Gaussian noise of parameter s by a discrete Gaussian of parameter 4: sqrt(s^2 + 4^2).
    fine, spread = np.linspace(-80, 80, 40_001), 7.0
    normal = np.exp(-np.square(fine / spread) / 2)
    rows = np.exp(-np.square((numbers[:, None] - fine) / 4) / 2)
    rounded = (rows / rows.sum(axis=0)) @ (normal / normal.sum())
    expected = law(np.hypot(spread, 4), numbers)
    near = np.abs(numbers) <= 30
    np.testing.assert_allclose(rounded[near], expected[near], rtol=1e-9)


def test_t_rounds_both_ways_cost_2_t_epsilon_serially():
    assert serial_composition(0.1, 1e-6, 30, 2) == pytest.approx((6.0, 6e-5))
    up = SerialNoise(epsilon=3.0, delta=3e-5)
    assert up.multiplier(30) == pytest.approx(classical_multiplier(0.1, 1e-6))
    records = people(60, np.random.default_rng(9))
    defense = FederatedAveraging(
        split=EqualSplit(clients=6), rounds=30, clipping=ExampleClipping(), uplink=up, downlink=up
    )
    promised = defense.guarantee(records)
    assert promised.epsilon == pytest.approx(6.0)
    assert promised.delta == pytest.approx(6e-5)
    assert "record level" in promised.statement
    assert "client level" in promised.statement


def test_accountants_agree_with_each_other_and_need_less_noise():
    for rounds, budget in ((1, 0.5), (20, 8.0), (100, 2.0)):
        exact = PrivacyLossNoise(epsilon=budget, delta=1e-5).multiplier(rounds)
        renyi = RenyiNoise(epsilon=budget, delta=1e-5).multiplier(rounds)
        assert privacy_loss_epsilon(exact, rounds, 1e-5) == pytest.approx(budget, rel=2e-3)
        assert renyi_epsilon(renyi, rounds, 1e-5) <= budget
        assert exact <= renyi
        if budget < rounds:
            assert renyi < SerialNoise(epsilon=budget, delta=1e-5).multiplier(rounds)
    assert gaussian_epsilon(gaussian_shift(2.0, 1e-5), 1e-5) == pytest.approx(2.0)
    # Balle and Wang, theorem 8: Phi(-1/2) - e Phi(-3/2).
    assert gaussian_epsilon(1.0, 0.30853754 - math.e * 0.06680720) == pytest.approx(1.0, abs=1e-6)
    for make in (SerialNoise, RenyiNoise, PrivacyLossNoise):
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


class HalfTheNoise(PrivacyLossNoise):
    """Claims its budget and spends more."""

    def multiplier(self, rounds):
        return super().multiplier(rounds) / 2


def audited(noise, delta, rounds=5, runs=20_000, seed=11):
    """Lower bound on epsilon of a client's updates over all rounds, on the worst neighbours (confidence 99.9 %).

    One record of four turns its gradient around, which moves an update as far as clipping lets it. Every client of one
    training is a run of its own. Weights do not move (rate 1e-12), so that the sum over rounds along the record's
    direction is the most telling statistic; its threshold is chosen on a first half of the runs.
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


def told_apart(first, second, delta):
    """Lower bound on epsilon from what an auditor saw in one world and in the other."""
    half = len(first) // 2
    cuts = np.quantile(first[:half], np.linspace(0.02, 0.98, 49))

    def counts(part, cuts):
        return (part > np.reshape(cuts, (-1, 1))).sum(axis=1)

    bounds = epsilon_lower_bound(
        counts(first[:half], cuts), half, counts(second[:half], cuts), half, delta=delta, confidence=0.999
    )
    cut = cuts[int(np.argmax(bounds))]
    fresh = [counts(part[half:], cut) for part in (first, second)]
    return float(epsilon_lower_bound(fresh[0], half, fresh[1], half, delta=delta, confidence=0.999)[0])


@pytest.mark.parametrize("make", [SerialNoise, RenyiNoise, PrivacyLossNoise])
def test_an_audit_never_exceeds_the_accountants_bound(make):
    # Three audits, each wrong with 0.1 %.
    noise = make(epsilon=2.0, delta=1e-3)
    bound = audited(noise, 1e-3)
    assert bound <= 2.0
    assert bound <= gaussian_epsilon(np.sqrt(5) / noise.multiplier(5), 1e-3)
    assert bound <= privacy_loss_epsilon(noise.multiplier(5), 5, 1e-3)
    if make is PrivacyLossNoise:
        assert bound > 1.0


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_an_audit_of_a_secure_sums_noise(share):
    # Five rounds of three parties' sums of one number; at half the noise the audit must catch it. Two audits.
    step, parties, rounds, runs, sensitivity = 2.0**-12, 3, 5, 20_000, 0.25
    multiplier = PrivacyLossNoise(epsilon=2.0, delta=1e-3).multiplier(rounds)
    part = part_of_noise(multiplier, sensitivity, 1, step, parties) * share
    rng = np.random.default_rng(12)
    worlds = [noisy_on_grid(np.zeros((runs, rounds * parties)), part, step, rng).sum(axis=1) for _ in range(2)]
    bound = told_apart(worlds[0] + rounds * sensitivity, worlds[1], 1e-3)
    assert 1.0 < bound <= 2.0 if share == 1 else bound > 2.0


def test_the_audit_catches_half_the_noise():
    assert audited(HalfTheNoise(epsilon=2.0, delta=1e-3), 1e-3) > 2.0
