"""What both sketches share: the estimator, public hash functions, collisions, and work in parts."""

import numpy as np
import pytest

from defenses.ldp import (
    CountMeanSketch,
    HadamardCountMeanSketch,
    mean_estimate,
)
from defenses.ldp.sketch import Sketch


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
    monkeypatch.setattr("defenses.ldp.sketch._AT_ONCE", 50)
    assert protocol.estimate_of(sketch, np.arange(20), 60) == pytest.approx(estimates)
    assert (protocol.supports(reports) == supports).all()


def test_the_contract_itself_sketches_nothing():
    with pytest.raises(TypeError, match="abstract"):
        Sketch()
