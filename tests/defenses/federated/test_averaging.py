"""Federated averaging: noise scales, dropouts, equality with central training, bad input."""

from dataclasses import replace

import numpy as np
import pytest
from federated_tools import clients, some

from defenses.federated import (
    AdditiveShares,
    AggregationError,
    Client,
    ExampleClipping,
    Network,
    PairwiseMasks,
    PrivacyLossNoise,
    RenyiNoise,
    SecureAggregation,
    SequentialNoise,
    ShamirShares,
    TrainingRules,
    classical_multiplier,
    downlink_sensitivity,
    federated_averaging,
    uplink_sensitivity,
)
from defenses.federated.averaging import Sensitivities


def test_the_training_uses_these_scales():
    noise = SequentialNoise(epsilon=5.0, delta=1e-4)
    rules = TrainingRules(10, 1, 0.5, clipping=ExampleClipping(norm=1.0), uplink=noise, downlink=noise)
    sizes = np.array([100, 300, 600])
    moved = Sensitivities.of(rules, sizes, np.arange(3), np.arange(3))
    assert noise.multiplier(10) == pytest.approx(classical_multiplier(0.5, 1e-5))
    assert moved.uplink == pytest.approx(uplink_sensitivity(1.0, 100))
    assert moved.downlink == pytest.approx(downlink_sensitivity(1.0, 0.6, 100))
    # Of a sum, p_i 2C / n_i; of the mean of the first two alone, with the smallest of all clients.
    hidden = replace(rules, aggregation=SecureAggregation())
    assert Sensitivities.of(hidden, sizes, np.arange(3), np.arange(2)).uplink == pytest.approx(0.1 * 2 / 100)
    assert Sensitivities.of(rules, sizes, np.arange(3), np.arange(2)).downlink == pytest.approx(0.75 * 2 / 100)


@pytest.mark.parametrize("make", [SequentialNoise, RenyiNoise, PrivacyLossNoise])
def test_the_noise_of_a_secure_sum_has_its_scale_with_dropouts_too(make):
    group = clients(np.random.default_rng(7), count=20, n=5, d=60)
    noise = make(epsilon=0.5, delta=1e-5)
    noises = {}
    for dropout in (0.0, 0.3):
        rules = TrainingRules(
            1, 1, 0.5, dropout=dropout, clipping=ExampleClipping(norm=1.0), aggregation=SecureAggregation()
        )
        plain, seen = (
            federated_averaging(Network((60, 3)), group, part, np.random.default_rng(8))
            for part in (rules, replace(rules, uplink=noise))
        )
        answering = 20 - int(dropout * 20)
        assert seen.participants[0].size == answering
        np.testing.assert_array_equal(seen.participants[0], plain.participants[0])
        # 2C/n of the 100 records drawn, over the weight of those that answer: 2C over their records.
        wanted = noise.multiplier(1) * 2 / (5 * answering)
        assert seen.noise == pytest.approx(wanted, rel=1e-3)
        noises[dropout] = (seen.aggregates[0] - plain.aggregates[0]).std() / wanted
    # 183 draws each: 4 standard errors.
    assert list(noises.values()) == pytest.approx([1, 1], abs=0.21)


@pytest.mark.parametrize("protocol", [AdditiveShares(), ShamirShares(), PairwiseMasks()], ids=repr)
def test_clients_drop_out_of_a_training(protocol):
    group = [Client(*some(np.random.default_rng(n), n), ("a", "b", "c")) for n in range(3, 15)]
    rules = TrainingRules(6, 2, 0.7, dropout=0.25)
    plain = federated_averaging(Network((5, 3)), group, rules, np.random.default_rng(0))
    hidden = federated_averaging(
        Network((5, 3)),
        group,
        replace(rules, aggregation=SecureAggregation(protocol=protocol)),
        np.random.default_rng(0),
    )
    assert [part.size for part in hidden.participants] == [9] * 6
    assert len({tuple(part) for part in hidden.participants}) > 1
    for ours, theirs in zip(plain.updates, plain.participants, strict=True):
        assert sorted(ours) == theirs.tolist()
    # The mean over those who answer, by their own weights, either way.
    np.testing.assert_allclose(hidden.models[-1], plain.models[-1], atol=1e-5)
    few = replace(rules, aggregation=SecureAggregation(protocol=protocol, minimum=10))
    with pytest.raises(AggregationError, match="too few clients: 9 send and 10 are needed"):
        federated_averaging(Network((5, 3)), group, few, np.random.default_rng(0))


