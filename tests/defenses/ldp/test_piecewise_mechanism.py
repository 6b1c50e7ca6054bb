"""The piecewise mechanism against the formulas of its paper."""

import numpy as np
import pytest

from defenses.ldp import PiecewiseMechanism, TwoPointMechanism


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0, 20.0])
@pytest.mark.parametrize("value", [-1.0, -0.25, 0.0, 0.8])
def test_density_range_and_variance_are_the_published_ones(epsilon, value):
    mechanism, root = PiecewiseMechanism(epsilon=epsilon), np.exp(epsilon / 2)
    c = (root + 1) / (root - 1)
    p = (np.exp(epsilon) - root) / (2 * root + 2)
    assert mechanism.largest_report == pytest.approx(c)
    left = (c + 1) / 2 * value - (c - 1) / 2
    right = left + c - 1
    reports = np.linspace(-c, c, 1001)
    # Points at an end of the piece are left out: the grid decides them.
    reports = reports[np.minimum(np.abs(reports - left), np.abs(reports - right)) > 1e-9]
    inside = (reports >= left) & (reports <= right)
    density = np.exp(mechanism.log_likelihood(reports, np.array([value]))[:, 0])
    np.testing.assert_allclose(density, np.where(inside, p, p / np.exp(epsilon)), rtol=1e-9)
    published = value**2 / (root - 1) + (root + 3) / (3 * (root - 1) ** 2)
    assert float(mechanism.variance(value)) == pytest.approx(published)


def test_it_beats_two_points_in_the_worst_case_above_epsilon_1_29():
    for epsilon, better in ((0.5, False), (1.28, False), (1.3, True), (4.0, True)):
        piecewise = PiecewiseMechanism(epsilon=epsilon).variance([-1.0, 1.0, 0.0]).max()
        assert (piecewise < TwoPointMechanism(epsilon=epsilon).variance(0.0)) == better


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
@pytest.mark.parametrize("value", [-1.0, 0.3])
def test_the_guess_of_a_report_is_within_the_piece_as_often_as_stated(epsilon, value):
    mechanism, n = PiecewiseMechanism(epsilon=epsilon), 100_000
    reports = mechanism.randomize(np.full(n, value), np.random.default_rng(9))
    guess = 2 * reports / (mechanism.largest_report + 1)
    rate = np.mean(np.abs(guess - value) <= np.exp(-epsilon / 2) + 1e-12)
    expected = mechanism.within_piece
    assert expected == pytest.approx(np.exp(epsilon / 2) / (np.exp(epsilon / 2) + 1))
    # 6 comparisons in 4.5 standard errors: 4 in 10^5 runs raise an alarm.
    assert abs(rate - expected) < 4.5 * np.sqrt(expected * (1 - expected) / n)
