"""The question of reconstruction: hidden columns, weights by rarity, the control group, refusals."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from attacks import ValueClaims
from defenses import Microdata
from metrics import NumericDomain
from scenarios import AttributeQuestion, ReconstructionQuestion, SharedPeople, load
from scenarios.games.questions.attribute_question import information
from scenarios.tables.seeds import generator

AGE = NumericDomain(0, 99, integer=True, cuts=(50,))


def microdata(rows):
    frame = pd.DataFrame(rows, columns=["city", "age", "job", "illness"])
    return Microdata(frame, quasi_identifiers=("city", "age", "job"), sensitive=("illness",), domains={"age": AGE})


# The table holds 4 people, and 4 others are the control group. Of the 8 illnesses 4, 2, 1 are flu, cold, ulcer.
ROWS = [
    ("Nara", 20, "nurse", "flu"),
    ("Nara", 60, "nurse", "cold"),
    ("Uji", 30, "nurse", "ulcer"),
    ("Uji", 40, "nurse", None),
    ("Nara", 21, "nurse", "flu"),
    ("Nara", 61, "nurse", "cold"),
    ("Uji", 31, "nurse", "flu"),
    ("Uji", 41, "nurse", "flu"),
]


@pytest.fixture
def people():
    game = SharedPeople(
        records=microdata(ROWS),
        question=ReconstructionQuestion(hidden=["age", "job", "illness"]),
        originals=4,
        others=4,
        auxiliary=0,
        held_out=0,
    )
    return game, game.draw(generator(5))


def claimed(secret, change=lambda frame: frame):
    answers = secret.candidates[["age", "job", "illness"]]
    return ValueClaims(change(answers), np.ones(len(answers)))


def bits(frame):
    """Information of every person's age (two of eight are old) and illness; all have one job."""
    age = np.where(frame["age"] >= 50, 2, np.log2(8 / 6))
    return age, frame["illness"].map({"flu": np.log2(7 / 4), "cold": np.log2(7 / 2), "ulcer": np.log2(7)}).fillna(0)


def test_right_values_weigh_their_information(people):
    game, secret = people
    score = game.score(secret, None, claimed(secret), generator(0))["record_reconstruction"]
    assert (score.rate, score.chance, score.advantage) == (1, 1, None)

    def without_illness(frame):
        return frame.drop(columns="illness")

    scores = game.score(secret, None, claimed(secret, without_illness), generator(0))
    for member, share in (
        (True, scores["record_reconstruction"].rate),
        (False, scores["record_reconstruction"].chance),
    ):
        age, illness = bits(secret.candidates[secret.member == member])
        assert_allclose(share, age.sum() / (age.sum() + illness.sum()))
        weight = age + illness
        trials = scores["record_reconstruction"].trials if member else scores["record_reconstruction"].control_trials
        assert trials == int(weight.sum() ** 2 / (weight**2).sum())
    present = secret.candidates[secret.member]["illness"].notna().sum()
    assert_allclose(scores.measures["right"], 8 / (8 + present))
    assert scores.measures["answered"] == scores.measures["right"]


def test_the_job_that_all_have_weighs_nothing(people):
    game, secret = people
    only_job = claimed(secret, lambda frame: frame.assign(age=np.nan, illness=None))
    scores = game.score(secret, None, only_job, generator(0))
    assert scores["record_reconstruction"].rate == scores["record_reconstruction"].chance == 0
    assert scores.measures["right"] > 0.3


def test_a_number_is_right_in_its_bin(people):
    game, secret = people

    def shifted(frame):
        return frame.assign(age=np.where(frame["age"] < 50, 0, 99))

    assert game.score(secret, None, claimed(secret, shifted), generator(0))["record_reconstruction"].rate == 1

    def wrong(frame):
        return frame.assign(age=np.where(frame["age"] < 50, 50, 49), illness=None)

    assert game.score(secret, None, claimed(secret, wrong), generator(0))["record_reconstruction"].rate == 0


def test_people_who_are_all_alike_leave_nothing_to_reconstruct():
    records = microdata([("Nara", 20, "nurse", "flu")] * 6)
    game = SharedPeople(
        records=records, question=ReconstructionQuestion(), originals=3, others=3, auxiliary=0, held_out=0
    )
    secret = game.draw(generator(0))
    answers = secret.candidates[["age", "illness"]]
    score = game.score(secret, None, ValueClaims(answers, np.ones(6)), generator(0))["record_reconstruction"]
    assert (score.rate, score.chance, score.trials) == (None, None, 0)


def test_information_ignores_missing_values():
    assert_allclose(information(np.array([0, 0, 1, 3, 3]), 3), [np.log2(3 / 2), np.log2(3), 0, 0])
    assert information(np.array([], dtype=int), 2).tolist() == [0, 0, 0]


def test_hidden_columns_are_the_sensitive_ones_and_spread_quasi_identifiers():
    question = ReconstructionQuestion()
    assert question.columns(load("adult").records) == [
        "workclass",
        "marital-status",
        "race",
        "hours-per-week",
        "salary-class",
    ]
    assert question.columns(load("bank").records) == ["marital", "housing", "month", "previous", "y"]
    records = microdata(ROWS)
    assert question.columns(records) == ["city", "job", "illness"]
    assert ReconstructionQuestion(hidden=1).columns(records) == ["illness"]
    assert ReconstructionQuestion(hidden=2).columns(records) == ["age", "illness"]
    game = SharedPeople(records=records, question=question, originals=2, others=2, auxiliary=1, held_out=0)
    secret = game.draw(generator(0))
    assert list(question.knowledge(secret, None).candidates) == ["age"]


def test_the_question_leaves_the_people_of_others_alone():
    records = microdata(ROWS)
    sizes = {"originals": 3, "others": 3, "auxiliary": 1, "held_out": 1}
    first, second = (
        SharedPeople(records=records, question=question, **sizes).draw(generator(3))
        for question in (AttributeQuestion(), ReconstructionQuestion())
    )
    assert first.candidates.equals(second.candidates)
    assert (first.order == second.order).all()


@pytest.mark.parametrize("hidden", [0, -1, 2.5, True, "age", [], ["age", "age"], None])
def test_bad_hidden_columns_are_refused(hidden):
    with pytest.raises((ValueError, TypeError), match="hidden"):
        ReconstructionQuestion(hidden=hidden)


def test_a_table_that_cannot_be_asked_is_refused():
    records = microdata(ROWS)
    with pytest.raises(ValueError, match="hidden: there is no released column 'height'"):
        ReconstructionQuestion(hidden=["height"]).check(records, 1, 1)
    with pytest.raises(ValueError, match="hidden: the table has no other quasi-identifier"):
        ReconstructionQuestion(hidden=["city", "age", "job"]).check(records, 1, 1)
    bare = Microdata(pd.DataFrame({"age": [1, 2]}), quasi_identifiers=("age",))
    with pytest.raises(ValueError, match="hidden: the table has no sensitive column and one quasi-identifier"):
        ReconstructionQuestion().check(bare, 1, 1)


def test_claims_about_nobody_are_refused(people):
    game, secret = people
    claims = ValueClaims(pd.DataFrame({"age": [20]}), [1.0], person=[8])
    with pytest.raises(ValueError, match="a claim is about person 8, but the last person is 7"):
        game.score(secret, None, claims, generator(0))
