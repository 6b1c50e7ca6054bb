"""Sensitivities: the formulas bound every pair of neighbours, and some pair attains them."""

import math
from functools import cache

import numpy as np
import pytest

from defenses.dp import brute_force_sensitivity, clip
from defenses.dp.sensitivity import (
    count_sensitivity,
    covariance_sensitivity,
    histogram_sensitivity,
    maximum_sensitivity,
    mean_sensitivity,
    median_smooth_sensitivity,
    quantile_score_sensitivity,
    rank_scores,
    standard_deviation_sensitivity,
    sum_sensitivity,
    variance_sensitivity,
)

LOW, HIGH = -1.0, 3.0
N = 6


@cache
def neighbours(relation, columns=1, trials=1500):
    """Random pairs of neighbouring tables within the bounds, many of them with values at the ends."""
    generator, pairs = np.random.default_rng(0), []

    def draw(n):
        inside = generator.uniform(LOW, HIGH, (n, columns))
        ends = generator.choice([LOW, HIGH], (n, columns))
        return np.where(generator.random((n, columns)) < generator.choice([0.1, 0.5, 0.9, 1.0]), ends, inside)

    for _ in range(trials):
        table = draw(N)
        if generator.random() < 0.3:
            table[:] = table[0]
        if relation == "replace":
            other = table.copy()
            other[0] = draw(1)[0]
        else:
            other = table[1:]
            if generator.random() < 0.3:
                table[0] = draw(1)[0]
        pairs.append((table, other))
    return pairs


def changes(relation, query, **how):
    return max(np.abs(np.asarray(query(a)) - np.asarray(query(b))).sum() for a, b in neighbours(relation, **how))


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("relation", ["replace", "add or remove"])
@pytest.mark.parametrize(
    ("query", "formula"),
    [
        (lambda t: np.sum(t), lambda r: sum_sensitivity(LOW, HIGH, r)),
        (lambda t: np.mean(t), lambda r: mean_sensitivity(LOW, HIGH, N, r)),
        (lambda t: np.max(t), lambda r: maximum_sensitivity(LOW, HIGH, r)),
        (lambda t: np.var(t), lambda r: variance_sensitivity(LOW, HIGH, N, r)),
        (lambda t: np.std(t), lambda r: standard_deviation_sensitivity(LOW, HIGH, N, r)),
        (lambda t: np.histogram(t, [LOW, 0, 1, HIGH])[0], lambda r: histogram_sensitivity(r)),
        (lambda t: np.count_nonzero(t > 0), lambda r: count_sensitivity(r)),
        (lambda t: np.sum(t[t > 0]), lambda r: sum_sensitivity(0, HIGH, r, selective=True)),
        (lambda t: rank_scores(t.ravel(), np.array([0.5]), 0.3), lambda r: quantile_score_sensitivity(r)),
    ],
    ids=["sum", "mean", "maximum", "variance", "deviation", "histogram", "count", "selective sum", "rank"],
)
def test_formulas_bound_what_one_record_moves_and_are_reached(relation, query, formula):
    moved = changes(relation, query)
    assert moved <= formula(relation) + 1e-9
    assert moved >= 0.7 * formula(relation)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("relation", ["replace", "add or remove"])
def test_covariance_is_bounded_and_reached(relation):
    moved = changes(relation, lambda t: np.mean((t[:, 0] - t[:, 0].mean()) * (t[:, 1] - t[:, 1].mean())), columns=2)
    formula = covariance_sensitivity((LOW, HIGH), (LOW, HIGH), N, relation)
    assert 0.9 * formula <= moved <= formula + 1e-9


def test_a_selective_sum_under_replacement_may_enter_or_change():
    assert sum_sensitivity(2, 3, "replace") == 1
    assert sum_sensitivity(2, 3, "replace", selective=True) == 3
    assert sum_sensitivity(-2, 3, "replace", selective=True) == 5
    assert sum_sensitivity(-4, 3, "add or remove") == 4


def test_histogram_norms():
    assert histogram_sensitivity("replace", 1) == 2
    assert histogram_sensitivity("replace", 2) == math.sqrt(2)
    assert histogram_sensitivity("add or remove", 2) == 1


def test_roots_of_variances_beat_standard_deviations():
    # n = 100, range 1, epsilon 1 in three parts: scales 0.298 and, for the variance, 0.0297.
    assert standard_deviation_sensitivity(0, 1, 100) * 3 == pytest.approx(0.298, abs=0.001)
    assert variance_sensitivity(0, 1, 100) * 3 == pytest.approx(0.0297, abs=0.0001)
    # The root of a variance of 1/12 moves by 0.051 for that.
    assert variance_sensitivity(0, 1, 100) * 3 / (2 * math.sqrt(1 / 12)) == pytest.approx(0.051, abs=0.001)


def test_practice_example():
    assert brute_force_sensitivity(np.mean, [1, 2, 3, 4, 5], (0, 100), additions=False) == 0.5
    assert brute_force_sensitivity(np.mean, [1, 2, 3, 4, 5], (0, 100), removals=False) == pytest.approx(
        16.17, abs=0.005
    )
    assert brute_force_sensitivity(np.mean, [1, 2, 3, 4, 5], (0, 5)) == 0.5


