"""The join game: the register and its errors, undefined rates, and refusals."""

import numpy as np
import pandas as pd
import pytest
from letter_tools import aged_people
from playing_tools import scored

from attacks import Decisions, SweeneyJoin
from attacks.base.attack import NotApplicable
from defenses import GlobalRecoding, Identity, Microdata, Mondrian, RetentionReplacement
from metrics import k_anonymity
from scenarios import Intersection, Join, load, play, read_plan
from scenarios.games.playing import make_release
from scenarios.tables.seeds import generator


@pytest.mark.thorough
def test_the_game_hands_every_attack_the_same_second_release():
    game = Intersection(records=aged_people(400, generator(0)), originals=100, overlap=40, strangers=50, auxiliary=10)
    secret = game.draw(generator(0, "draw"))
    assert len(secret.second) == 100
    pd.testing.assert_frame_equal(secret.second.frame[:40], secret.records.frame[:40])
    assert secret.member.sum() == 40
    known, again = (game.knowledge(secret, Mondrian(k=5)) for _ in range(2))
    pd.testing.assert_frame_equal(known.other.frame, again.other.frame)
    assert (known.other.origin == -1).all()
    assert k_anonymity(known.other.frame, ["age", "height"]) >= 5
    assert len(known.candidates) == 90
    release, _ = make_release(Identity(), game, secret, generator(0))
    assert set(game.utility(secret, release)) >= {"marginals", "k", "l"}
    assert game.attacker_knows == "mechanism"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"overlap": 0}, "overlap"),
        ({"overlap": 101}, "overlap"),
        ({"originals": 196}, "402 records are needed"),
        ({"originals": 390}, "needed"),
    ],
)
def test_bad_games_are_refused(changes, message):
    settings = {"originals": 100, "overlap": 40, "strangers": 50, "auxiliary": 10, **changes}
    with pytest.raises(ValueError, match=message):
        Intersection(records=aged_people(400, generator(0)), **settings)


def test_the_register_is_as_described(adult_register):
    game = Join(records=adult_register, patients=100, register=1500, listed=0.8, missing=0.1, outdated=0.1)
    secret = game.draw(np.random.default_rng(0))
    assert (secret.positions >= 0).sum() == 80
    assert len(secret.candidates) == 1500
    assert set(secret.candidates.columns) == set(adult_register.quasi_identifiers)
    listed = np.flatnonzero(secret.positions >= 0)
    own = secret.candidates.iloc[secret.positions[listed]].reset_index(drop=True)
    truth = secret.records.frame.iloc[listed].reset_index(drop=True)
    # 560 entries: a share of .1 has a standard error of .013.
    assert own.isna().to_numpy().mean() == pytest.approx(0.1, abs=0.055)
    differ = (own != truth[own.columns]) & own.notna()
    assert 0.01 < differ.to_numpy().mean() < 0.12
    clean = Join(records=adult_register, patients=100, register=1500, listed=1.0, missing=0.0, outdated=0.0)
    secret = clean.draw(np.random.default_rng(0))
    pd.testing.assert_frame_equal(
        secret.candidates.iloc[secret.positions].reset_index(drop=True),
        secret.records.frame[list(adult_register.quasi_identifiers)],
    )


@pytest.mark.thorough
def test_the_case_of_the_insurance_commission():
    """A register of a city, joined by postal code, date of birth and sex; then the hospital protects its table."""
    people = load("gic").records
    quasi = list(people.quasi_identifiers)
    assert quasi == ["postal-code", "birth-date", "sex"]
    dates = pd.to_datetime(people.frame["birth-date"].astype(str), format="%Y%m%d")
    assert (dates.min().year, dates.max().year) == (1905, 1979)
    # Sweeney counted 12 % by date and 29 % by date and sex among the voters of Cambridge; ours are invented.
    shares = [(~people.frame.duplicated(names, keep=False)).mean() for names in (quasi[1:2], quasi[1:], quasi)]
    assert shares == pytest.approx([0.125, 0.307, 0.728], abs=5e-4)
    (game,) = read_plan("gic").games
    attack = SweeneyJoin()
    named = scored(Identity(), attack, game, np.random.default_rng(1))["reidentification"]
    assert named.rate > 0.8
    for defense in (Mondrian(k=5), GlobalRecoding(levels=1)):
        assert scored(defense, attack, game, np.random.default_rng(1))["reidentification"].rate < 0.5 * named.rate


def test_the_rate_is_undefined_if_nobody_is_on_the_register(adult_register):
    game = Join(records=adult_register, patients=20, register=100, listed=0.0, auxiliary=0, held_out=0)
    scores = scored(Identity(), SweeneyJoin(), game, np.random.default_rng(0))
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
def test_bad_parameters(adult_register, change, word):
    with pytest.raises(ValueError, match=word):
        Join(records=adult_register, **change)


def test_release_and_register_must_share_a_column(adult_register):
    with pytest.raises(ValueError, match="quasi-identifier"):
        Join(records=Microdata(adult_register.frame, sensitive=("salary-class",)))


def test_bad_claims(adult_register):
    game = Join(records=adult_register, patients=10, register=100)
    secret = game.draw(np.random.default_rng(0))
    release = game.publish(Identity().apply(secret.records, np.random.default_rng(0)), np.random.default_rng(0))
    with pytest.raises(TypeError, match="ranked answers"):
        game.score(secret, release, Decisions(np.zeros(100)), np.random.default_rng(0))
    claims = SweeneyJoin().run(release.take([0]), game.knowledge(secret, Identity()), np.random.default_rng(0))
    with pytest.raises(ValueError, match="about 1 rows and 100 candidates"):
        game.score(secret, release, claims, np.random.default_rng(0))


def test_an_attack_that_does_not_fit_is_refused(adult_register):
    from attacks import LikelihoodMembership

    with pytest.raises(NotApplicable, match="membership"):
        play(Identity(), LikelihoodMembership(), Join(records=adult_register), np.random.default_rng(0))


@pytest.mark.thorough
def test_one_seed_one_result(adult_register):
    game = Join(records=adult_register, register=300, auxiliary=100, held_out=0)
    defense = RetentionReplacement(retention=0.7)
    first, second = (play(defense, SweeneyJoin(), game, np.random.default_rng(5)) for _ in range(2))
    assert first == second
