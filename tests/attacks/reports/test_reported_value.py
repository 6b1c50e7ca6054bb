"""Value guess: better than the commonest value, and as good as possible."""

import numpy as np
import pytest
from report_tools import SKETCHES, mean_rate

from attacks import LongitudinalAveraging, ValueGuess
from defenses import LocalReports

PROTOCOLS = (
    "GeneralizedRandomizedResponse",
    "SymmetricUnaryEncoding",
    "OptimizedUnaryEncoding",
    "SummationHistogramEncoding",
    "ThresholdedHistogramEncoding",
    "BinaryLocalHashing",
    "OptimizedLocalHashing",
    "SubsetSelection",
    "HadamardResponse",
    *SKETCHES,
)


def with_options(name):
    return {"protocol": name, "options": {"m": 64, "k": 32} if name in SKETCHES else None}


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("name", PROTOCOLS)
def test_guessing_from_a_report_beats_the_commonest_value(report_game, name):
    # 3,000 guesses against a chance of .32: a standard error of .009; 5 of them.
    reached = mean_rate(report_game, ValueGuess(), epsilon=4.0, **with_options(name))
    assert reached >= 0.322 + 5 * 0.009
    # More reports are better, by far.
    assert mean_rate(report_game, LongitudinalAveraging(), epsilon=4.0, rounds=6, **with_options(name)) >= reached + 0.1


def test_guessing_is_chance_at_a_small_epsilon_and_sure_at_a_large_one(report_game):
    chance = 0.3225
    assert abs(mean_rate(report_game, ValueGuess(), epsilon=0.01) - chance) <= 5 * 0.009
    assert mean_rate(report_game, ValueGuess(), protocol="GeneralizedRandomizedResponse", epsilon=20.0) >= 0.999


def test_guessing_reaches_the_best_possible_rate(report_game):
    # Randomized response at 3: the best rate is the sum over reports y of max_v prior(v) P(y | v).
    shares = report_game._shares
    defense = LocalReports(protocol="GeneralizedRandomizedResponse", epsilon=3.0)
    protocol = defense.protocol_for(shares.size)
    channel = np.full((shares.size, shares.size), protocol.q)
    np.fill_diagonal(channel, protocol.p)
    best = (channel * shares).max(axis=1).sum()
    reached = mean_rate(report_game, ValueGuess(), plays=10, protocol="GeneralizedRandomizedResponse", epsilon=3.0)
    # 10,000 guesses: 5 standard errors; the attacker's prior is from 5,000 others.
    assert abs(reached - best) <= 5 * 0.005
