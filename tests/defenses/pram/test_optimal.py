from itertools import combinations

import numpy as np
import pytest

from defenses.pram import (
    epsilon,
    epsilon_for_k,
    expected_distance,
    optimal_retention,
    replace,
    retention_epsilon,
    retention_for_epsilon,
    transition_matrix,
)
from defenses.pram.optimal import pair_rows, program_flips
from scenarios import load

CHOICES = np.array([*combinations(range(6), 4)])
"""Four of the six rows that may meet in a corner."""


def private_scalars(d, e):
    """Corners of the set of (q_(1), q_(2), q_(d-1), q_(d)) of private q, from its rows alone."""
    large, small, k = max(e, d - 1), min(e, d - 1), e * (d - 1)
    rows = np.array(
        [[-1, -small / large, 0, 0], [0, 0, 1 / k, 1], [-1, 0, 0, 1 / e], [1, -1, 0, 0], [0, 1, -1, 0], [0, 0, 1, -1]]
    )
    bounds = np.array([-(d - 1) / large, 1, 0, 0, 0, 0])
    tolerance = 1e-13 * np.array([(d - 1) / large, 1, 1 / e, (d - 1) / large, 1, 1])
    independent = CHOICES[np.linalg.matrix_rank(rows[CHOICES], tol=1e-14) == 4]
    corners = np.linalg.solve(rows[independent], bounds[independent, None])[..., 0]
    return corners[(corners @ rows.T <= bounds + tolerance).all(axis=1)]


def certified_gap(counts, retention, e):
    """Bound on how far |v q - mean| / |v| is above the least possible one, by convexity.

    F = |v q - mean|^2 / 2 has F(q) - F(z) <= grad F(q) . (q - z). The z of least grad . z has its lowest value where
    the gradient is largest, its highest where it is smallest, and one of two values elsewhere.
    """
    counts = np.asarray(counts, float) / np.linalg.norm(counts)
    flips = 1 - retention
    moved = counts * flips
    gradient = counts * (moved - moved.mean())
    ranked = np.sort(gradient)
    rest = ranked[1:-1]
    costs = np.array([ranked[-1], rest[rest > 0].sum(), rest[rest <= 0].sum(), ranked[0]])
    gap = gradient @ flips - (private_scalars(counts.size, e) @ costs).min()
    norm = np.linalg.norm(moved - moved.mean())
    return norm - np.sqrt(max(norm**2 - 2 * max(gap, 0), 0))


def instances(number, sizes, seed):
    rng = np.random.default_rng(seed)
    yield np.array([17, 15, 3, 0]), 1.0
    yield np.array([988, 635, 466, 414, 123, 2]), 1.0
    for index in range(number):
        d = int(rng.choice(sizes))
        counts = [
            lambda d: rng.integers(0, 20, d),
            lambda d: rng.integers(1, 1000, d),
            lambda d: np.floor(10 * rng.pareto(0.7, d)),
            lambda d: rng.integers(0, 2, d) * rng.integers(1, 6, d),
            lambda d: rng.poisson(50, d),
            lambda d: 1000 + rng.integers(0, 3, d),
            lambda d: np.where(rng.random(d) < 0.5, 0, rng.integers(1, 10, d) * 10 ** rng.integers(0, 6, d)),
            lambda d: np.floor(np.exp(rng.uniform(0, np.log(1e12), d))),
        ][index % 8](d).astype(float)
        counts[0] += not counts.any()
        near = index % 5 == 0 and d > 3
        yield counts, float(np.log(d - 1) + rng.uniform(-0.01, 0.01)) if near else float(rng.uniform(0.05, 8))


def objective(counts, flips):
    moved = np.asarray(counts) * flips
    return float(np.linalg.norm(moved - moved.mean()))


