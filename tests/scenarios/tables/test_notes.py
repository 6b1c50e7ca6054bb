"""Warnings of tables that name people, or hold them several times."""

import re

import numpy as np
import pandas as pd
import pytest
from run_tools import invoke

from scenarios.tables.dataset import load_table
from scenarios.tables.notes import repeated_people_warnings

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
    assert "warning: Personalnummer: 10 of its 200 values repeat another, and k counts rows as people" in done.output


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame.drop_duplicates("Personalnummer"),
        lambda frame: frame.assign(Personalnummer=frame["Personalnummer"] % 50),
    ],
)
def test_numbers_of_people_that_differ_and_numbers_of_many_people_are_not(tmp_path, frame, change):
    path, _, roles = files(tmp_path, change(frame))
    assert repeated_people_warnings(load_table(path, roles)) == []


def test_people_share_surnames(tmp_path, frame):
    path, _, roles = files(
        tmp_path, frame.rename(columns={"Personalnummer": "Nachname"}), ROLES.replace("Personalnummer", "Nachname")
    )
    assert repeated_people_warnings(load_table(path, roles)) == []


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
