"""The Hadamard count-mean sketch: closed forms, and its transform on all reports of one value."""

import math

import numpy as np
import pytest

from defenses.ldp import (
    CountMeanSketch,
    HadamardCountMeanSketch,
    ReportBatch,
    mean_estimate,
)
from defenses.ldp.count_mean_sketches import Sketch
from defenses.ldp.encoding import hadamard


def test_sketch_variance_without_shared_functions_is_that_of_a_pure_protocol():
    shares = np.array([0.6, 0.3, 0.1, 0.0])
    for make in (CountMeanSketch, HadamardCountMeanSketch):
        protocol = make(epsilon=2.0, d=4, m=8, k=2**31)
        pure = super(make, protocol)._variance(500, shares)
        assert protocol.variance(500, shares) == pytest.approx(pure, rel=1e-6)
        shared = make(epsilon=2.0, d=4, m=8, k=2).variance(500, shares)
        assert (shared > 1.5 * pure).all()


def test_the_lectures_worked_example():
    # Epsilon = infinity, k = 3, m = 4, n = 4: h_1 collides, h_2 is its own.
    sketch = [[3, 0, 0, 0], [0, 6, 3, 0], [0, 0, 0, 0]]
    assert mean_estimate(sketch, [[0], [1], [2]], 4) == pytest.approx([8 / 3])


def test_the_estimator_subtracts_what_chance_adds():
    # All of 10 persons in one column of two: n if it is the own one, and -n m/((m - 1) m) if it is not.
    sketch = [[10.0, 0.0]]
    assert mean_estimate(sketch, [[0, 1]], 10) == pytest.approx([10, -10])
    # A sketch with nothing but the mean of a column everywhere holds no person of any value.
    assert mean_estimate(np.full((3, 5), 2.0), np.zeros((3, 4), dtype=int), 10) == pytest.approx(np.zeros(4))
    assert np.isnan(mean_estimate([[np.nan, 1.0]], [[0]], 1)).all()
    assert mean_estimate(sketch, np.empty((1, 0), dtype=int), 10).shape == (0,)
    with pytest.raises(IndexError):
        mean_estimate(sketch, [[2]], 10)


@pytest.fixture(params=[CountMeanSketch, HadamardCountMeanSketch], ids=lambda make: make.__name__)
def protocol(request):
    return request.param(epsilon=3.0, d=20, m=8, k=6)


def test_hash_functions_are_public(protocol):
    positions = protocol.positions(np.arange(20))
    assert positions.shape == (6, 20)
    assert positions.min() >= 0
    assert positions.max() < 8
    assert (protocol.clone().positions([3, 7]) == positions[:, [3, 7]]).all()
    assert (protocol.clone().set_params(hash_seed=1).positions(np.arange(20)) != positions).any()


def test_supports_are_those_of_the_columns(protocol):
    reports = protocol.privatize(np.arange(20), np.random.default_rng(1))
    table = protocol.supports(reports)
    positions = protocol.positions(np.arange(20))[reports.parts["hash"]]
    for report, columns in zip(table, positions, strict=True):
        # Values of one column are supported together.
        assert all(len(set(report[columns == column])) == 1 for column in set(columns))
    assert (protocol.supports_of(reports, [5, 2]) == table[:, [5, 2]]).all()


def test_parts_of_the_work_give_the_whole(protocol, monkeypatch):
    reports = protocol.privatize(np.arange(60) % 20, np.random.default_rng(2))
    sketch, supports = protocol.sketch(reports), protocol.supports(reports)
    estimates = protocol.estimate_of(sketch, np.arange(20), 60)
    assert estimates == pytest.approx(protocol.estimate(reports))
    monkeypatch.setattr("defenses.ldp.count_mean_sketches._AT_ONCE", 50)
    assert protocol.estimate_of(sketch, np.arange(20), 60) == pytest.approx(estimates)
    assert (protocol.supports(reports) == supports).all()


def test_the_contract_itself_sketches_nothing():
    with pytest.raises(TypeError, match="abstract"):
        Sketch()


def test_an_infinite_epsilon_is_refused():
    with pytest.raises(ValueError, match="epsilon"):
        CountMeanSketch(epsilon=math.inf, d=4, m=4, k=3)


