"""The exponential mechanism and report noisy maximum: their laws, epsilon, bounds and refusals.

Statistical tests have fixed seeds; unless said otherwise the false-alarm probability of each is 1 in 10,000 seeds.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from chance_tools import ALARM, chi_square, rng

from defenses.dp import (
    Exponential,
    ReportNoisyMax,
)
from defenses.dp.exact import ExponentialChance, settle_below


@pytest.mark.parametrize("mechanism", [Exponential, ReportNoisyMax])
@pytest.mark.parametrize("scores", [[0.0, 1.0, 2.0, 3.0], [5.0], [1.0, 1.0], [0.0, -1e6, 0.5]])
def test_selections_follow_their_law(mechanism, scores):
    choose = mechanism(epsilon=1.5)
    generator = rng(20)
    observed = np.bincount([choose.release(scores, generator) for _ in range(8_000)], minlength=len(scores))
    probabilities = choose.probabilities(scores)
    assert probabilities.sum() == pytest.approx(1)
    if len(scores) > 1:
        assert chi_square(observed, probabilities) > ALARM
    chosen = np.repeat(scores, observed)
    error = 4.5 * math.sqrt(choose.variance(scores) / 8_000) + 1e-9
    assert abs(chosen.mean() - max(scores) - choose.bias(scores)) < error


@pytest.mark.parametrize("mechanism", [Exponential, ReportNoisyMax])
def test_selections_keep_their_epsilon(mechanism):
    choose = mechanism(epsilon=0.7)
    generator = rng(21)
    for _ in range(200):
        scores = generator.integers(0, 6, 5).astype(float)
        moved = scores + generator.choice([-1.0, 1.0], 5)
        loss = np.log(choose.probabilities(scores) / choose.probabilities(moved))
        assert np.abs(loss).max() <= 0.7 + 1e-9


def test_noisy_maximum_falls_short_of_no_exponential_mechanism():
    generator = rng(22)
    for _ in range(50):
        scores = generator.normal(size=6) * 3
        assert ReportNoisyMax().bias(scores) >= Exponential().bias(scores) - 1e-12


@pytest.mark.parametrize("mechanism", [Exponential, ReportNoisyMax])
def test_selection_bound_holds_at_its_rate(mechanism):
    choose = mechanism(epsilon=1.0)
    scores = np.linspace(0, 30, 40)
    bound = choose.error_bound(0.9, options=40)
    short = choose.probabilities(scores)[scores < scores.max() - bound].sum()
    assert short <= 0.1


@pytest.mark.parametrize("mechanism", [Exponential, ReportNoisyMax])
@pytest.mark.parametrize("bad", [[], [math.nan, 1.0], [math.inf], "ab", [[1.0]], 3.0])
def test_bad_scores_are_refused(mechanism, bad):
    with pytest.raises(ValueError, match=r"scores|value"):
        mechanism().release(bad, rng(1))


def test_mode_of_the_lecture():
    mechanism = Exponential(epsilon=0.1, sensitivity=1)
    assert mechanism.error_bound(1 - math.exp(-3), options=4) == pytest.approx(87.7, abs=0.05)
    # The second category is not chosen with 5 % but with 1.2 %.
    second = mechanism.probabilities([40_000, 39_912, 10_088, 10_000])[1]
    assert second == pytest.approx(0.012, abs=0.0005)


@pytest.mark.parametrize("scores", [[0.0, -1e300, 1e-300], [1.0] * 500, [*([0.0] * 3000), 40.0], [1e308, -1e308]])
def test_selection_is_drawn_for_any_scores(scores):
    generator = rng(23)
    for epsilon in (2.0**-20, 1.0, 2.0**20):
        assert 0 <= Exponential(epsilon=epsilon).release(scores, generator) < len(scores)


def test_options_that_floating_point_could_not_select_have_their_exact_probability():
    """The comparison goes on where the first 64 bits agree: a weight of e^-50 is settled bit by bit."""
    weight = ExponentialChance(Fraction(50))
    first = weight.floors(1, 64)[0]
    later = weight.floors(1, 128)[0] - (first << 64)

    class Bits:
        def __init__(self, word):
            self.word = word

        def integers(self, low, high, size, dtype, endpoint):
            return np.full(size, self.word, dtype=dtype)

    assert settle_below(weight, first, Bits(later - 1))
    assert not settle_below(weight, first, Bits(later + 1))
