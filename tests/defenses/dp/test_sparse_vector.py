"""The sparse vector technique: when it stops, its bound, its epsilon, its refusals.

Statistical tests have fixed seeds; unless said otherwise the false-alarm probability of each is 1 in 10,000 seeds.
"""

import math

import numpy as np
import pytest
from chance_tools import ALARM, rng
from scipy import stats

from defenses.base.queries import BudgetSpent
from defenses.dp import (
    SparseVector,
)


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
    wrong = sum(mechanism.release(low, generator).any() for _ in range(1000))
    wrong_high = sum(not mechanism.release([bound], generator)[0] for _ in range(1000))
    assert wrong <= stats.binom.isf(ALARM, 1000, 0.1)
    assert wrong_high <= stats.binom.isf(ALARM, 1000, 0.1)


@pytest.mark.thorough
def test_sparse_vector_keeps_its_epsilon_on_a_worst_stream():
    # Values fall by 1 for "below" and rise by 1 for "above": the stream (no, no, yes) has the largest loss.
    mechanism = SparseVector(epsilon=2.0, threshold=0.0, count=1)
    generator = rng(32)

    def rate(values):
        return np.mean([mechanism.release(values, generator).tolist() == [False, False, True] for _ in range(1500)])

    assert 0.2 < math.log(rate([0.0, 0.0, 1.0]) / rate([1.0, 1.0, 0.0])) < 2.0


@pytest.mark.parametrize("bad", [math.nan, math.inf, "1", None])
def test_bad_thresholds_and_values_are_refused(bad):
    with pytest.raises(ValueError, match="threshold"):
        SparseVector(threshold=bad)
    with pytest.raises(ValueError, match="value"):
        SparseVector().start(rng(1)).above(bad)
