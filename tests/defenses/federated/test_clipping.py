"""Clipping of gradients and updates: sensitivities and bad input."""

import math

import numpy as np
import pytest
from federated_tools import clients

from defenses.federated import (
    Client,
    ExampleClipping,
    Network,
    TrainingRules,
    UpdateClipping,
    federated_averaging,
    uplink_sensitivity,
)


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
