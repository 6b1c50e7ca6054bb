"""Pool inference beats the commonest pool."""

import pytest
from playing_tools import scored
from report_tools import SKETCHES, mean_rate

from attacks import PoolInference
from defenses import LocalReports
from scenarios import Pool
from scenarios.tables.seeds import generator


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
