"""The deFinetti attack on Anatomy's groups."""

import numpy as np
import pandas as pd
import pytest
from illness_tools import AGE, ILLNESS, RELEASE, TWELVE, claims, people
from letter_tools import lettered_people
from numpy.testing import assert_allclose
from playing_tools import scored

from attacks import BayesInference, ClassifierInference, DeFinetti, Knowledge, MajorityInClass
from attacks.attributes.learned_inference import balanced
from defenses import Anatomy, MicrodataRelease
from scenarios import AttributeInference
from scenarios.tables.seeds import generator


def test_bayes_uses_what_is_known_of_people_like_the_target():
    # In the second class flu and cold are tied; the attacker's own people of 35 to 39 mostly have a cold.
    own = people([31, 32, 33, 34, 45, 46, 47, 48] * 5, ["flu"] * 20 + ["cold"] * 20)
    mixed = MicrodataRelease(
        pd.DataFrame({"age": ["[30,49]"] * 4, "illness": ["flu", "flu", "cold", "cold"]}), [-1] * 4
    )
    answers = claims(BayesInference(), [32, 47], mixed, own)
    assert answers.values["illness"].tolist() == ["flu", "cold"]


def test_bayes_equals_enumeration_of_the_worlds_of_a_class():
    from itertools import permutations

    from attacks.attributes.learned_inference import NaiveBayes
    from metrics.profile import original_profile

    own = people([31, 32, 33, 34, 45, 46, 47, 48, 30, 49] * 20, (["flu"] * 3 + ["cold"] * 5 + ["ulcer"] * 2) * 20)
    release = MicrodataRelease(
        pd.DataFrame({"age": ["[30,49]"] * 4, "illness": ["flu", "cold", "cold", "ulcer"]}), [-1] * 4
    )
    study = original_profile(own.frame[["age"]], {"age": AGE})
    model = NaiveBayes.fit(study, np.eye(4)[ILLNESS.codes(own.frame["illness"])][:, :3])
    target = model.posterior(original_profile(pd.DataFrame({"age": [47]}), {"age": AGE}))[0]
    others = model.posterior(study).mean(axis=0)
    world = np.zeros(3)
    for values in permutations([0, 1, 1, 2]):
        world[values[0]] += target[values[0]] * np.prod(others[list(values[1:])])
    answers = claims(BayesInference(), [47], release, own)
    # The one more person with the table's background that the attack adds moves it by less than 1 in 200.
    assert_allclose(answers.confidence[0], (world / world.sum()).max(), rtol=5e-3)


def test_the_commonest_value_of_the_released_class_is_predicted():
    knowledge = Knowledge(pd.DataFrame({"age": [25, 45]}), TWELVE)
    answers = ClassifierInference().run(RELEASE, knowledge, generator(0))
    assert answers.about.tolist() == [0, 1]
    assert answers.values["illness"].tolist() == ["flu", "cold"]


@pytest.mark.parametrize("trees", [0, -1, 1.5, "many"])
def test_at_least_one_tree(trees):
    with pytest.raises(ValueError, match="trees"):
        ClassifierInference(trees=trees)


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
