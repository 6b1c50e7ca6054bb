"""Count-mean sketches: the worked example, the variance, and reports under other hash functions."""

import math

import numpy as np
import pytest

from defenses.ldp import (
    CountMeanSketch,
    HadamardCountMeanSketch,
    mean_estimate,
)


def test_the_lectures_worked_example():
    # Epsilon = infinity, k = 3, m = 4, n = 4: h_1 collides, h_2 is its own.
    sketch = [[3, 0, 0, 0], [0, 6, 3, 0], [0, 0, 0, 0]]
    assert mean_estimate(sketch, [[0], [1], [2]], 4) == pytest.approx([8 / 3])
    with pytest.raises(ValueError, match="epsilon"):
        CountMeanSketch(epsilon=math.inf, d=4, m=4, k=3)


def test_sketch_variance_without_shared_functions_is_that_of_a_pure_protocol():
    shares = np.array([0.6, 0.3, 0.1, 0.0])
    for make in (CountMeanSketch, HadamardCountMeanSketch):
        protocol = make(epsilon=2.0, d=4, m=8, k=2**31)
        pure = super(make, protocol)._variance(500, shares)
        assert protocol.variance(500, shares) == pytest.approx(pure, rel=1e-6)
        shared = make(epsilon=2.0, d=4, m=8, k=2).variance(500, shares)
        assert (shared > 1.5 * pure).all()


def test_reports_under_other_public_functions_are_refused():
    first, second = (CountMeanSketch(epsilon=1.0, d=4, m=8, k=2, hash_seed=seed) for seed in (0, 1))
    with pytest.raises(ValueError, match="another protocol"):
        second.sketch(first.privatize([0], np.random.default_rng(0)))