@pytest.mark.parametrize(
    ("k", "replacement", "optimal"), [(2, 841.7, 736.36), (10, 1602.2, 1510.24), (100, 2340.7, 2290.93)]
)
def test_ages_of_adult_as_published(k, replacement, optimal):
    ages = load("adult").records.frame["age"]
    histogram = np.bincount(ages, minlength=91)[17:]
    assert (histogram.size, histogram.sum(), histogram.max(), (histogram == 0).sum()) == (74, 32561, 898, 1)
    level = epsilon_for_k(k, 32561)
    retention = optimal_retention(histogram, level)
    conventional = np.full(74, retention_for_epsilon(level, 74))
    assert expected_distance(histogram, conventional) == pytest.approx(replacement, abs=0.05)
    assert expected_distance(histogram, retention) == pytest.approx(optimal, abs=0.05)
    matrix = transition_matrix(retention)
    assert np.linalg.norm(matrix @ histogram - histogram) == pytest.approx(expected_distance(histogram, retention))
    assert epsilon(matrix) <= level
    if k == 2:
        flips = 1 - retention
        assert (flips.min(), flips.max()) == (pytest.approx(0.2880, abs=5e-5), pytest.approx(0.99992, abs=5e-6))
        assert (retention < 1 / 74).sum() == 22
        assert np.linalg.cond(matrix) == pytest.approx(2329, abs=1)
        retention[histogram == 0] = retention.min()  # as good and as private, but flips an empty age most
        assert expected_distance(histogram, retention) == pytest.approx(optimal, abs=0.05)
        assert retention_epsilon(retention) <= level
        assert (retention < 1 / 74).sum() == 23
        assert np.linalg.cond(transition_matrix(retention)) == pytest.approx(2513, abs=1)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("k", "least", "most"), [(2, (809.5, 721.2), (891, 784.4)), (10, (1555.7, 1470.3), (1654.9, 1564.4))]
)
def test_sampled_releases_of_the_ages_as_published(k, least, most):
    # The published mean distance, its minimum and maximum are of 100 releases each and vary by seed: 1 % and 2.5 %.
    ages = load("adult").records.frame["age"].to_numpy() - 17
    histogram, level, rng = np.bincount(ages, minlength=74), epsilon_for_k(k, 32561), np.random.default_rng(k)
    forms = np.full(74, retention_for_epsilon(level, 74)), optimal_retention(histogram, level)
    for form, smallest, largest in zip(forms, least, most, strict=True):
        released = np.array([np.bincount(replace(ages, form, rng), minlength=74) for _ in range(100)])
        distances = np.linalg.norm(released - histogram, axis=1)
        mean = np.linalg.norm(released.mean(axis=0) - histogram)
        assert mean == pytest.approx(expected_distance(histogram, form), rel=0.01)
        assert distances.min() == pytest.approx(smallest, rel=0.025)
        assert distances.max() == pytest.approx(largest, rel=0.025)


def test_published_closed_form_is_not_private_and_ours_is():
    counts, e = np.array([10.0, 6, 5]), 4.0
    published = (2 / e) / (5 / 6 + (2 / e) * (5 / 10))
    flawed = transition_matrix(1 - published * 5 / counts)
    assert epsilon(flawed) == pytest.approx(1.674, abs=5e-4)
    retention = optimal_retention(counts, np.log(e))
    assert epsilon(transition_matrix(retention)) <= np.log(e)
    assert expected_distance(counts, retention) < 1e-12
    np.testing.assert_allclose(1 - retention, 2 / (4 * 5 / 10 + 2 * 5 / 6) * 5 / counts, rtol=1e-12)


@pytest.mark.parametrize("e", [1.5, 1.9, 2.0])
def test_closed_form_equals_the_published_one_up_to_d_minus_1(e):
    counts = np.array([10.0, 9.5, 9])
    published = (2 / e) / (9 / 9.5 + (2 / e) * (9 / 10))
    np.testing.assert_allclose(1 - optimal_retention(counts, np.log(e)), published * 9 / counts, rtol=1e-12)


@pytest.mark.parametrize(("counts", "best"), [((17, 15, 3, 0), 9.685), ((988, 635, 466, 414, 123, 2), 584.396)])
def test_an_optimum_need_not_ascend(counts, best):
    retention = optimal_retention(counts, 1.0)
    assert expected_distance(counts, retention) == pytest.approx(best, abs=5e-4)
    assert (np.diff(1 - retention) < -1e-9).any()


@pytest.mark.parametrize("number", [40, pytest.param(220, marks=pytest.mark.long)])
def test_as_good_as_the_full_program_and_no_row_violated(number):
    compared = 0
    for counts, level in instances(number, [3, 4, 5, 6, 8, 10, 15, 25, 40], seed=1):
        flips = 1 - optimal_retention(counts, level)
        scale = np.linalg.norm(counts)
        rows, bounds = pair_rows(counts.size, np.exp(level))
        assert (rows @ flips - bounds).max() <= 1e-12
        reference = objective(counts, program_flips(counts, np.exp(level)))
        assert abs(objective(counts, flips) - reference) <= 1e-7 * scale, (counts.tolist(), level)
        compared += 1
    assert compared >= number


@pytest.mark.parametrize("number", [200, pytest.param(2000, marks=pytest.mark.long)])
def test_optimal_by_convexity(number):
    hard = [(np.array([5.0, 0, 6000, 0, 0, 0, 0, 1000]), 7.884132534930076), (np.array([1.0, 0, 0]), 30.5)]
    for counts, level in [*instances(number, [3, 4, 5, 7, 12, 60, 500], seed=2), *hard]:
        retention = optimal_retention(counts, level)
        assert certified_gap(counts, retention, np.exp(level)) <= 1e-8, (counts.tolist(), level)
        assert retention_epsilon(retention) <= level


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("level", [1e-12, 1e-9, 1e-6, 1e-3, 12.0, 20.0, 30.0])
def test_tiny_and_huge_epsilon(level):
    for counts, _ in instances(40, [3, 4, 7, 30], seed=3):
        retention = optimal_retention(counts, level)
        assert certified_gap(counts, retention, np.exp(level)) <= 1e-7
        assert retention_epsilon(retention) <= level


