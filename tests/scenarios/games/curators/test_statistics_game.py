"""Statistics games: secrets, scores, utility and refusals.

Seeds are fixed; where a rate over plays is asserted, its distance from the expected value is given in standard errors.
"""

import numpy as np
import pandas as pd
import pytest
from playing_tools import scored
from statistics_tools import rng

from attacks import Differencing, ValueClaims
from attacks.base.attack import Decisions
from defenses import Curator
from scenarios import (
    play,
    read_plan,
)


def test_who_is_not_answered_is_not_found(bits):
    secret = bits.draw(rng())
    truth = secret.truths[0]
    claims = ValueClaims(pd.DataFrame({"value": pd.Series([truth, 1 - secret.truths[1], *[None] * 58])}), np.ones(60))
    scores = bits.score(secret, None, claims, rng())
    assert scores["disclosure"].rate == 1 / 60
    assert scores["disclosure"].trials == 60
    assert scores.measures["answered"] == 2 / 60
    assert scores.measures["precision"] == 1 / 2


@pytest.mark.thorough
def test_utility_falls_with_epsilon(bits):
    utility = [
        play(Curator(epsilon=epsilon), Differencing(), bits, rng()).utility["utility_answers"]
        for epsilon in (0.01, 1.0, 1000.0)
    ]
    assert utility[0] == 0
    assert utility[0] <= utility[1] < utility[2]
    assert utility[2] > 0.95


def test_claims_are_checked(bits):
    secret = bits.draw(rng())
    with pytest.raises(TypeError, match="values"):
        bits.score(secret, None, Decisions(np.zeros(60)), rng())
    with pytest.raises(ValueError, match="persons"):
        bits.score(secret, None, ValueClaims(pd.DataFrame({"value": [1.0]}), np.ones(1)), rng())


@pytest.mark.thorough_beyond(4)
@pytest.mark.parametrize(
    "name",
    ["city-spending", "x-city", "ramen-shop", "ramen-shop-told", "statistics", "statistics-sums", "statistics-means"],
)
def test_scenarios_read_and_play(name):
    plan = read_plan(name)
    assert any(entry.name == "ExactCurator" for entry in plan.defenses)
    assert any(entry.name == "UnaccountedCurator" for entry in plan.defenses)
    assert len({entry.method.epsilon for entry in plan.defenses if entry.name == "Curator"}) >= 3
    for entry in plan.attacks:
        assert plan.games[0].misfit(plan.defenses[0].method, entry.method) is None
    assert scored(plan.defenses[0].method, plan.attacks[0].method, plan.games[0], rng())["disclosure"].rate == 1
