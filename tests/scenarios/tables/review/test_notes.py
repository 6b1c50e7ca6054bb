"""Warnings of tables that name people, or hold them several times."""

import re

import numpy as np
import pandas as pd
import pytest
from run_tools import invoke

from scenarios.tables.dataset import load_table
from scenarios.tables.review.notes import repeated_identifier_warnings
from scenarios.tables.review.reviewed_table import ReviewedTable

ROLES = 'identifiers = ["Personalnummer"]\nquasi_identifiers = ["age"]\nsensitive = ["illness"]\n'


@pytest.fixture
def frame():
    """200 people, of whom ten were exported twice."""
    numbers = np.r_[np.arange(190), np.arange(10)] + 1000
    return pd.DataFrame({"Personalnummer": numbers, "age": numbers % 60, "illness": np.where(numbers % 3, "flu", "no")})


def files(tmp_path, frame, roles=ROLES):
    frame.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "roles.toml").write_text(roles)
    return tmp_path / "people.csv", "--roles", tmp_path / "roles.toml"


@pytest.mark.parametrize("command", [["validate"], ["defend", "Mondrian", "-p", "k=3"]])
def test_people_with_several_rows_are_said(tmp_path, frame, command):
    done = invoke(*command, *files(tmp_path, frame))
    assert done.exit_code == 0
    assert (
        "warning: identifiers that repeat: Personalnummer (190 values on 200 rows). No column is named" in done.output
    )
    assert 'add the line `person = "Personalnummer"` at the top of the roles file' in done.output


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("command", [["validate"], ["defend", "Mondrian", "-p", "k=3"]])
@pytest.mark.parametrize("parts", [(), ("--memory", "1GB")], ids=["in memory", "in parts"])
def test_a_number_of_a_person_is_proposed_rather_than_a_name(tmp_path, frame, command, parts):
    number = frame["Personalnummer"] % 80
    named = frame.assign(
        Personalnummer=number, Name=[f"Anna {'ABCDEFGHIJ'[n // 8]}{'abcdefgh'[n % 8]}en" for n in number]
    )
    roles = ROLES.replace('["Personalnummer"]', '["Name", "Personalnummer"]')
    output = [] if command == ["validate"] else ["-o", tmp_path / "out.csv"]
    said = invoke(*command, *files(tmp_path, named, roles), *output, *parts).output
    assert "Personalnummer (80 values on 200 rows)" in said
    assert 'add the line `person = "Personalnummer"` at' in said


@pytest.mark.parametrize("parts", [(), ("--memory", "1GB")], ids=["in memory", "in parts"])
def test_risk_does_not_know_whether_people_have_several_rows(tmp_path, frame, parts):
    _, *roles = files(tmp_path, frame)
    frame.drop(columns="Personalnummer").to_csv(tmp_path / "out.csv", index=False)
    said = invoke("risk", tmp_path / "out.csv", *roles, *parts).output
    assert "`tokumei validate` says whether 'Personalnummer' repeats in the original table" in said


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame.drop_duplicates("Personalnummer"),
        lambda frame: frame.assign(Personalnummer=frame["Personalnummer"] % 20),
    ],
)
def test_numbers_of_people_that_differ_and_codes_of_many_people_are_not(tmp_path, frame, change):
    path, _, roles = files(tmp_path, change(frame))
    assert repeated_identifier_warnings(ReviewedTable(load_table(path, roles)).numbering) == []


def test_people_share_surnames(tmp_path, frame):
    path, _, roles = files(
        tmp_path, frame.rename(columns={"Personalnummer": "Nachname"}), ROLES.replace("Personalnummer", "Nachname")
    )
    assert repeated_identifier_warnings(ReviewedTable(load_table(path, roles)).numbering) == []


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("name", ["Nachname", "first_name", "Straße", "氏名（漢字）"])
def test_few_names_are_identifiers_too(tmp_path, frame, name):
    """Twelve names on 200 people are as telling as many, once a release holds them beside an age."""
    named = frame.assign(**{name: [f"{'ABCDEFGHIJKL'[number % 12]}en" for number in frame["Personalnummer"]]})
    path, *_ = files(tmp_path, named)
    done = invoke("describe", path, "-o", tmp_path / "guess.toml")
    assert re.search(rf"^undecided: .*, {re.escape(name)};", done.output, re.MULTILINE)
    assert f"# {name}: identifier?: by its name: it names people" in (tmp_path / "guess.toml").read_text()
    roles = ROLES.replace('["age"]', f'["age", "{name}"]')
    done = invoke("defend", "Mondrian", "-p", "k=3", *files(tmp_path, named, roles))
    assert f"warning: {name}: no identifier by role, but by its name: it names people" in done.output


def test_german_and_japanese_words_for_missing_values_are_known(tmp_path, frame):
    table = frame.assign(days=["k.A." if n % 9 == 0 else str(n % 7) for n in frame["Personalnummer"]])
    path, *_ = files(tmp_path, table.assign(ward=np.where(frame["age"] % 5, "A", "不明")))
    output = invoke("describe", path, "-o", tmp_path / "guess.toml").output
    assert "days: k.A. counts as missing among numbers" in output
    assert "ward: 不明 is a category; if it means a missing value, give --na '不明'" in output
