"""Guarantees about rows, where people have several rows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from run_tools import invoke

from defenses import Guarantee, Microdata, Mondrian
from defenses.recoding.pseudonymization import is_pseudonym
from metrics.columns.cells import read_cells
from metrics.columns.domains import CategoricalDomain
from scenarios.assessment.reporting.findings import class_values
from scenarios.running.plan import NamedMethod, guarantee_on
from scenarios.tables.dataset import load_table
from scenarios.tables.review.rows_of_people import (
    ClassMembers,
    RowsOfPeople,
    about_rows,
    epsilon_of_a_person,
    guarantee_to_people,
    numbers_of,
    rows_of_each,
)

ROLES = """person = "id"
identifiers = ["id"]
quasi_identifiers = ["age"]
sensitive = ["ill"]
[columns.age]
type = "number"
integer = true
low = 0
high = 99
cuts = [20, 40, 60]
[columns.ill]
type = "category"
categories = ["a", "b"]
"""


@pytest.fixture
def files(tmp_path):
    """60 people of different ages, each with four rows: classes of five rows hold one or two people."""
    people = np.repeat(np.arange(60), 4)
    table = pd.DataFrame(
        {"id": [f"p{person}" for person in people], "age": people + 20, "ill": np.where(people % 3, "a", "b")}
    )
    table.to_csv(tmp_path / "visits.csv", index=False)
    (tmp_path / "roles.toml").write_text(ROLES)
    return tmp_path / "visits.csv", "--roles", tmp_path / "roles.toml"


def test_people_are_counted_once_and_unnamed_rows_each():
    person = pd.Series(["x", "x", "y", "y", "z", None, None])
    assert ClassMembers.of(np.array([0] * 4 + [1] * 3), numbers_of(person)).sizes.tolist() == [2, 3]


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("parts", [(), ("--memory", "1GB")], ids=["in memory", "in parts"])
def test_k_of_rows_is_no_k_of_people(files, tmp_path, parts):
    said = invoke("defend", "Mondrian", "-p", "k=5", *files, "-o", tmp_path / "out.csv", *parts).output
    assert "guaranteed of rows, not of people: k=5; " in said
    assert "warning: k = 5 counts rows, not people (240 rows of 60 people, up to 4 rows a person): " in said
    assert "the smallest class holds 2 people, and " in said
    said = invoke("validate", *files, *parts).output
    assert "warning: id: 240 rows of 60 people, up to 4 rows a person; k and epsilon count rows" in said
    assert "so they guarantee people less; utility counts rows, too; " in said


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("parts", [(), ("--memory", "1GB")], ids=["in memory", "in parts"])
def test_a_row_that_names_nobody_is_a_person_in_every_command(files, tmp_path, parts):
    """240 rows: 59 people of four rows, and four rows of nobody, as `report` and `rank` count them."""
    table = pd.read_csv(files[0])
    table.loc[table["id"] == "p7", "id"] = None
    table.to_csv(files[0], index=False)
    numbers = "240 rows of 63 people, up to 4 rows a person"
    assert numbers in invoke("validate", *files, *parts).output
    assert numbers in invoke("defend", "Mondrian", "-p", "k=5", *files, "-o", tmp_path / "out.csv", *parts).output


@pytest.mark.parametrize("role", ["", 'identifiers = ["id"]\n'], ids=["no list", "identifier"])
@pytest.mark.parametrize(
    ("defense", "parts"),
    [
        ("Mondrian", ()),
        ("Mondrian", ("--memory", "1GB")),
        ("Microaggregation", ("--memory", "1GB", "--blocks", "120")),
        ("Pseudonymization", ()),
        ("Pseudonymization", ("--memory", "1GB")),
    ],
)
def test_the_key_of_a_person_is_an_identifier(files, tmp_path, defense, parts, role):
    (tmp_path / "roles.toml").write_text(ROLES.replace('identifiers = ["id"]\n', role))
    assert invoke("defend", defense, *files, "-o", tmp_path / "out.csv", *parts).exit_code == 0
    table = pd.read_csv(tmp_path / "out.csv")
    assert set(table) - {"id"} == {"age", "ill"}
    if defense == "Pseudonymization":
        assert table["id"].nunique() == 60
        assert table["id"].map(is_pseudonym).all()
    else:
        assert "id" not in table


def test_a_list_may_give_the_key_of_a_person_another_role(files, tmp_path):
    (tmp_path / "roles.toml").write_text(ROLES.replace("identifiers", "unprotected", 1))
    assert invoke("defend", "Mondrian", *files, "-o", tmp_path / "out.csv").exit_code == 0
    assert list(pd.read_csv(tmp_path / "out.csv")) == ["id", "age", "ill"]


def test_one_person_is_not_people():
    assert RowsOfPeople("id", 3, 1, 3).words == "3 rows of 1 person, up to 3 rows a person"


@pytest.mark.parametrize("parts", [(), ("--memory", "1GB")], ids=["in memory", "in parts"])
def test_epsilon_of_a_row_is_not_that_of_a_person(files, tmp_path, parts):
    method = "RetentionReplacement" if parts else "PrivateMarginals"
    said = invoke("defend", method, "-p", "epsilon=1", *files, "-o", tmp_path / "out.csv", *parts).output
    assert "guaranteed of rows, not of people: ε=1" in said
    assert "is the guarantee for one row; a person has up to 4 rows, so epsilon is 4" in said
    assert "odds change by a factor of at most 54.6" in said


def test_one_row_of_each_person_keeps_the_guarantee(files, tmp_path):
    pd.read_csv(files[0]).drop_duplicates("id").to_csv(files[0], index=False)
    said = invoke("defend", "Mondrian", "-p", "k=5", *files, "-o", tmp_path / "out.csv").output
    assert "guaranteed: k=5; " in said
    assert "people" not in said


@pytest.mark.thorough
def test_risk_says_what_classes_count(files, tmp_path):
    invoke("defend", "Mondrian", "-p", "k=5", *files, "-o", tmp_path / "out.csv")
    for parts in ((), ("--memory", "1GB")):
        said = invoke("risk", tmp_path / "out.csv", *files[1:], *parts).output
        assert (
            "note: classes and risks count rows; if 'id' repeats in the original table, they hold fewer people" in said
        )
    # Pseudonyms say which rows are of one person: each age of the table is one person's.
    invoke("defend", "Pseudonymization", *files, "-o", tmp_path / "named.csv")
    said = " ".join(invoke("risk", tmp_path / "named.csv", *files[1:]).output.split())
    assert "k 4 smallest class, in rows k, people 1 fewest people in a class" in said
    assert "classes and risks count rows" not in said


def test_delta_of_a_group_by_hand():
    # Dwork and Roth: delta (e^2 - 1) / (e - 1) = delta (e + 1).
    assert epsilon_of_a_person(1.0, 1e-6, 2).startswith(
        "a person has up to 2 rows, so epsilon is 2 and delta 3.72e-06 "
    )
    assert "by nearly any factor" in epsilon_of_a_person(5.0, None, 6)
    # delta (e^9 - 1) / (e - 1): a factor that is too large to be named makes no delta of 1.
    assert "epsilon is 9 and delta 0.00472 " in epsilon_of_a_person(1.0, 1e-6, 9)
    assert "delta 1 " in epsilon_of_a_person(500.0, 1e-6, 2)
    assert "epsilon is 0 and delta 0.03 " in epsilon_of_a_person(0.0, 0.01, 3)


def test_other_guarantees_and_tables():
    rows = RowsOfPeople("id", 10, 4, 3)
    assert guarantee_to_people(Guarantee(), rows) == []
    [words] = guarantee_to_people(Guarantee(pk=3.0), rows)
    assert words.startswith(
        "the guarantee counts rows, not people (10 rows of 4 people, up to 3 rows a person); make one"
    )
    records = Microdata(pd.DataFrame({"id": ["a", "b", None], "age": [1, 2, 3]}), ("id",), ("age",), person="id")
    assert RowsOfPeople.of(records) is None


def test_a_huge_epsilon_is_warned_of(files, tmp_path):
    arguments = (*files, "-o", tmp_path / "out.csv", "--force")
    said = invoke("defend", "PrivateMarginals", "-p", "epsilon=500", *arguments).output
    assert "warning: epsilon = 500 guarantees next to nothing: above 7, " in said
    assert "next to nothing" not in invoke("defend", "PrivateMarginals", "-p", "epsilon=1", *arguments).output


def test_an_unknown_encoding_is_named_once(files):
    said = invoke("validate", *files, "--encoding", "cp125").output
    assert "key 'encoding': there is no encoding 'cp125'" in said


def test_risk_of_pseudonyms_is_that_of_people(files, tmp_path):
    """Each age is one person's, so that whoever knows it finds the person for sure: no model says 1 in 4."""
    invoke("defend", "Pseudonymization", *files, "-o", tmp_path / "named.csv")
    said = " ".join(invoke("risk", tmp_path / "named.csv", *files[1:]).output.split())
    assert "prosecutor, highest 1 knows" in said
    assert "prosecutor, at risk 1 share of people above .2" in said
    assert "alone, people 60 classes that hold one person" in said


