"""All attribute attacks: interval ends, plain copies, unrelated values and unseen categories."""

import numpy as np
import pandas as pd
import pytest
from illness_tools import ILLNESS, Unrelated, advantage, claims

from attacks import (
    BayesInference,
    ClassifierInference,
    Homogeneity,
    Knowledge,
    MajorityInClass,
    NearestNeighbour,
    NearestRowInference,
    NotApplicable,
    Skewness,
)
from defenses import Constant, Identity, Microdata, MicrodataRelease
from metrics import NumericDomain
from scenarios import AttributeInference, play
from scenarios.tables.seeds import generator

OTHERS = {f"other{number}": "same" for number in range(20)}


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("integer", [True, False])
@pytest.mark.parametrize("attack", [Homogeneity(), MajorityInClass(), NearestRowInference(), Skewness()], ids=repr)
def test_who_stands_at_the_open_end_of_a_class_is_not_of_it(attack, integer):
    frame = pd.DataFrame({"age": ["[20,30)"] * 6 + ["[30,40)"] * 6, "illness": ["flu"] * 6 + ["cold"] * 6})
    domains = {"age": NumericDomain(20, 40, integer=integer, cuts=(30,)), "illness": ILLNESS}
    auxiliary = Microdata(
        pd.DataFrame({"age": [20, 39], "illness": ["flu", "cold"]}),
        quasi_identifiers=("age",),
        sensitive=("illness",),
        domains=domains,
    )
    # Targets of more columns than one: the mean over them must not make a tie of it.
    frame, known = frame.assign(**OTHERS), pd.DataFrame({"age": [20, 29, 30, 31]}).assign(**OTHERS)
    auxiliary = auxiliary.with_frame(auxiliary.frame.assign(**OTHERS))
    answers = attack.run(MicrodataRelease(frame, np.full(12, -1)), Knowledge(known, auxiliary), generator(0, "attack"))
    assert answers.about.tolist() == [0, 1, 2, 3]
    assert answers.values["illness"].tolist() == ["flu", "flu", "cold", "cold"]


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    "attack",
    [Homogeneity(), Skewness(), MajorityInClass(), BayesInference(), ClassifierInference(), NearestRowInference()],
)
def test_every_attack_reads_a_plain_copy_and_finds_no_leak_in_unrelated_values(attack, adult_attributes):
    assert advantage(Identity(), attack, adult_attributes, plays=1) > 0.9
    # The sensitive values of 3 x 300 people permuted: no more than 4 standard deviations of the difference of two
    # shares of 900 (false alarms below 1 in 10,000), on the scale of the advantage with a chance below 3/4. Bayes,
    # misled about the table's people but not about strangers, does worse than that.
    assert advantage(Unrelated(), attack, adult_attributes) < 4 * np.sqrt(2 * 0.25 / 900) / 0.25


def test_unseen_categories_and_other_goals(adult_attributes):
    with pytest.raises(ValueError, match="unknown category"):
        claims(Homogeneity(), [25], MicrodataRelease(pd.DataFrame({"age": [25], "illness": ["scurvy"]}), [-1]))
    with pytest.raises(NotApplicable, match="attribute"):
        play(Constant(), NearestNeighbour(), AttributeInference(records=adult_attributes), generator(0))
