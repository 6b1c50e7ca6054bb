"""The law of a report of a number: its grid, its pieces, and blank reports."""

import numpy as np
import pytest
from number_tools import MECHANISMS

from defenses.base.number_law import HALF_GRID
from defenses.ldp import PiecewiseMechanism


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 5.0, 40.0, 300.0])
def test_the_grid_keeps_epsilon_for_every_number(epsilon):
    law = PiecewiseMechanism(epsilon=epsilon).law
    # Probabilities of the grid points inside and outside of a piece, from b, N and M as the docstring has them.
    points, grid = 2 * law.half_piece + 1, 2 * HALF_GRID + 1
    outside = law.uniform / grid
    inside = outside + (1 - law.uniform) / points
    assert np.log(inside / outside) == pytest.approx(epsilon, rel=1e-9)
    assert points == np.round(points)
    assert points >= 1
    # Pieces never leave the grid, so that each has all its points.
    centres = law.centres(np.array([-1.0, -0.3, 1e-300, 0.999999999, 1.0]))
    assert (np.abs(centres) + law.half_piece <= HALF_GRID).all()
    assert (centres == np.round(centres)).all()


@pytest.mark.parametrize("make", MECHANISMS)
def test_reports_of_different_numbers_share_one_grid(make):
    mechanism = make(epsilon=1.0)
    for value in (0.1, 1 / 3, 0.123456789):
        reports = mechanism.randomize(np.full(1000, value), np.random.default_rng(1))
        reports = reports[np.abs(reports) != mechanism.law.atom]
        assert (reports == np.round(reports / mechanism.law.step) * mechanism.law.step).all()


@pytest.mark.parametrize("epsilon", [0.1, 2.0, 20.0, 80.0])
def test_the_values_of_a_report_are_those_whose_pieces_hold_it(epsilon):
    law = PiecewiseMechanism(epsilon=epsilon).law
    rng = np.random.default_rng(1)
    numbers, reports = rng.uniform(-1, 1, 2000), rng.uniform(-law.reach, law.reach, 2000)
    # Half of the reports lie near the own piece, on either side of its ends.
    low, high = law.pieces(numbers)
    reports[:1000] = (low + high)[:1000] / 2 + (high - low + law.step)[:1000] * rng.uniform(-0.7, 0.7, 1000)
    reports = np.clip(np.round(reports / law.step), -HALF_GRID, HALF_GRID) * law.step
    first, last = law.values(reports)
    inside = (low <= reports) & (reports <= high)
    assert 100 < inside.sum() < 1900
    # Rounding may decide otherwise within a step of an end, but only there.
    clear = np.minimum(np.abs(numbers - first), np.abs(numbers - last)) > 2 * law.step
    assert (inside == ((first <= numbers) & (numbers <= last)))[clear].all()


def test_a_missing_number_has_the_likelihood_of_uniform_reports_and_fair_signs():
    for make in MECHANISMS:
        law = make(epsilon=1.5).law
        blank = np.array([np.nan])
        if law.share > 0:
            expected = np.log(law.share / (2 * law.reach))
            assert law.log_likelihood([0.1, -law.reach], blank) == pytest.approx([expected] * 2)
        if law.share < 1:
            expected = np.log((1 - law.share) / 2)
            assert law.log_likelihood([law.atom, -law.atom], blank) == pytest.approx([expected] * 2)
