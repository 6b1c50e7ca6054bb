"""Games of tables draw people with all their rows, and count people."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import tomli_w

import scenarios
from attacks import NearestNeighbour, NotApplicable
from attacks.base import Decisions, RankedAnswers
from defenses import Identity, Microdata, Mondrian
from scenarios import (
    AttributeInference,
    CandidateFile,
    Linkability,
    MemberQuestion,
    Membership,
    RowQuestion,
    SharedPeople,
    SinglingOut,
    play,
)
from scenarios.games.table_game import table_worth
from scenarios.running.plan import read_plans
from scenarios.tables import load_table


@pytest.fixture
def visits():
    """90 people with one to five rows each, in random order; each has an age of its own."""
    rng = np.random.default_rng(5)
    person = rng.permutation(np.repeat(np.arange(90), rng.integers(1, 6, 90)))
    frame = pd.DataFrame({"id": person, "age": person + 1.0, "day": np.arange(person.size), "ill": person % 3})
    frame["ill"] = frame["ill"].astype(str)
    return Microdata(frame, identifiers=("id",), quasi_identifiers=("age", "day"), sensitive=("ill",), person="id")


GAMES = {
    "hard": (CandidateFile, {"originals": 20, "candidates": 40, "decoys": "hard", "auxiliary": 20, "held_out": 20}),
    "random": (CandidateFile, {"originals": 20, "candidates": 40, "auxiliary": 20, "held_out": 20}),
    "membership": (Membership, {"members": 20, "auxiliary": 20, "held_out": 20}),
    "shared": (
        SharedPeople,
        {"question": RowQuestion(), "originals": 20, "others": 20, "auxiliary": 20, "held_out": 20},
    ),
    "attributes": (AttributeInference, {"originals": 20, "strangers": 20, "auxiliary": 20}),
    "singling out": (SinglingOut, {"originals": 20, "auxiliary": 20}),
    "links": (Linkability, {"originals": 20, "strangers": 20, "auxiliary": 20}),
}


@pytest.mark.parametrize("name", GAMES)
def test_a_person_is_in_one_group_with_all_rows(visits, name):
    game, sizes = GAMES[name]
    drawn = game(records=visits, **sizes).draw(np.random.default_rng(2))
    groups = [set(part.frame["id"]) for part in (drawn.records, drawn.others, drawn.auxiliary)]
    assert [len(group) for group in groups] == [20, 20, 20]
    assert len(set.union(*groups)) == 60
    everybody = visits.frame["id"].value_counts()
    for part in (drawn.records, drawn.others, drawn.auxiliary):
        counts = part.frame["id"].value_counts()
        assert counts.equals(everybody[counts.index])
    # Candidates of one number are one person's, who is in the table or is not.
    ages = drawn.candidates["age"].to_numpy()
    assert np.array_equal(pd.factorize(ages)[0], drawn.whose)


def test_the_sizes_count_people(visits):
    with pytest.raises(ValueError, match="100 people are needed, but the table has 90 people"):
        Membership(records=visits, members=50)
    with pytest.raises(ValueError, match="candidates: 100 are needed, but the table has 90 people"):
        CandidateFile(records=visits, originals=50, candidates=100)


ROWS = {
    "Intersection": {"originals": 20, "overlap": 10, "strangers": 10},
    "Join": {"patients": 20, "register": 40},
    "PkAnonymity": {"column": "ill"},
    "Reports": {"column": "ill", "persons": 20},
    "Training": {"members": 20},
}


@pytest.mark.parametrize("name", ROWS)
def test_a_game_that_draws_rows_is_refused_where_people_have_several(visits, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    visits.frame.to_csv("visits.csv", index=False)
    roles = {"person": "id", "identifiers": ["id"], "quasi_identifiers": ["age", "day"], "sensitive": ["ill"]}
    roles["columns"] = {"ill": {"type": "category", "categories": ["0", "1", "2"]}}
    Path("roles.toml").write_text(tomli_w.dumps(roles))
    game = {"use": name, **ROWS[name]}
    scenario = {"scenario": {"name": "rows", "game": game, "plays": 1}, "defense": [{"use": "Identity"}]}
    Path("rows.toml").write_text(tomli_w.dumps({**scenario, "attack": [{"use": "NearestNeighbour"}]}))
    said = f"people of column 'id' have several rows, and {name} draws rows, not people; make one row"
    with pytest.raises(ValueError, match=said):
        read_plans("rows.toml", dataset=load_table("visits.csv", "roles.toml"))
    one_row = visits.take(np.unique(visits.frame["id"], return_index=True)[1])
    made = getattr(scenarios, name)
    assert made(records=one_row, **ROWS[name]).rows_of_people() is None
    rows = made(records=visits, **ROWS[name])
    with pytest.raises(NotApplicable, match=said):
        play(Identity(), NearestNeighbour(), rows, np.random.default_rng(1))


@pytest.mark.thorough
def test_trials_and_successes_are_those_of_people(visits):
    game = CandidateFile(records=visits, originals=20, candidates=40, auxiliary=20, held_out=20)
    scores = play(Identity(), NearestNeighbour(), game, np.random.default_rng(1)).scores
    rows = scores["reidentification"]
    assert (rows.rate, rows.trials) == (1.0, 20)
    assert (scores["membership"].rate, scores["membership"].chance, scores["membership"].trials) == (1.0, 0.5, 20)
    assert scores.measures["membership_auc"] == 1.0


def test_another_row_of_the_person_is_a_right_answer(visits):
    game = SharedPeople(records=visits, **GAMES["shared"][1])
    drawn = game.draw(np.random.default_rng(1))
    release = Identity().apply(drawn.records, np.random.default_rng(1))
    # Each row is answered by the first candidate of its person.
    first = np.unique(drawn.whose, return_index=True)[1]
    answers = first[drawn.whose[drawn.answers]]
    rows = np.arange(answers.size)
    claims = RankedAnswers(rows.size, drawn.order.size, rows, answers, np.ones(rows.size))
    assert game.score(drawn, release, claims, np.random.default_rng(1))["reidentification"].rate == 1.0


def test_a_member_is_scored_once_whatever_the_number_of_rows(visits):
    sizes = {**GAMES["shared"][1], "question": MemberQuestion()}
    game = SharedPeople(records=visits, **sizes)
    drawn = game.draw(np.random.default_rng(1))
    release = Identity().apply(drawn.records, np.random.default_rng(1))
    # The attack is sure of one row of each member, and claims nothing of the others.
    scores = np.full(drawn.order.size, -np.inf)
    first = np.unique(drawn.whose, return_index=True)[1]
    scores[first] = drawn.member[first]
    score = game.score(drawn, release, Decisions(scores), np.random.default_rng(1))["membership"]
    assert (score.rate, score.trials) == (1.0, 20)
    with pytest.raises(ValueError, match="the decisions are about 3 candidates"):
        game.score(drawn, release, Decisions(np.zeros(3)), np.random.default_rng(1))


@pytest.mark.thorough
def test_k_counts_people(visits):
    game = Membership(records=visits, members=20, auxiliary=20, held_out=20)
    drawn = game.draw(np.random.default_rng(1))
    release = Mondrian(k=3).apply(drawn.records, np.random.default_rng(1))
    people = drawn.records.frame["id"].to_numpy()[release.origin]
    classes = release.frame.groupby(["age", "day"], observed=True, dropna=False).ngroup().to_numpy()
    expected = pd.DataFrame({"class": classes, "who": people}).groupby("class")["who"].nunique().min()
    assert table_worth(drawn.utility, drawn.records, release)["k"] == expected < 3


@pytest.mark.parametrize("name", ["random", "membership", "shared", "links"])
def test_a_household_is_in_one_group_with_all_people(visits, name):
    homes = visits.frame["id"] // 2
    frame = visits.frame.assign(home=homes)
    declared = {"identifiers": ("id", "home"), "person": "id", "group": "home"}
    records = Microdata(frame, quasi_identifiers=("age", "day"), sensitive=("ill",), **declared)
    game, sizes = GAMES[name]
    halves = {key: value // 2 if isinstance(value, int) else value for key, value in sizes.items()}
    drawn = game(records=records, **halves).draw(np.random.default_rng(2))
    groups = [set(part.frame["home"]) for part in (drawn.records, drawn.others, drawn.auxiliary)]
    assert [len(group) for group in groups] == [10, 10, 10]
    assert len(set.union(*groups)) == 30
    for part in (drawn.records, drawn.others, drawn.auxiliary):
        counts = part.frame["home"].value_counts()
        assert counts.equals(homes.value_counts()[counts.index].rename(counts.name))
    # People are still who is counted: two a household.
    assert drawn.whose.max() + 1 == 40
    with pytest.raises(ValueError, match="needed, but the table has 45 groups"):
        Membership(records=records, members=23)
