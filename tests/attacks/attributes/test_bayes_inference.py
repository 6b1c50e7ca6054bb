"""Bayesian inference against enumeration of worlds."""

import numpy as np
import pandas as pd
from illness_tools import AGE, ILLNESS, claims, people
from numpy.testing import assert_allclose

from attacks import BayesInference
from defenses import MicrodataRelease


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

    from attacks.attributes.naive_bayes import NaiveBayes
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
