"""The two-point mechanism against the formulas of its paper."""

import numpy as np
import pytest

from defenses.ldp import TwoPointMechanism


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("value", [-1.0, -0.25, 0.0, 0.8])
def test_reports_probabilities_and_variance_are_the_published_ones(epsilon, value):
    mechanism, odds = TwoPointMechanism(epsilon=epsilon), np.exp(epsilon)
    d = (odds + 1) / (odds - 1)
    reports = mechanism.randomize(np.full(1000, value), np.random.default_rng(0))
    assert np.unique(np.abs(reports)) == pytest.approx([d])
    up = (odds - 1) / (2 * odds + 2) * value + 0.5
    sent = np.unique(reports)
    assert sent.size == 2
    logs = mechanism.log_likelihood(sent, np.array([value]))[:, 0]
    assert np.exp(logs) == pytest.approx([1 - up, up])
    assert float(mechanism.variance(value)) == pytest.approx(d**2 - value**2)
    assert mechanism.advantage == pytest.approx((odds - 1) / (odds + 1))


def test_other_reports_are_impossible():
    assert (TwoPointMechanism(epsilon=1.0).log_likelihood([0.0, 0.5], [0.0, 1.0]) == -np.inf).all()
