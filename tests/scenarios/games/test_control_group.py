"""The attribute inference game: its scores, its draws and its refusals."""

import numpy as np
import pandas as pd
import pytest
from illness_tools import ILLNESS, TWELVE
from playing_tools import scored
from scipy.stats import binom

from attacks import MajorityInClass, NearestRowInference, ValueClaims
from defenses import Identity, Microdata, Mondrian
from defenses.base.defense import MicrodataDefense, released_frame, rowwise_release
from metrics import NumericDomain
from scenarios import AttributeInference, play
from scenarios.games.questions.attribute_question import successes
from scenarios.tables.seeds import generator


class Flipped(MicrodataDefense):
    """Quasi-identifiers as they are, 30 % of binary values flipped."""

    def apply(self, records, rng):
        frame = released_frame(records)
        frame["secret"] = (frame["secret"] + (rng.random(len(frame)) < 0.3)) % 2
        return rowwise_release(frame, None)


@pytest.mark.long
@pytest.mark.parametrize("simulations", [80, pytest.param(200, marks=pytest.mark.long)])
def test_the_interval_covers_the_truth_in_95_percent_of_simulations(simulations):
    # Everybody has a number of their own; a stranger's nearest row is somebody else's, whose secret agrees in half of
    # the cases. The attack is right with probability .7, so that the risk is (.7 - .5) / (1 - .5) = .4 exactly.
    records = Microdata(
        pd.DataFrame({"number": np.arange(400), "secret": 0}),
        quasi_identifiers=("number",),
        sensitive=("secret",),
        domains={
            "number": NumericDomain(0, 399, integer=True),
            "secret": NumericDomain(0, 1, integer=True, cuts=(1,)),
        },
    )
    covered = 0
    for number in range(simulations):
        fresh = records.with_frame(records.frame.assign(secret=generator(1, number).integers(2, size=400)))
        game = AttributeInference(records=fresh, originals=150, strangers=100, auxiliary=0)
        scores = scored(Flipped(), NearestRowInference(), game, generator(0, "simulation", number))
        covered += scores.measures["risk_low"] <= 0.4 <= scores.measures["risk_high"]
    # Fewer in .2 % of all cases; all of 80 in 1.7 %, all of 200 in less than .004 %.
    assert binom.ppf(0.002, simulations, 0.95) <= covered < simulations


def test_the_game_reports_what_the_board_reads(adult_attributes):
    game = AttributeInference(records=adult_attributes, originals=40, strangers=60, auxiliary=50)
    outcome = play(Mondrian(k=5), MajorityInClass(), game, generator(0, "play"))
    scores = outcome.scores
    assert (scores["attribute"].trials, scores["attribute"].control_trials) == (40, 60)
    assert 0 <= scores["attribute"].chance <= 1
    assert scores.measures["answered"] == 1
    assert scores.measures["precision"] == scores["attribute"].rate
    assert scores.measures["risk_low"] <= scores.measures["risk"] <= scores.measures["risk_high"]
    assert outcome.utility["k"] >= 5
    again = play(Mondrian(k=5), MajorityInClass(), game, generator(0, "play"))
    assert again == outcome


def test_attackers_see_no_sensitive_value_and_cannot_tell_strangers_by_position(adult_attributes):
    game = AttributeInference(records=adult_attributes, originals=40, strangers=40, auxiliary=50)
    secret = game.draw(generator(0, "draw"))
    knowledge = game.knowledge(secret, Identity())
    assert "salary-class" not in knowledge.candidates
    assert 8 < secret.member[:40].sum() < 32
    truth = adult_attributes.frame.merge(knowledge.candidates.drop_duplicates(), on=list(knowledge.candidates.columns))
    assert len(truth) > 0


