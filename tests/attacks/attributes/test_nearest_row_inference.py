"""Nearest-row inference against enumeration."""

import numpy as np
from illness_tools import ILLNESS, Unrelated, people, rates
from numpy.testing import assert_allclose
from playing_tools import scored

from attacks import NearestRowInference
from defenses import Identity
from scenarios import AttributeInference
from scenarios.games.playing import play_alone
from scenarios.tables.seeds import generator


def test_nearest_row_counts_ties_by_expected_success():
    # 4 x 1, 4 x 1/2, then 3 x 3/4 + 1/4; strangers: 1, 2 x 1/2, nothing (no flu in the third class).
    assert_allclose(rates(NearestRowInference()), [(4 + 2 + 2.5) / 12, 2 / 8])


def test_inference_on_a_copy_equals_enumeration_and_is_nothing_on_unrelated_values():
    rng = generator(0, "copy")
    population = people(
        rng.integers(0, 30, 2000), np.array(ILLNESS.categories, dtype=object)[rng.integers(3, size=2000)]
    )
    game = AttributeInference(records=population, originals=40, strangers=40, auxiliary=0)
    copy = play_alone(Identity(), NearestRowInference(), game, generator(0, "play"))
    frame = copy[0].records.frame
    # Everybody's nearest rows are those of the same age; one of them is drawn.
    same_age = frame.groupby("age")["illness"]
    expected = (frame["illness"].to_numpy()[:, None] == frame["illness"].to_numpy()) & (
        frame["age"].to_numpy()[:, None] == frame["age"].to_numpy()
    )
    rate = (expected.sum(axis=1) / same_age.transform("size")).mean()
    assert 0.4 < rate < 0.95
    assert_allclose(copy[2]["attribute"].rate, rate, atol=1e-12)
    large = AttributeInference(records=population, originals=500, strangers=500, auxiliary=0)
    scores = scored(Unrelated(), NearestRowInference(), large, generator(0, "play"))
    # The interval of the risk holds 0 with 95 %; this seed is fixed.
    assert scores.measures["risk_low"] <= 0 <= scores.measures["risk_high"]
    assert scored(Unrelated(), NearestRowInference(), large, generator(0, "play")) == scores
