"""The count-mean sketch: closed forms, a refusal, and reports under other hash functions."""

import math

import numpy as np
import pytest

from defenses.ldp import (
    CountMeanSketch,
)


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
