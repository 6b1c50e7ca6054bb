"""Several questions about the same people: equal draws, disjoint groups, and refusals."""

import numpy as np
import pandas as pd
import pytest

from attacks import DistanceToClosestRecord, NearestNeighbour, RankedAnswers
from defenses import Identity, Microdata, Mondrian
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
from scenarios.games import FinishedRelease, GivenPeople
from scenarios.running.methods.methods import game_settings
from scenarios.tables.file_methods import AnswerFile, Content, ReleasedFile
from scenarios.tables.seeds import generator


def records():
    frame = pd.DataFrame({"age": [21, 35, 58, 63, 70, 24], "job": ["cook", "nurse", "cook", "judge", "nurse", "judge"]})
    return Microdata(frame, quasi_identifiers=("age", "job"))


def test_a_finished_release_is_played_like_a_method():
    """The true answers in a file are all right, and a built-in attack plays the same game."""
    own = records()
    others = own.with_frame(own.frame.assign(age=own.frame["age"] + 1))
    order = np.random.default_rng(2).permutation(2 * len(own))
    crowd = GivenPeople(own, others, others.take([]), order, np.random.default_rng(3))
    answers = RankedAnswers(6, 12, np.arange(6), crowd.answers, np.ones(6))
    game = FinishedRelease(people=crowd, question=RowQuestion())
    attacks = AnswerFile(answers=Content(answers, "52ce")), NearestNeighbour()
    release = ReleasedFile.of(Mondrian(k=2).apply(own, np.random.default_rng(1)), own)
    rates = [play(release, attack, game, np.random.default_rng(1)).scores["reidentification"] for attack in attacks]
    assert rates[0].rate == 1.0
    assert {one.trials for one in rates} == {6}


def test_listed_candidates_keep_their_order():
    candidates = records()
    listed = GivenPeople.listed(candidates, candidates.take([]), np.array([4, 0]))
    pd.testing.assert_frame_equal(listed.candidates, candidates.frame)
    assert listed.answers.tolist() == [4, 0]
    assert listed.member.tolist() == [True, False, False, False, True, False]
    assert not GivenPeople.listed(candidates, candidates.take([])).member.any()


SIZES = {"originals": 8, "others": 8, "auxiliary": 5, "held_out": 4}


@pytest.fixture(scope="module")
def shared_people_records():
    frame = pd.DataFrame({"number": np.arange(30), "half": np.arange(30) % 2})
    return Microdata(frame, quasi_identifiers=("number",), sensitive=("half",))


def shared(shared_people_records, question=None, **changes):
    return SharedPeople(records=shared_people_records, question=question or RowQuestion(), **{**SIZES, **changes})


QUESTIONS = [
    AttributeQuestion(),
    LinkQuestion(),
    MemberQuestion(),
    ReconstructionQuestion(),
    RowQuestion(),
    SinglingOutQuestion(),
]


def test_every_question_is_about_the_same_people(shared_people_records):
    drawn = [shared(shared_people_records, question).draw(generator(1)) for question in QUESTIONS]
    for secret in drawn:
        for part in ("records", "others", "auxiliary"):
            assert getattr(secret, part).frame.equals(getattr(drawn[0], part).frame)
        assert (secret.order == drawn[0].order).all()
        assert secret.candidates.equals(drawn[0].candidates)


def test_groups_are_disjoint_and_of_their_sizes(shared_people_records):
    secret = shared(shared_people_records).draw(generator(2))
    groups = [part.frame["number"].tolist() for part in (secret.records, secret.others, secret.auxiliary)]
    assert [len(group) for group in groups] == [8, 8, 5]
    assert len({number for group in groups for number in group}) == 21
    assert secret.candidates["number"][secret.member].sort_values().tolist() == sorted(groups[0])


def test_a_game_takes_the_claims_of_its_question(shared_people_records):
    for question in QUESTIONS:
        game = shared(shared_people_records, question)
        assert game.takes == question.takes
        assert game.settings()["question"] == question
    assert SharedPeople.shares_people
    assert SharedPeople.variants == ("question",)
    game = shared(shared_people_records, MemberQuestion())
    assert game.misfit(Identity(), DistanceToClosestRecord()) is None
    assert game.misfit(Identity(), NearestNeighbour()) == (
        "SharedPeople is about membership, NearestNeighbour about reidentification"
    )
    with pytest.raises(TypeError, match="decisions"):
        game.score(game.draw(generator(3)), None, "nobody", generator(3))


def test_a_copy_gives_rows_and_members_away(shared_people_records):
    rows = play(Identity(), NearestNeighbour(), shared(shared_people_records), generator(4))
    members = play(Identity(), DistanceToClosestRecord(), shared(shared_people_records, MemberQuestion()), generator(4))
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
def test_bad_games_are_refused(shared_people_records, changes, message):
    with pytest.raises(ValueError, match=message):
        shared(shared_people_records, **changes)


def test_a_question_that_the_table_cannot_answer_is_refused():
    bare = Microdata(pd.DataFrame({"number": np.arange(30)}), quasi_identifiers=("number",))
    with pytest.raises(ValueError, match="sensitive: the table has no sensitive column"):
        shared(bare, AttributeQuestion())
    with pytest.raises(ValueError, match="the table releases one column"):
        shared(bare, LinkQuestion())


@pytest.mark.thorough
def test_what_the_attacker_knows_and_sees_is_the_questions(shared_people_records):
    few = RowQuestion(known=["half"], asked=[5, 2])
    game = shared(shared_people_records, few)
    secret = game.draw(generator(5))
    assert list(game.knowledge(secret, Identity()).candidates) == ["half"]
    published = game.publish(Identity().apply(secret.records, generator(6)), generator(7))
    view = game.view(published, generator(8))
    assert view.frame["number"].tolist() == published.frame["number"].iloc[[5, 2]].tolist()
    # Scores are about the same rows, and a value of two tells little.
    asked, everything = (
        play(Identity(), NearestNeighbour(), shared(shared_people_records, question), generator(4)).scores[
            "reidentification"
        ]
        for question in (few, RowQuestion(asked=[5, 2]))
    )
    assert (asked.trials, everything.trials, everything.rate) == (2, 2, 1)
    assert asked.rate < 1


def test_knowing_and_seeing_less_are_in_the_key_and_the_default_has_its_old_one(shared_people_records):
    settings = [
        canonical(game_settings(shared(shared_people_records, question)))
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
def test_columns_and_rows_that_are_not_released_are_refused(shared_people_records, wrong, message):
    with pytest.raises(ValueError, match=message):
        play(Identity(), NearestNeighbour(), shared(shared_people_records, RowQuestion(**wrong)), generator(4))
