"""Attribute inference within a tolerance, against the most similar people outside the table."""

import numpy as np
import pandas as pd
import pytest

from attacks.base import ValueClaims
from defenses import Microdata, MicrodataRelease
from metrics.columns import NumericDomain
from scenarios import AttributeQuestion
from scenarios.games import GivenPeople

AGE = NumericDomain(0, 99, integer=True, cuts=(50,))
PAY = NumericDomain(0, 1000, cuts=(500,))


def scored(question, claimed, age=(20, 30, 60, 80, 22, 85), counted=None):
    """Scores of claims about three people in the table and three others, in this order."""
    frame = pd.DataFrame({"age": age, "pay": [100.0, 490.0, 510.0, 100.0, 490.0, np.nan]})
    records = Microdata(frame, quasi_identifiers=("age",), sensitive=("pay",), domains={"age": AGE, "pay": PAY})
    people = GivenPeople.listed(records, records.take([]), np.arange(3))
    if counted is not None:
        people = GivenPeople(**{**vars(people), "counted": np.array(counted)})
    claims = ValueClaims(pd.DataFrame({"pay": claimed}), np.ones(6))
    release = MicrodataRelease(frame.iloc[:3], np.arange(3))
    return question.score(people, release, claims, np.random.default_rng(0)).goals["attribute"]


def test_a_number_may_be_wrong_by_the_tolerance_and_no_more():
    near = [110.0, 501.0, 500.0, 300.0, 495.0, 0.0]
    # By bins 501 is wrong for 490, and 300 is right for 100.
    assert (scored(AttributeQuestion(), near).rate, scored(AttributeQuestion(), near).chance) == (2 / 3, 1)
    found = scored(AttributeQuestion(tolerance=10), near)
    assert (found.rate, found.chance) == (2 / 3, 1 / 2)
    assert scored(AttributeQuestion(tolerance=11), near).rate == 1


def test_the_control_is_whoever_is_most_like_a_person_of_the_table():
    claims = [0.0, 0.0, 0.0, 100.0, 0.0, 0.0]
    found = scored(AttributeQuestion(tolerance=1.0, matched=True), claims)
    # Two people of the table resemble the other one of 22, whose value is missed; one resembles that of 80.
    assert found.chance == pytest.approx(1 / 3)
    # Those two are one person of the control group.
    assert found.control_trials == 2
    assert scored(AttributeQuestion(tolerance=1.0), claims).chance == 1 / 2


def test_a_stratum_is_asked_apart():
    claims = [100.0, 0.0, 0.0, 0.0, 490.0, 0.0]
    found = scored(AttributeQuestion(tolerance=1.0), claims, counted=[True, False, False, True, True, True])
    assert (found.rate, found.trials, found.chance, found.control_trials) == (1, 1, 0.5, 2)


def test_the_column_to_infer_cannot_be_known():
    frame = pd.DataFrame({"age": [1], "pay": [2.0]})
    records = Microdata(frame, quasi_identifiers=("age",), sensitive=("pay",))
    with pytest.raises(ValueError, match="known: column 'pay' is the one to infer; leave it out"):
        AttributeQuestion(known=["age", "pay"]).check(records, 1, 1)
