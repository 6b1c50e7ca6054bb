"""The sparse vector technique: when it stops, its bound, its epsilon, its refusals.

Statistical tests have fixed seeds; unless said otherwise the false-alarm probability of each is 1 in 10,000 seeds."""

import math

import numpy as np
import pytest
from chance_tools import ALARM, rng
from scipy import stats

from defenses.base.queries import BudgetSpent
from defenses.dp import (
    BinaryTree,
    DiscreteLaplace,
    SparseVector,
)


@pytest.mark.parametrize("horizon", [1, 2, 3, 7, 8, 100])
def test_counts_without_noise_to_speak_of(horizon):
    events = np.random.default_rng(horizon).integers(0, 3, horizon)
    counter = BinaryTree(epsilon=2.0**15, horizon=horizon, sensitivity=2)
    assert counter.release(events, np.random.default_rng(0)).tolist() == np.cumsum(events).tolist()


def test_a_stream_gives_the_counts_of_the_whole():
    events = np.random.default_rng(1).integers(0, 2, 37)
    counter = BinaryTree(epsilon=0.5, horizon=37)
    whole, stream = counter.release(events, np.random.default_rng(3)), counter.start(np.random.default_rng(3))
    one_by_one = [stream.add(int(event)) for event in events]
    # The same law; noise is sampled in other portions, so that only its spread can be compared.
    assert np.abs(np.array(one_by_one) - np.cumsum(events)).max() <= counter.error_bound(0.999)
    assert np.abs(whole - np.cumsum(events)).max() <= counter.error_bound(0.999)
    with pytest.raises(ValueError, match="the horizon of 37 is reached"):
        stream.add(0)


def test_an_event_lies_in_as_many_nodes_as_stated():
    for horizon in (1, 2, 3, 4, 5, 31, 32, 33):
        starts = [(time & (time - 1)) for time in range(1, horizon + 1)]
        inside = [
            sum(start < event <= time for time, start in enumerate(starts, start=1)) for event in range(1, horizon + 1)
        ]
        assert max(inside) == BinaryTree(horizon=horizon).levels == inside[0]


@pytest.mark.thorough
def test_variance_is_that_of_the_stated_nodes():
    counter, runs = BinaryTree(epsilon=1.0, horizon=100), 20_000
    errors = counter.repeated(np.zeros(100), runs, np.random.default_rng(0))
    for time in (1, 7, 8, 63, 64, 100):
        # 5 standard errors of a variance of Laplace sums (kurtosis up to 6).
        assert errors[:, time - 1].var() == pytest.approx(counter.variance(time), rel=5 * np.sqrt(5 / runs))
        assert abs(errors[:, time - 1].mean()) < 5 * np.sqrt(counter.variance(time) / runs)


def test_error_beside_the_plain_ways():
    # Published orders (Chan, Shi and Song 2011, table 1): log(T)^1.5 for the tree, T for fresh noise each time, sqrt(T)
    # for noise on each event. At T = 1,024 and epsilon 1 the root mean squares must stand in this order.
    horizon, runs, rng = 1024, 200, np.random.default_rng(5)
    tree = BinaryTree(epsilon=1.0, horizon=horizon).repeated(np.zeros(horizon), runs, rng)
    on_events = DiscreteLaplace(epsilon=1.0).sample(runs * horizon, rng).reshape(runs, -1).cumsum(axis=1)
    fresh = DiscreteLaplace(epsilon=1.0 / horizon).sample(runs * horizon, rng).reshape(runs, -1)
    of_tree, of_events, of_fresh = (
        float(np.sqrt((errors.astype(float) ** 2).mean())) for errors in (tree, on_events, fresh)
    )
    # Mean number of ones of a time is 5.0 and a node's variance 2 x 11^2: sqrt(5 x 242) = 34.8.
    assert of_tree == pytest.approx(34.8, rel=0.05)
    # sqrt(2 x 512.5) = 32.0 and sqrt(2) x 1024 = 1448: at this length noise on events still compares.
    assert of_events == pytest.approx(31.4, rel=0.1)
    assert of_fresh == pytest.approx(1448, rel=0.05)
    long = BinaryTree(epsilon=1.0, horizon=2**20)
    assert long.variance(2**20 - 1) < 2 * 2**20 / 20


def test_error_bound_holds():
    counter = BinaryTree(epsilon=1.0, horizon=64)
    errors = np.abs(counter.repeated(np.zeros(64), 2000, np.random.default_rng(0))).max(axis=1)
    assert (errors > counter.error_bound(0.9)).mean() <= 0.1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"horizon": 0}, "horizon"),
        ({"horizon": 2**31}, "horizon"),
        ({"sensitivity": 0.5}, "sensitivity"),
        ({"epsilon": 0}, "epsilon"),
    ],
)
def test_refuses_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        BinaryTree(**parameters)


def test_refuses_streams():
    counter, rng = BinaryTree(horizon=2), np.random.default_rng(0)
    for events, message in (([1, 0, 1], "more than the horizon"), ([0.5], "integers"), ([np.nan], "finite")):
        with pytest.raises(ValueError, match=message):
            counter.release(events, rng)
    with pytest.raises(ValueError, match="runs"):
        counter.repeated([1], 0, rng)
    assert counter.release([], rng).tolist() == []


def test_sparse_vector_stops_and_then_refuses():
    stream = SparseVector(epsilon=20.0, threshold=100.0, count=2).start(rng(30))
    assert [stream.above(value) for value in (0.0, 200.0, 0.0, 200.0)] == [False, True, False, True]
    with pytest.raises(BudgetSpent):
        stream.above(0.0)
    answers = SparseVector(epsilon=20.0, threshold=100.0, count=2).release(
        [0.0, 200.0, 0.0, 200.0, 0.0, 200.0], rng(30)
    )
    assert answers.tolist() == [False, True, False, True]


@pytest.mark.thorough
def test_sparse_vector_bound_holds_at_its_rate():
    mechanism = SparseVector(epsilon=1.0, threshold=0.0, count=1)
    bound = mechanism.error_bound(0.9, values=10)
    generator = rng(31)
    low = np.full(10, -bound)
    # One release is one of repeated runs.
    wrong = (mechanism.repeated(low, 1000, generator) == 1).any(axis=1).sum()
    wrong_high = (mechanism.repeated([bound], 1000, generator) == 0).sum()
    assert wrong <= stats.binom.isf(ALARM, 1000, 0.1)
    assert wrong_high <= stats.binom.isf(ALARM, 1000, 0.1)


@pytest.mark.thorough
def test_sparse_vector_keeps_its_epsilon_on_a_worst_stream():
    # Values fall by 1 for "below" and rise by 1 for "above": the stream (no, no, yes) has the largest loss.
    mechanism = SparseVector(epsilon=2.0, threshold=0.0, count=1)
    generator = rng(32)

    def rate(values):
        return np.mean((mechanism.repeated(values, 1500, generator) == [0, 0, 1]).all(axis=1))

    assert 0.2 < math.log(rate([0.0, 0.0, 1.0]) / rate([1.0, 1.0, 0.0])) < 2.0


@pytest.mark.parametrize("bad", [math.nan, math.inf, "1", None])
def test_bad_thresholds_and_values_are_refused(bad):
    with pytest.raises(ValueError, match="threshold"):
        SparseVector(threshold=bad)
    with pytest.raises(ValueError, match="value"):
        SparseVector().start(rng(1)).above(bad)
