"""Lower bounds on epsilon from repeated runs: exact intervals, the formula, coverage, and refusals."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from metrics import clopper_pearson, epsilon_lower_bound


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (3, 10), (10, 10), (500, 1000)])
def test_clopper_pearson_is_exact(successes, n):
    found = clopper_pearson(successes, n, 0.99)
    expected = binomtest(successes, n).proportion_ci(0.99)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


@pytest.mark.parametrize("arguments", [(1, 0), (-1, 10), (11, 10)])
def test_clopper_pearson_refuses(arguments):
    with pytest.raises(ValueError, match="successes"):
        clopper_pearson(*arguments)
    with pytest.raises(ValueError, match="confidence"):
        clopper_pearson(1, 2, 1.0)


def test_bound_is_the_formula():
    low = clopper_pearson(600, 1000, 0.999).low
    high = clopper_pearson(200, 1000, 0.999).high
    assert epsilon_lower_bound(600, 1000, 200, 1000, confidence=0.999) == pytest.approx(math.log(low / high))
    assert epsilon_lower_bound(600, 1000, 200, 1000, delta=0.1, confidence=0.999) == pytest.approx(
        math.log((low - 0.1) / high)
    )
    assert epsilon_lower_bound(200, 1000, 600, 1000, confidence=0.999) == 0
    assert epsilon_lower_bound(0, 1000, 0, 1000, confidence=0.999) == 0


def test_bound_covers():
    # p = e q: the bound exceeds 1 in at most 10 % of 4,000 pairs of experiments; 3 standard errors are 1.4 %.
    counts = rng().binomial(500, [math.e * 0.2, 0.2], (4000, 2)).T
    above = epsilon_lower_bound(counts[0], 500, counts[1], 500, confidence=0.9) > 1
    assert 0 < above.mean() <= 0.114


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"first": 11}, "first"),
        ({"second": -1}, "second"),
        ({"first_runs": 0}, "first"),
        ({"delta": 1.0}, "delta"),
        ({"delta": math.nan}, "delta"),
        ({"confidence": 0.0}, "confidence"),
    ],
)
def test_bound_refuses(changes, name):
    arguments = {"first": 5, "first_runs": 10, "second": 1, "second_runs": 10, "confidence": 0.9} | changes
    with pytest.raises(ValueError, match=name):
        epsilon_lower_bound(**arguments)


def test_bounds_of_many_pairs_are_those_of_each():
    first, second = np.array([[900, 500], [1000, 0]]), np.array([[100, 500], [0, 1000]])
    bounds = epsilon_lower_bound(first, 1000, second, 1000, confidence=0.99)
    assert bounds.shape == (2, 2)
    for place in np.ndindex(2, 2):
        single = epsilon_lower_bound(first[place], 1000, second[place], 1000, confidence=0.99)
        assert bounds[place] == pytest.approx(single)
    # Every run on one input and none on the other: both limits are tail^(1/1000), with a tail of 0.005.
    limit = 0.005 ** (1 / 1000)
    assert bounds[1, 0] == pytest.approx(math.log(limit / (1 - limit)))
    assert bounds[1, 1] == bounds[0, 1] == 0


def test_one_run_proves_nothing_at_a_high_confidence():
    assert epsilon_lower_bound(1, 1, 0, 1, confidence=0.9) == 0
    assert (clopper_pearson(0, 1, 0.9).low, clopper_pearson(1, 1, 0.9).high) == (0, 1)
