"""Models of federated learning: gradients of single examples, several clients at once, bad input."""

import numpy as np
import pytest
from federated_tools import some

from defenses.federated import (
    Network,
    OneHiddenLayer,
)


@pytest.mark.parametrize("sizes", [(5, 3), (5, 4, 3)])
def test_gradients_are_those_of_the_loss(sizes):
    rng = np.random.default_rng(0)
    network = Network(sizes)
    weights, (features, labels) = rng.normal(size=network.size), some(rng)
    examples = network.example_gradients(weights, features, labels)
    step = 1e-6
    for place in range(network.size):
        moved = [weights + sign * step * np.eye(network.size)[place] for sign in (1, -1)]
        slope = (network.losses(moved[0], features, labels) - network.losses(moved[1], features, labels)) / (2 * step)
        np.testing.assert_allclose(examples[:, place], slope, atol=1e-7)
    np.testing.assert_allclose(network.gradient(weights, features, labels), examples.mean(axis=0))
    inputs, errors = network.errors(weights, features, labels)
    np.testing.assert_allclose(network.example_norms(inputs, errors), np.linalg.norm(examples, axis=1))


def test_clients_at_once_are_clients_one_by_one():
    rng = np.random.default_rng(1)
    network = Network((5, 4, 3))
    weights, features, labels = (
        rng.normal(size=(2, network.size)),
        rng.normal(size=(2, 6, 5)),
        rng.integers(3, size=(2, 6)),
    )
    together = network.gradient(weights, features, labels)
    for client in range(2):
        np.testing.assert_allclose(
            together[client], network.gradient(weights[client], features[client], labels[client])
        )


def test_a_layer_without_units_is_refused():
    with pytest.raises(ValueError, match="hidden"):
        OneHiddenLayer(hidden=0)