def test_numbers_are_named_by_public_bins(adult_attributes):
    game = AttributeInference(records=adult_attributes, sensitive="age", originals=60, strangers=60, auxiliary=60)
    secret = game.draw(generator(0, "draw"))
    ages = secret.candidates["age"]
    domain = adult_attributes.domains["age"]
    edges = np.array([domain.low, *domain.cuts])[domain.codes(ages)]
    answers = ValueClaims(pd.DataFrame({"age": edges}), np.ones(len(ages)))
    release = game.publish(Identity().apply(secret.records, generator(0)), generator(0))
    assert game.score(secret, release, answers, generator(0))["attribute"].rate == 1
    assert scored(Identity(), NearestRowInference(), game, generator(0, "play"))["attribute"].rate > 0.5


def test_abstentions_and_missing_values():
    truth = np.array([0, 1, 3])
    answers = ValueClaims(pd.DataFrame({"illness": ["flu", None, "cold"]}), np.ones(3))
    correct, answered = successes(answers, "illness", ILLNESS, truth)
    assert correct.tolist() == [1, 0, 0]
    assert answered.tolist() == [1, 0, 1]
    shared = ValueClaims(
        pd.DataFrame({"illness": ["flu", "cold"]}), np.ones(2), np.array([1, 1]), np.array([0.25, 0.75])
    )
    assert successes(shared, "illness", ILLNESS, truth)[0].tolist() == [0, 0.75, 0]


def test_bad_claims_are_refused():
    with pytest.raises(ValueError, match="add up"):
        ValueClaims(pd.DataFrame({"a": ["x", "y"]}), np.ones(2), np.array([0, 0]), np.array([0.6, 0.6]))
    with pytest.raises(ValueError, match="confidence"):
        ValueClaims(pd.DataFrame({"a": ["x"]}), np.array([np.nan]))
    with pytest.raises(ValueError, match="length"):
        ValueClaims(pd.DataFrame({"a": ["x"]}), np.ones(2))
    with pytest.raises(ValueError, match="shares"):
        ValueClaims(pd.DataFrame({"a": ["x"]}), np.ones(1), np.array([0]), np.array([-0.1]))
    answers = ValueClaims(pd.DataFrame({"illness": ["flu"]}), np.ones(1), np.array([7]))
    with pytest.raises(ValueError, match="person 7"):
        successes(answers, "illness", ILLNESS, np.array([0]))
    with pytest.raises(ValueError, match="no column"):
        successes(answers, "age", ILLNESS, np.array([0]))
    with pytest.raises(ValueError, match="unknown category"):
        successes(ValueClaims(pd.DataFrame({"illness": ["scurvy"]}), np.ones(1)), "illness", ILLNESS, np.array([0]))
    with pytest.raises(TypeError, match="claimed values"):
        AttributeInference(records=TWELVE, originals=6, strangers=6).taken(None)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"originals": 0}, "originals"),
        ({"strangers": 0}, "strangers"),
        ({"strangers": 2.5}, "strangers"),
        ({"auxiliary": -1}, "auxiliary"),
        ({"attacker_knows": "all"}, "attacker_knows"),
        ({"sensitive": "shoe size"}, "shoe size"),
        ({"originals": 10**6}, "records are needed"),
    ],
)
def test_bad_games_are_refused(changes, message, adult_attributes):
    with pytest.raises(ValueError, match=message):
        AttributeInference(records=adult_attributes, **changes)


def test_a_table_without_sensitive_columns_needs_one_to_be_named():
    bare = Microdata(TWELVE.frame, quasi_identifiers=("age",))
    with pytest.raises(ValueError, match="name one"):
        AttributeInference(records=bare, originals=3, strangers=3)
    AttributeInference(records=bare, sensitive="illness", originals=3, strangers=3)


def test_what_columns_may_hold_is_public_where_it_is_not_declared():
    # Eighty rare values: the attacker's own people have hardly any of those in the release.
    number = np.arange(160)
    frame = pd.DataFrame({"age": number, "illness": np.char.add("i", (number // 2).astype(str)).astype(object)})
    records = Microdata(frame, quasi_identifiers=("age",), sensitive=("illness",))
    game = AttributeInference(records=records, originals=50, strangers=50)
    outcome = play(Identity(), MajorityInClass(), game, generator(0))
    assert outcome.scores["attribute"].rate == 1
    assert outcome.utility["marginals"] == 1
