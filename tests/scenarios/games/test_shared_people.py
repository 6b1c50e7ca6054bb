"""Several questions about the same people: equal draws, disjoint groups, and refusals."""

import numpy as np
import pandas as pd
import pytest

from attacks import DistanceToClosestRecord, NearestNeighbour
from defenses import Identity, Microdata
from leaderboard.results.result import canonical
from scenarios import (
    AttributeQuestion,
    LinkQuestion,
    MemberQuestion,
    ReconstructionQuestion,
    RowQuestion,
    SharedPeople,
    SinglingOutQuestion,
    play,
)
from scenarios.running.methods.methods import game_settings
from scenarios.tables.seeds import generator

SIZES = {"originals": 8, "others": 8, "auxiliary": 5, "held_out": 4}


@pytest.fixture(scope="module")
def records():
    frame = pd.DataFrame({"number": np.arange(30), "half": np.arange(30) % 2})
    return Microdata(frame, quasi_identifiers=("number",), sensitive=("half",))


def shared(records, question=None, **changes):
    return SharedPeople(records=records, question=question or RowQuestion(), **{**SIZES, **changes})


QUESTIONS = [
    AttributeQuestion(),
    LinkQuestion(),
    MemberQuestion(),
    ReconstructionQuestion(),
    RowQuestion(),
    SinglingOutQuestion(),
]


def test_every_question_is_about_the_same_people(records):
    drawn = [shared(records, question).draw(generator(1)) for question in QUESTIONS]
    for secret in drawn:
        for part in ("records", "others", "auxiliary"):
            assert getattr(secret, part).frame.equals(getattr(drawn[0], part).frame)
        assert (secret.order == drawn[0].order).all()
        assert secret.candidates.equals(drawn[0].candidates)


def test_groups_are_disjoint_and_of_their_sizes(records):
    secret = shared(records).draw(generator(2))
    groups = [part.frame["number"].tolist() for part in (secret.records, secret.others, secret.auxiliary)]
    assert [len(group) for group in groups] == [8, 8, 5]
    assert len({number for group in groups for number in group}) == 21
    assert secret.candidates["number"][secret.member].sort_values().tolist() == sorted(groups[0])


def test_a_game_takes_the_claims_of_its_question(records):
    for question in QUESTIONS:
        game = shared(records, question)
        assert game.takes == question.takes
        assert game.settings()["question"] == question
    assert SharedPeople.shares_people
    assert SharedPeople.variants == ("question",)
    game = shared(records, MemberQuestion())
    assert game.misfit(Identity(), DistanceToClosestRecord()) is None
    assert game.misfit(Identity(), NearestNeighbour()) == (
        "SharedPeople is about membership, NearestNeighbour about reidentification"
    )
    with pytest.raises(TypeError, match="decisions"):
        game.score(game.draw(generator(3)), None, "nobody", generator(3))


def test_a_copy_gives_rows_and_members_away(records):
    rows = play(Identity(), NearestNeighbour(), shared(records), generator(4))
    members = play(Identity(), DistanceToClosestRecord(), shared(records, MemberQuestion()), generator(4))
    assert (rows.scores["reidentification"].rate, rows.scores["reidentification"].chance) == (1, 1 / 16)
    assert (members.scores["membership"].rate, members.scores["membership"].chance) == (1, 1 / 2)
    # The release is the same, and so is its utility.
    assert rows.utility == members.utility


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"originals": 0}, "originals"),
        ({"others": 0}, "others"),
        ({"others": 1.5}, "others"),
        ({"auxiliary": -1}, "auxiliary"),
        ({"held_out": float("nan")}, "held_out"),
        ({"originals": 14}, "31 people are needed, but the table has 30 rows"),
        ({"attacker_knows": "all"}, "attacker_knows"),
        ({"question": SinglingOutQuestion(), "others": 7}, "others must be as many as originals"),
        ({"question": LinkQuestion(parts={"first": ["number"], "second": ["x"]})}, "no released column 'x'"),
    ],
)
def test_bad_games_are_refused(records, changes, message):
    with pytest.raises(ValueError, match=message):
        shared(records, **changes)


def test_a_question_that_the_table_cannot_answer_is_refused():
    bare = Microdata(pd.DataFrame({"number": np.arange(30)}), quasi_identifiers=("number",))
    with pytest.raises(ValueError, match="sensitive: the table has no sensitive column"):
        shared(bare, AttributeQuestion())
    with pytest.raises(ValueError, match="the table releases one column"):
        shared(bare, LinkQuestion())


@pytest.mark.thorough
def test_what_the_attacker_knows_and_sees_is_the_questions(records):
    few = RowQuestion(known=["half"], asked=[5, 2])
    game = shared(records, few)
    secret = game.draw(generator(5))
    assert list(game.knowledge(secret, Identity()).candidates) == ["half"]
    published = game.publish(Identity().apply(secret.records, generator(6)), generator(7))
    view = game.view(published, generator(8))
    assert view.frame["number"].tolist() == published.frame["number"].iloc[[5, 2]].tolist()
    # Scores are about the same rows, and a value of two tells little.
    asked, everything = (
        play(Identity(), NearestNeighbour(), shared(records, question), generator(4)).scores["reidentification"]
        for question in (few, RowQuestion(asked=[5, 2]))
    )
    assert (asked.trials, everything.trials, everything.rate) == (2, 2, 1)
    assert asked.rate < 1


def test_knowing_and_seeing_less_are_in_the_key_and_the_default_has_its_old_one(records):
    settings = [
        canonical(game_settings(shared(records, question)))
        for question in (RowQuestion(), RowQuestion(known=["half"]), RowQuestion(asked=[0]), MemberQuestion())
    ]
    assert len(set(settings)) == 4
    assert '"question":{"use":"RowQuestion"}' in settings[0]
    assert repr(RowQuestion()) == "RowQuestion()"
    assert RowQuestion(known=["half"]).clone() == RowQuestion(known=["half"]) != RowQuestion()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"known": ["name"]}, "known: there is no released column 'name'"),
        ({"asked": [0, 0]}, "asked must name each row once"),
        ({"asked": [-1]}, "asked must hold positions of rows from 0"),
        ({"asked": [8]}, "asked: the release has the rows 0 to 7"),
    ],
)
def test_columns_and_rows_that_are_not_released_are_refused(records, wrong, message):
    with pytest.raises(ValueError, match=message):
        play(Identity(), NearestNeighbour(), shared(records, RowQuestion(**wrong)), generator(4))
