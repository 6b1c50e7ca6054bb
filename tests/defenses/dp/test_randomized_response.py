"""Randomized response of central differential privacy: its estimate, its bound, its refusals.

Statistical tests have fixed seeds; unless said otherwise the false-alarm probability of each is 1 in 10,000 seeds.
"""

import math

import numpy as np
import pytest
from chance_tools import ALARM, rng
from scipy import stats

from defenses.dp import (
    RandomizedResponse,
)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("d", [2, 5])
def test_randomized_response_is_unbiased_on_theory_and_within_its_bound(d):
    mechanism = RandomizedResponse(epsilon=1.0, d=d)
    truth = np.repeat(np.arange(d), np.arange(1, d + 1) * 200)
    shares = np.bincount(truth) / truth.size
    generator = rng(33)
    estimates = np.array([mechanism.estimate(mechanism.release(truth, generator)) for _ in range(1000)])
    errors = estimates - np.bincount(truth)
    variance = mechanism.variance(truth.size, shares)
    assert (np.abs(errors.mean(axis=0)) < 4.5 * np.sqrt(variance / 1000)).all()
    assert np.allclose((errors**2).mean(axis=0) / variance, 1, atol=4.5 * math.sqrt(2 / 1000))
    outside = (np.abs(errors[:, 0]) > mechanism.error_bound(0.9, truth.size)).sum()
    assert outside <= stats.binom.isf(ALARM, 1000, 0.1)
    p, q = mechanism.probabilities
    assert p / q == pytest.approx(math.e)


@pytest.mark.parametrize("bad", [2, -1, 0.5, math.nan, "a"])
def test_randomized_response_refuses_what_is_no_category(bad):
    with pytest.raises(ValueError, match="value"):
        RandomizedResponse(d=2).release(bad, rng(1))
    with pytest.raises(ValueError, match=r"reports|value"):
        RandomizedResponse(d=2).estimate([0, 1, bad])
    with pytest.raises(ValueError, match="reports"):
        RandomizedResponse(d=2).estimate([])
