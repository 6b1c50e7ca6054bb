"""Speed of federated training and of secure sums, beside the plain way."""

import numpy as np
import pytest

from defenses import FederatedAveraging
from defenses.federated import (
    AdditiveShares,
    Client,
    Encoding,
    EqualSplit,
    Network,
    PairwiseMasks,
    SecureAggregation,
    TrainingRules,
    federated_averaging,
    secure_greater,
    secure_maximum,
)
from scenarios import load


def test_a_hundred_clients_fifty_rounds(benchmark):
    records = load("adult").records
    defense = FederatedAveraging(split=EqualSplit(clients=100), rounds=50)
    benchmark.pedantic(defense.apply, (records, np.random.default_rng(0)), rounds=1)
    assert benchmark.stats["max"] <= 20


@pytest.fixture(scope="module")
def small_clients():
    """Two thousand clients of eight records."""
    records = load("adult").records.take(np.arange(16_000))
    encoding = Encoding.of(records)
    features, labels = encoding.features(records.frame), encoding.labels(records.frame)
    parts = np.arange(16_000).reshape(2000, 8)
    return [Client(features[part], labels[part], encoding.classes) for part in parts]


def test_small_clients_at_once(benchmark, small_clients):
    network = Network((small_clients[0].features.shape[1], 2))
    benchmark.pedantic(
        federated_averaging, (network, small_clients, TrainingRules(20, 1, 0.5), np.random.default_rng(0)), rounds=1
    )


def test_small_clients_one_by_one(benchmark, small_clients):
    network = Network((small_clients[0].features.shape[1], 2))

    def train():
        weights = np.zeros(network.size)
        for _ in range(20):
            steps = [network.gradient(weights, client.features, client.labels) for client in small_clients]
            weights = weights - 0.5 * np.mean(steps, axis=0)

    benchmark.pedantic(train, rounds=1)


@pytest.mark.parametrize("protocol", [AdditiveShares(), PairwiseMasks()], ids=["additive", "masks"])
def test_a_thousand_clients_ten_thousand_weights(benchmark, protocol):
    values = np.random.default_rng(0).normal(size=(1000, 10_000))
    total = benchmark.pedantic(SecureAggregation(protocol=protocol).total, (values, np.random.default_rng(1)), rounds=1)
    np.testing.assert_allclose(total, values.sum(axis=0), atol=1e-4)
    assert benchmark.stats["max"] <= 10


def test_a_plain_sum(benchmark):
    values = np.random.default_rng(0).normal(size=(1000, 10_000))
    benchmark(values.sum, axis=0)


def test_a_garbled_comparison_of_32_bits(benchmark):
    rng = np.random.default_rng(0)
    benchmark.pedantic(secure_greater, (1_200_000, 950_000, rng), rounds=50, warmup_rounds=2)
    assert benchmark.stats["min"] <= 0.020


def test_a_garbled_maximum_of_a_thousand_numbers(benchmark):
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 2**32, 1000)
    answer = benchmark.pedantic(secure_maximum, (numbers, rng), rounds=1)
    assert answer.value == numbers.max()
    assert benchmark.stats["max"] <= 5