def test_noise_in_the_updates_has_its_scale():
    rng = np.random.default_rng(7)
    group = clients(rng, count=40, n=5, d=30)
    rules = TrainingRules(1, 1, 0.5, clipping=ExampleClipping(norm=1.0))
    plain = federated_averaging(Network((30, 3)), group, rules, np.random.default_rng(8))
    noise = SequentialNoise(epsilon=0.5, delta=1e-5)
    noised = TrainingRules(1, 1, 0.5, clipping=ExampleClipping(norm=1.0), uplink=noise)
    seen = federated_averaging(Network((30, 3)), group, noised, np.random.default_rng(8))
    noise = np.array([seen.updates[0][client] - plain.updates[0][client] for client in range(40)])
    wanted = classical_multiplier(0.5, 1e-5) * 2 / 5
    assert noise.std() == pytest.approx(wanted, rel=0.05)  # 3,720 draws: 4.3 standard errors


def test_one_step_of_averaging_is_a_step_on_all_records():
    rng = np.random.default_rng(14)
    group = [Client(*some(rng, n), ("a", "b", "c")) for n in (3, 9, 5)]
    network = Network((5, 3))
    training = federated_averaging(network, group, TrainingRules(6, 1, 0.7), np.random.default_rng(15))
    features, labels = (np.concatenate([getattr(c, name) for c in group]) for name in ("features", "labels"))
    weights = training.models[0]
    for _ in range(6):
        weights = weights - 0.7 * network.gradient(weights, features, labels)
    np.testing.assert_allclose(training.models[-1], weights, atol=1e-12)


def test_clients_are_drawn():
    training = federated_averaging(
        Network((5, 3)),
        clients(np.random.default_rng(18), 10),
        TrainingRules(8, 1, 0.5, participation=0.3),
        np.random.default_rng(0),
    )
    assert [part.size for part in training.participants] == [3] * 8
    assert len({tuple(part) for part in training.participants}) > 1


def bad(group, rules=None, network=None):
    return federated_averaging(
        network or Network((5, 3)), group, rules or TrainingRules(2, 1, 0.5), np.random.default_rng(0)
    )


def test_bad_clients_are_refused():
    group = clients(np.random.default_rng(19))
    with pytest.raises(ValueError, match="at least 2 are needed, got 1"):
        bad(group[:1])
    with pytest.raises(ValueError, match="client 1 is empty"):
        bad([group[0], Client(np.zeros((0, 5)), np.zeros(0, dtype=np.intp), group[0].classes)])
    with pytest.raises(ValueError, match="client 1: features must be finite"):
        bad([group[0], Client(np.full((2, 5), np.nan), np.zeros(2, dtype=np.intp), group[0].classes)])
    with pytest.raises(ValueError, match=r"client 1: its classes .* differ from those of client 0"):
        bad([group[0], Client(group[1].features, group[1].labels, ("a", "b"))])
    with pytest.raises(ValueError, match="client 1: a label is none"):
        bad([group[0], Client(group[1].features, group[1].labels + 3, group[1].classes)])
    with pytest.raises(ValueError, match="client 0: features of shape"):
        bad([Client(group[0].features[:2], group[0].labels, group[0].classes), group[1]])


def test_gradients_that_are_not_finite_name_client_and_round():
    group = clients(np.random.default_rng(20))
    huge = [Client(client.features * 1e200, client.labels, client.classes) for client in group]
    with pytest.raises(ValueError, match=r"client \d, round \d: the gradient is not finite"):
        bad(huge, TrainingRules(5, 1, 1e200), Network((5, 4, 3)))
