"""The hybrid mechanism against the formulas of its paper."""

import numpy as np
import pytest
from scipy.optimize import brentq

from defenses.ldp import HybridMechanism, PiecewiseMechanism, TwoPointMechanism
from defenses.ldp.hybrid_mechanism import HYBRID_THRESHOLD

VALUES = np.linspace(-1, 1, 21)


def test_the_threshold_is_the_published_one():
    roots = 405 * np.sqrt(241)
    published = np.log((-5 + 2 * np.cbrt(6353 - roots) + 2 * np.cbrt(6353 + roots)) / 27)
    assert pytest.approx(published, abs=1e-12) == HYBRID_THRESHOLD

    def excess(epsilon):
        x, d = np.exp(epsilon / 2), 1 / np.tanh(epsilon / 2)
        return (x + 3) / (3 * x * (x - 1)) + d**2 / x - d**2

    assert brentq(excess, 0.1, 2) == pytest.approx(HYBRID_THRESHOLD, abs=1e-10)


@pytest.mark.parametrize("epsilon", [0.1, 0.6, 0.62, 1.0, 5.0])
def test_share_and_variance_are_the_published_ones(epsilon):
    mechanism, x = HybridMechanism(epsilon=epsilon), np.exp(epsilon / 2)
    variance = mechanism.variance(VALUES)
    if epsilon < HYBRID_THRESHOLD:
        assert mechanism.share == 0
        np.testing.assert_allclose(variance, TwoPointMechanism(epsilon=epsilon).variance(VALUES))
        return
    assert mechanism.share == pytest.approx(1 - 1 / x)
    published = (x + 3) / (3 * x * (x - 1)) + (x**2 + 1) ** 2 / (x * (x**2 - 1) ** 2)
    np.testing.assert_allclose(variance, published)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 0.65, 1.0, 2.0, 8.0])
def test_its_worst_variance_is_least(epsilon):
    worst = [
        make(epsilon=epsilon).variance(VALUES).max()
        for make in (HybridMechanism, PiecewiseMechanism, TwoPointMechanism)
    ]
    assert worst[0] <= min(worst[1:]) * (1 + 1e-12)


def test_atoms_are_read_as_atoms_and_other_reports_as_pieces():
    mechanism, n = HybridMechanism(epsilon=2.0), 50_000
    reports = mechanism.randomize(np.zeros(n), np.random.default_rng(3))
    atoms = mechanism.law.signs(reports) != 0
    # 5 standard errors: 6 in 10^7 runs raise an alarm.
    assert abs(atoms.mean() - (1 - mechanism.share)) < 5 * np.sqrt(mechanism.share * (1 - mechanism.share) / n)
    logs = mechanism.log_likelihood(reports, VALUES)
    two, piecewise = TwoPointMechanism(epsilon=2.0), PiecewiseMechanism(epsilon=2.0)
    np.testing.assert_allclose(
        logs[atoms], two.log_likelihood(reports[atoms], VALUES) + np.log1p(-mechanism.share), atol=1e-12
    )
    np.testing.assert_allclose(
        logs[~atoms], piecewise.log_likelihood(reports[~atoms], VALUES) + np.log(mechanism.share), atol=1e-12
    )


def test_at_the_threshold_no_report_is_piecewise():
    assert HybridMechanism(epsilon=HYBRID_THRESHOLD).share == 0
    above = np.nextafter(HYBRID_THRESHOLD, 1)
    assert HybridMechanism(epsilon=above).share == pytest.approx(-np.expm1(-above / 2))