def test_a_stated_guarantee_is_of_rows_where_people_have_several(files):
    dataset = load_table(files[0], files[2])
    entry, guarantee = NamedMethod("Mondrian", Mondrian(k=5), {"k": 5}), Guarantee(k=5, statement="5-anonymity")
    assert guarantee_on(dataset, entry, guarantee).statement == "5-anonymity, of rows, not of people"
    assert about_rows(Guarantee(statement="none: no"), dataset.records).statement == "none: no"
    assert about_rows(guarantee, replace(dataset.records, person=None)) == guarantee


@pytest.mark.thorough
def test_plays_on_people_of_several_rows_say_what_they_count(files, tmp_path):
    small = tmp_path / "small.toml"
    small.write_text(
        '[scenario]\nname = "small"\ndataset = "bank"\nplays = 1\n'
        'game = { use = "CandidateFile", originals = 10, candidates = 20 }\n'
        '[[defense]]\nuse = "Mondrian"\nk = 2\n[[attack]]\nuse = "NearestNeighbour"\n'
    )
    said = invoke("run", small, "--data", *files, "--explain", "--db", tmp_path / "t.db").output
    assert "warning: people are drawn with all their rows (id: 240 rows of 60 people, up to 4 rows a person)" in said
    assert said.count("240 rows of 60 people") == 1
    assert "Mondrian guarantees k=2: 2-anonymity over age, of rows, not of people" in said


def test_a_value_that_all_people_of_a_class_have_is_told_of_them():
    """One of the two people has three values, so that rows look diverse; both have `a`."""
    cells = read_cells(pd.Series(["a", "b", "c", "a", "b", "c", "b", "c"]), CategoricalDomain(("a", "b", "c")))
    classes, people = np.array([0, 0, 0, 0, 1, 1, 1, 1]), np.array([0, 0, 0, 1, 2, 2, 3, 4])
    shown = class_values(classes, cells, people)
    assert (shown.excess, shown.one_value) == (1.0, 2)
    alone = class_values(classes, cells, np.arange(8))
    assert alone == class_values(classes, cells)


def test_each_row_of_a_person_is_drawn_equally_often():
    """The count of a row is binomial: it lies 5 standard deviations off with a probability below 1e-5 for all six."""
    people, rng = np.array([0, 1, 1, 1, 1, 0]), np.random.default_rng(3)
    drawn = sum(rows_of_each(people, 2, rng).astype(int) for _ in range(2000))
    assert (drawn[[0, 5]] == 2000).all()
    assert (np.abs(drawn[1:5] - 1000) < 5 * np.sqrt(500)).all()
