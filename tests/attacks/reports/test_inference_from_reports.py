"""Pool inference beats the commonest pool."""

import numpy as np
import pytest
from playing_tools import scored
from report_tools import SKETCHES, mean_rate

from attacks import LongitudinalAveraging, PoolInference, ValueGuess
from defenses import LocalReports
from scenarios import Pool
from scenarios.tables.seeds import generator

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


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("name", [*SKETCHES, "OptimizedLocalHashing"])
def test_pool_inference_beats_the_commonest_pool(pools, name):
    # 600 persons against a chance below .40: a standard error of .02; 5 of them.
    options = {"m": 256, "k": 128} if name in SKETCHES else None
    scores = scored(
        LocalReports(protocol=name, epsilon=4.0, options=options), PoolInference(), pools, generator(1, "play")
    )
    assert (set(scores.goals), set(scores.measures)) == ({"pool"}, {"answered"})
    assert scores["pool"].chance <= 0.4
    reached = mean_rate(pools, PoolInference(), protocol=name, epsilon=4.0, options=options)
    assert reached >= scores["pool"].chance + 5 * 0.02
    few = Pool(records=pools.records, column="emoji", persons=200, reports=2)
    assert mean_rate(few, PoolInference(), protocol=name, epsilon=4.0, options=options) <= reached - 0.1


@pytest.mark.thorough
def test_pool_inference_is_chance_at_a_small_epsilon_and_sure_without_noise(pools):
    assert abs(mean_rate(pools, PoolInference(), epsilon=0.01) - pools._chance) <= 5 * 0.02
    assert mean_rate(pools, PoolInference(), protocol="GeneralizedRandomizedResponse", epsilon=30.0) >= 0.98