def test_closed_forms_at_an_epsilon_of_two_ln_three():
    protocol = CountMeanSketch(epsilon=2 * math.log(3), d=4, m=8, k=5)
    # Each sign is kept with 3/4: the scale is (3 + 1)/(3 - 1).
    assert (protocol.c, protocol.p) == pytest.approx((2, 3 / 4))
    assert protocol.q == pytest.approx(3 / 4 / 8 + 1 / 4 * 7 / 8)
    assert protocol.report_bits == 8 + 3
    # One person: no collision, and noise of (c^2 - 1)/4 for each sign, scaled by m/(m - 1).
    assert protocol.variance(1, [1, 0, 0, 0])[0] == pytest.approx((8 / 7) ** 2 * 3 / 4)


def test_reports_under_other_public_functions_are_refused():
    first, second = (CountMeanSketch(epsilon=1.0, d=4, m=8, k=2, hash_seed=seed) for seed in (0, 1))
    with pytest.raises(ValueError, match="another protocol"):
        second.sketch(first.privatize([0], np.random.default_rng(0)))


def test_closed_forms_at_an_epsilon_of_ln_three():
    protocol = HadamardCountMeanSketch(epsilon=math.log(3), d=4, m=8, k=5)
    assert (protocol.c, protocol.p) == pytest.approx((2, 3 / 4))
    # Another value's sign agrees always in the same column, and in half of the coordinates of any other.
    assert protocol.q == pytest.approx(3 / 4 / 8 + 7 / 8 / 2)
    # One person: c^2 less the 1 of its own value, or less 1/m and with the collision's variance for the others.
    variance = protocol.variance(1, [1, 0, 0, 0])
    assert variance == pytest.approx((8 / 7) ** 2 * np.array([3, *[4 - 1 / 8 + 7 / 64] * 3]))


def test_lengths_of_reports():
    # Apple's m = 1,024 and k = 65,536: a sign, 10 bits and 16 bits.
    assert HadamardCountMeanSketch(m=1024, k=65_536).report_bits == 27
    assert HadamardCountMeanSketch(m=2, k=1).report_bits == 2


@pytest.fixture
def complete():
    """A protocol almost without noise, and one report of value 3 for each function and coordinate."""
    protocol = HadamardCountMeanSketch(epsilon=100.0, d=6, m=16, k=4)
    functions, coordinates = (part.ravel() for part in np.indices((4, 16)))
    columns = protocol.positions([3])[functions, 0]
    parts = {
        "hash": functions.astype(np.uint8),
        "coordinate": coordinates.astype(np.uint8),
        "negative": hadamard.minus(coordinates, columns),
    }
    return protocol, ReportBatch(protocol, parts)


def test_all_coordinates_of_one_value_transform_back_to_its_column(complete):
    protocol, reports = complete
    sketch = protocol.sketch(reports)
    expected = np.zeros((4, 16))
    expected[np.arange(4), protocol.positions([3])[:, 0]] = 4 * 16
    assert sketch == pytest.approx(expected)


def test_other_values_are_counted_by_their_collisions(complete):
    protocol, reports = complete
    positions = protocol.positions(np.arange(6))
    collisions = (positions == positions[:, [3]]).mean(axis=0)
    assert collisions[3] == 1
    assert protocol.estimate(reports) == pytest.approx(16 / 15 * 64 * (collisions - 1 / 16))
    assert protocol.supports(reports)[:, 3].all()


@pytest.mark.parametrize(("epsilon", "kept"), [(math.log(3), 3 / 4), (1e-6, 1 / 2), (100.0, 1)])
def test_signs_are_kept_as_often_as_stated(epsilon, kept):
    # 20,000 signs, 5 standard errors: a false alarm in 2 of 10^6 runs.
    protocol = HadamardCountMeanSketch(epsilon=epsilon, d=6, m=16, k=4)
    reports = protocol.privatize(np.full(20_000, 2), np.random.default_rng(5))
    assert protocol.supports(reports)[:, 2].mean() == pytest.approx(kept, abs=5 * math.sqrt(0.25 / 20_000))


@pytest.mark.parametrize("m", [3, 6, 1000, 2**31 + 1])
def test_columns_must_be_a_power_of_two(m):
    with pytest.raises(ValueError, match=r"m must be a power of two|at most 2\^31"):
        HadamardCountMeanSketch(m=m)