def test_brute_force_is_local():
    # Ten equal values: no removal moves their mean, and the global sensitivity is ten.
    assert brute_force_sensitivity(np.mean, [7.0] * 10, (0, 100), additions=False) == 0
    assert mean_sensitivity(0, 100, 10) == 10


def test_brute_force_clips_first_and_takes_arrays():
    assert brute_force_sensitivity(np.sum, [1e9, 1.0], (0, 10), additions=False) == 10
    assert brute_force_sensitivity(lambda v: np.bincount(v.astype(int)), [1.0, 1.0], (0, 1), additions=False) == 1


@pytest.mark.parametrize(
    ("records", "bounds", "options"),
    [
        ([], (0, 1), {}),
        ([1.0], (0, 1), {"additions": False}),
        ([1.0, 2.0], (0, 1), {"additions": False, "removals": False}),
    ],
)
def test_brute_force_needs_something_to_compare(records, bounds, options):
    with pytest.raises(ValueError, match="records"):
        brute_force_sensitivity(np.mean, records, bounds, **options)


def test_differencing_example():
    assert 101 * 20_000 - 100 * 10_000 == 1_020_000
    values = np.append(np.full(100, 10_000.0), 1_020_000.0)
    assert values.mean() == 20_000
    assert values.mean() * 101 - values[:100].mean() * 100 == 1_020_000


def test_noise():
    assert clip([-5, 0.5, math.inf, -math.inf], 0, 1).tolist() == [0, 0.5, 1, 0]
    assert clip([math.nan, 2], 0, 1, missing=0.5).tolist() == [0.5, 1]
    assert clip([], 0, 1).size == 0
    with pytest.raises(ValueError, match="NaN"):
        clip([0.5, math.nan], 0, 1)
    with pytest.raises(ValueError, match="missing"):
        clip([0.5], 0, 1, missing=2)


@pytest.mark.parametrize(("low", "high"), [(1, 0), (math.nan, 1), (0, math.inf), ("a", 1)])
def test_bad_bounds_are_refused(low, high):
    for call in (
        lambda: clip([0.5], low, high),
        lambda: sum_sensitivity(low, high),
        lambda: mean_sensitivity(low, high, 5),
        lambda: maximum_sensitivity(low, high),
        lambda: variance_sensitivity(low, high, 5),
        lambda: covariance_sensitivity((0, 1), (low, high), 5),
        lambda: brute_force_sensitivity(np.mean, [1.0, 2.0], (low, high)),
    ):
        with pytest.raises(ValueError, match=r"low|high"):
            call()


@pytest.mark.parametrize("bad", [0, -1, 1.5, math.nan, True])
def test_bad_numbers_of_records_are_refused(bad):
    with pytest.raises(ValueError, match="n must"):
        mean_sensitivity(0, 1, bad)
    with pytest.raises(ValueError, match="n must"):
        variance_sensitivity(0, 1, bad)


def test_unknown_relations_are_refused():
    with pytest.raises(ValueError, match="neighbours"):
        count_sensitivity("bounded")
    with pytest.raises(ValueError, match="norm"):
        histogram_sensitivity(norm=3)


def local_median(values):
    """Local sensitivity of the lower median under replacement: every record is replaced by either bound."""
    rank = math.ceil(len(values) / 2) - 1
    median = np.sort(values)[rank]
    return max(
        abs(np.sort(np.append(np.delete(values, i), end))[rank] - median) for i in range(len(values)) for end in (0, 10)
    )


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_smooth_sensitivity_is_smooth_and_at_least_local(n):
    generator = np.random.default_rng(n)
    beta = 0.4
    for _ in range(300):
        values = generator.choice([0, 10, *generator.uniform(0, 10, 4)], n)
        smooth = median_smooth_sensitivity(values, 0, 10, beta)
        assert smooth >= local_median(values) - 1e-9
        moved = values.copy()
        moved[0] = generator.choice([0, 10, generator.uniform(0, 10)])
        assert median_smooth_sensitivity(moved, 0, 10, beta) <= math.exp(beta) * smooth + 1e-9
    assert median_smooth_sensitivity(np.full(101, 5.0), 0, 10, 1.0) < 1e-10


def test_smooth_sensitivity_refuses_bad_input():
    with pytest.raises(ValueError, match="at least one"):
        median_smooth_sensitivity([], 0, 1, 1)
    with pytest.raises(ValueError, match="beta"):
        median_smooth_sensitivity([0.5], 0, 1, 0)
    with pytest.raises(ValueError, match="NaN"):
        median_smooth_sensitivity([math.nan], 0, 1, 1)


def test_what_is_no_number_is_refused_without_naming_it():
    with pytest.raises(ValueError, match="values must be numbers") as refusal:
        clip(["secret"], 0, 1)
    assert "secret" not in str(refusal.value)
