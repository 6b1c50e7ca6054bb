"""Private quantiles on public grids: the grid, the law of the selection, and the stated error with its rounding."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from defenses import Curator, Microdata
from defenses.base.queries import Median, Quantile
from defenses.curators.answer_plan import EVEN_STEPS, QuantileGrid
from defenses.curators.planning import plan_of
from defenses.dp import Exponential
from metrics.columns.domains import NumericDomain


def table(values, domain):
    return Microdata(pd.DataFrame({"x": np.asarray(values, dtype=float)}), domains={"x": domain})


def expanded(query, records, epsilon, neighbours="replace", sensitivity=None):
    """Probability of every point of a small grid, from the groups that the plan makes."""
    plan = plan_of(query, records, neighbours)
    ((starts, scores),), grid = plan.exact(records), plan.parts[0].grid
    sizes = np.diff(starts, append=grid.points)
    mechanism = Exponential(epsilon=epsilon, sensitivity=sensitivity or plan.parts[0].sensitivity)
    return mechanism.probabilities(np.repeat(scores, sizes))


@pytest.mark.parametrize(
    ("low", "high", "decimals", "points", "step"),
    [
        (0, 10**9, 0, 10**9 + 1, 1),
        (-7.5, -2.5, 0, 5, 1),
        (0.2, 0.8, 0, 0, 1),
        (-0.3, 0.1, 1, 5, 0.1),
        (0.0, 5000.0, None, EVEN_STEPS + 1, 5000 / 2**40),
        (4.0, 4.0, None, 1, 0),
        (4.0, 4.0, 0, 1, 1),
        (0.0, 1e16, 0, 5 * 10**15 + 1, 2),
        (-1e140, 1e140, 0, None, 2e140 / 2**53),
        (1e6, 1e6 + 1e-6, None, 8591, 2.0**-33),
        (0.0, 1e-140, None, EVEN_STEPS + 1, 1e-140 / 2**40),
    ],
)
def test_points_of_a_grid(low, high, decimals, points, step):
    grid = QuantileGrid.of(low, high, decimals=decimals)
    assert points is None or grid.points == points
    assert float(grid.step) == pytest.approx(step, rel=1e-3)
    if not grid.points:
        return
    places = sorted({0, grid.points // 3, grid.points - 1})
    values = [grid.value(place) for place in places]
    assert low <= values[0] <= values[-1] <= high
    assert np.abs(grid.positions(np.array(values)) - places).max() <= 1
    # No number within the bounds is rounded by more than half a step, beside the last point by less than one.
    assert high - values[-1] < max(float(grid.step), 1e-12)


def test_numbers_with_declared_decimals_are_shown_as_they_are():
    grid = QuantileGrid.of(-5.0, 5.0, decimals=3)
    assert [grid.value(place) for place in grid.positions(np.array([0.513, -4.999, 5.0]))] == [0.513, -4.999, 5.0]


@pytest.mark.thorough
@pytest.mark.parametrize("epsilon", [0.5, 8.0, 300.0])
def test_groups_are_selected_as_their_options_would_be(epsilon):
    scores, sizes = np.array([-3.0, 0.0, -1.0, 0.0, -40.0]), np.array([5, 1, 7, 2, 50])
    rng, runs = np.random.default_rng(4), 1500
    offsets = np.cumsum(sizes) - sizes
    drawn = [Exponential(epsilon=epsilon).release_grouped(scores, sizes, rng) for _ in range(runs)]
    counts = np.bincount([offsets[group] + place for group, place in drawn], minlength=sizes.sum())
    expected = runs * Exponential(epsilon=epsilon).probabilities(np.repeat(scores, sizes))
    rare = expected < 5
    assert counts[expected < 1e-9].sum() == 0
    seen, likely = (np.append(part[~rare], part[rare].sum()) for part in (counts, expected))
    # A false alarm in one of 10,000 seeds.
    assert stats.chisquare(seen[likely > 0], likely[likely > 0]).pvalue > 1e-4


@pytest.mark.thorough
def test_groups_of_many_options_that_are_far_below_the_best_are_reached():
    """The weight of an option below 2^-128 counts, as there may be very many: 2^60 points of weight e^-41.59."""
    scores, sizes = np.array([0.0, -60 * math.log(2)]), np.array([1, 2**60])
    rng = np.random.default_rng(5)
    groups = [Exponential(epsilon=2.0).release_grouped(scores, sizes, rng)[0] for _ in range(2000)]
    # Both groups have half of the weight; 5 standard deviations.
    assert abs(np.mean(groups) - 0.5) < 5 * 0.5 / math.sqrt(2000)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("neighbours", ["replace", "add or remove"])
@pytest.mark.parametrize("level", [0.0, 0.3, 0.5, 1.0])
def test_laws_of_neighbouring_tables_differ_by_epsilon_at_most(neighbours, level):
    """Every point of small tables and all their neighbours; a sensitivity of half the true one would be caught."""
    epsilon, rng = 1.0, np.random.default_rng(6)
    largest = {None: 0.0, 0.5: 0.0}
    for domain in (NumericDomain(-3, 9, integer=True), NumericDomain(-0.5, 0.5, decimals=1)):
        for _ in range(6):
            values = rng.uniform(domain.low, domain.high, rng.integers(1, 6)).round(1)
            others = [np.append(values, extra) for extra in (domain.low, 0.0, domain.high)]
            if neighbours == "replace":
                others = [np.append(values[1:], extra) for extra in np.linspace(domain.low, domain.high, 9)]
            for claimed in largest:
                laws = [
                    np.log(expanded(Quantile("x", level), table(one, domain), epsilon, neighbours, claimed))
                    for one in (values, *others)
                ]
                largest[claimed] = max([largest[claimed], *(np.abs(laws[0] - law).max() for law in laws[1:])])
    assert largest[None] <= epsilon * (1 + 1e-9)
    assert largest[0.5] > epsilon * 1.05


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("domain", "values"),
    [
        (NumericDomain(0, 10**9, integer=True), np.arange(20_000, 60_000, 40)),
        (NumericDomain(-(10**9), 10**9, integer=True), np.arange(-500, 500)),
        (NumericDomain(0, 5000), np.linspace(0.001, 1, 1000).round(3)),
        (NumericDomain(0, 1e12, decimals=2), np.linspace(3, 9, 1000).round(2)),
        (NumericDomain(0, 5000), np.full(1000, 0.513)),
    ],
)
def test_a_quantile_of_a_small_part_of_wide_bounds_is_within_its_stated_error(domain, values):
    records = table(values, domain)
    for seed in range(10):
        session = Curator(epsilon=2.0).session(records, np.random.default_rng(seed))
        measured = session.measure(Median("x"), 2.0, confidence=0.999)
        (part,) = measured.bounds
        assert part.step <= 1
        ranks, half = int(part.bound) + 1, part.step / 2 * 1.001
        middle = len(values) // 2
        assert values[middle - ranks] - half <= measured.answer <= values[middle + ranks] + half
        assert not measured.note


def test_a_coarse_step_is_stated_and_noted():
    session = Curator(epsilon=2.0).session(table([0.5] * 1000, NumericDomain(0, 1e15)), np.random.default_rng(1))
    measured = session.measure(Median("x"))
    assert measured.bounds[0].step == pytest.approx(1e15 / 2**40)
    assert "coarse" in measured.note
    assert "'decimals'" in measured.note
    constant = Curator().session(table([4.0, 4.0], NumericDomain(4, 4)), np.random.default_rng(1))
    assert constant.answer(Median("x")) == 4.0