@pytest.mark.parametrize("number", [300, pytest.param(600, marks=pytest.mark.long)])
def test_probabilities_and_epsilon_hold_where_rounding_is_felt(number):
    rng = np.random.default_rng(7)
    for counts, _ in instances(number, [3, 4, 5, 8, 12, 40, 300], seed=7):
        level = rng.uniform(8, 36)
        retention = optimal_retention(counts, level)
        assert ((retention >= 0) & (retention <= 1)).all()
        assert retention_epsilon(retention) <= level
        assert certified_gap(counts, retention, np.exp(level)) <= 1e-7


@pytest.mark.parametrize("level", [35.0, 100.0, 1e3, 1e300])
def test_epsilon_beyond_double_precision_stays_finite(level):
    retention = optimal_retention([5, 4, 0, 1], level)
    assert retention_epsilon(retention) < 40
    assert expected_distance([5, 4, 0, 1], retention) < 1e-13
    assert epsilon(transition_matrix(retention)) <= level


def test_infinite_epsilon_keeps_everything():
    assert optimal_retention([5, 0, 1], np.inf).tolist() == [1, 1, 1]


def test_one_category_is_kept():
    assert optimal_retention([7], 0.1).tolist() == [1]


@pytest.mark.parametrize("counts", [(3, 1), (1, 3), (5, 0), (0, 5), (4, 4), (10**12, 1)])
@pytest.mark.parametrize("level", [0.01, 1.0, 5.0])
def test_two_categories_in_closed_form(counts, level):
    high, low = max(counts), min(counts)
    flips = {high: low / (high + np.exp(level) * low), low: high / (high + np.exp(level) * low)}
    retention = optimal_retention(counts, level)
    np.testing.assert_allclose(retention, [1 - flips[count] for count in counts], atol=1e-12)
    assert expected_distance(counts, retention) <= 1e-12 * high
    assert epsilon(transition_matrix(retention)) <= level


def test_order_scale_and_input_do_not_matter():
    counts = np.array([988.0, 2, 466, 414, 123, 635, 0, 0])
    kept = counts.copy()
    retention = optimal_retention(counts, 1.0)
    assert (counts == kept).all()
    np.testing.assert_allclose(optimal_retention(counts[::-1], 1.0)[::-1], retention, atol=1e-12)
    np.testing.assert_allclose(optimal_retention(counts * 1e9, 1.0), retention, atol=1e-12)
    assert retention[6] == retention[7]


def test_ties_are_treated_alike():
    for counts, level in instances(100, [4, 5, 8], seed=4):
        doubled = np.concatenate([counts, counts])
        retention = optimal_retention(doubled, level)
        np.testing.assert_allclose(retention[: counts.size], retention[counts.size :], atol=1e-6)


def test_equal_counts_are_replaced_as_conventionally():
    for level in (0.3, 2.0, 6.0):
        expected = np.full(5, retention_for_epsilon(level, 5))
        np.testing.assert_allclose(optimal_retention(np.full(5, 9), level), expected, atol=1e-12)


def test_empty_categories_flip_as_rarely_as_others_allow():
    flips = 1 - optimal_retention([50, 0, 40, 30, 0], 1.0)
    assert flips[1] == flips[4] == pytest.approx(np.sort(flips)[1])


def test_cvxopt_method_follows_algorithm_1():
    for counts, level in instances(30, [3, 5, 9], seed=5):
        exact, program = (expected_distance(counts, optimal_retention(counts, level, m)) for m in ("exact", "cvxopt"))
        assert abs(exact - program) <= 1e-6 * np.linalg.norm(counts)


def test_a_hundred_thousand_categories_are_optimal():
    rng = np.random.default_rng(6)
    for counts in (np.floor(10 * rng.pareto(1.2, 100_000)), rng.integers(0, 10**12, 100_000)):
        for level in (0.5, 5.0, 13.0):
            retention = optimal_retention(counts, level)
            assert certified_gap(counts, retention, np.exp(level)) <= 1e-8
            assert retention_epsilon(retention) <= level


@pytest.mark.parametrize(
    ("histogram", "level", "message"),
    [
        ([1, -2, 3], 1.0, "category 1"),
        ([1, np.nan], 1.0, "category 1"),
        ([np.inf, 1], 1.0, "category 0"),
        ([0, 0, 0], 1.0, "all zero"),
        ([], 1.0, "shape"),
        ([[1, 2], [3, 4]], 1.0, "shape"),
        ([1, 2, 3], 0.0, "epsilon"),
        ([1, 2, 3], -1.0, "epsilon"),
        ([1, 2, 3], np.nan, "epsilon"),
        ([1, 2, 3], "1", "epsilon"),
    ],
)
def test_bad_input_is_named(histogram, level, message):
    with pytest.raises(ValueError, match=message):
        optimal_retention(histogram, level)


def test_unknown_method():
    with pytest.raises(ValueError, match="method"):
        optimal_retention([1, 2, 3], 1.0, method="guess")
