"""The deFinetti attack on Anatomy's groups."""

import numpy as np
import pytest
from letter_tools import lettered_people
from playing_tools import scored

from attacks import DeFinetti, MajorityInClass
from attacks.attributes.definetti import balanced
from defenses import Anatomy
from scenarios import AttributeInference
from scenarios.tables.seeds import generator


def rate(attack, least, follows, plays=3):
    game = AttributeInference(
        records=lettered_people(3000, generator(0, "people"), follows), originals=600, strangers=100, auxiliary=0
    )
    scores = [scored(Anatomy(l=least), attack, game, generator(0, "play", number)) for number in range(plays)]
    return float(np.mean([each["attribute"].rate for each in scores]))


@pytest.mark.thorough
@pytest.mark.long_for("3")
@pytest.mark.parametrize("least", [2, 3])
def test_definetti_beats_random_worlds_where_there_is_something_to_learn(least):
    # Random worlds name one in l. The ceiling is what a known model would reach in a group, .98 for l = 2.
    assert rate(DeFinetti(), least, 0.8) > 1 / least + 0.25
    assert rate(DeFinetti(), least, 0.8) > rate(MajorityInClass(), least, 0.8) + 0.1


@pytest.mark.thorough
def test_definetti_comes_to_random_worlds_where_there_is_nothing_to_learn():
    # 1800 people, a third right: 4 standard deviations are .044 (false alarms below 1 in 10,000).
    assert abs(rate(DeFinetti(), 3, 0.0) - 1 / 3) < 0.044


def test_balancing_keeps_rows_and_columns():
    rng = generator(0)
    mass = np.repeat([[0.5, 0.5, 0.0]], 6, axis=0)
    scaled = balanced(rng.random((6, 3)), np.array([0, 0, 1, 1, 1, 1]), mass)
    assert np.allclose(scaled.sum(axis=1), 1)
    assert np.allclose(scaled[:2].sum(axis=0), [1, 1, 0], atol=1e-3)
    assert np.allclose(scaled[2:].sum(axis=0), [2, 2, 0], atol=1e-3)


def test_bad_rounds_are_refused():
    with pytest.raises(ValueError, match="rounds"):
        DeFinetti(rounds=0)
