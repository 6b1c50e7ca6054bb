"""Values that the owner of a table should look at."""

import re
from datetime import date

import numpy as np
import pandas as pd
import pytest
from finished_tools import few_attacks
from run_tools import invoke

from scenarios.datasets import load
from scenarios.tables.reading.date_form import DateForm
from scenarios.tables.reading.date_format import ISO
from scenarios.tables.review.doubtful_values import (
    changing_traits,
    doubtful_dates,
    doubtful_numbers,
    doubtful_words,
    repeated_days,
    telling_columns,
)
from scenarios.tables.review.notes import record_notes

TODAY = date(2026, 1, 1)
NOW = (TODAY - date(1970, 1, 1)).days


def said(notes):
    """Words of notes."""
    return [*map(str, notes)]


def dates(**columns):
    """Notes on columns of days before today; NaN is missing."""
    frame = pd.DataFrame({name: NOW - np.asarray(days, dtype=float) for name, days in columns.items()})
    return said(doubtful_dates(frame, dict.fromkeys(columns, DateForm(ISO)), TODAY))


def test_impossible_dates_are_counted():
    usual = np.arange(100.0)
    assert dates(born=[*usual, -1, -400]) == [
        "born: 2 dates after today; if they are errors or mean a missing value, empty them"
    ]
    assert dates(born=[*usual, 45_000]) == [
        "born: 1 date before 1905; if they are errors or mean a missing value, empty them"
    ]
    assert dates(born=[*usual, np.nan]) == []
    # Today is no future; a plan and a history are no faults.
    assert dates(plan=-usual, history=usual + 60_000, now=np.zeros(100)) == []


def test_a_heap_of_one_date_is_seen():
    usual = np.arange(200.0)
    [note] = dates(born=[*usual, *[7.0] * 50])
    assert note.startswith("born: one date stands in 51 rows, and every other in at most 1; ")
    assert dates(born=np.repeat(usual, 60)) == []


def test_a_date_far_from_all_others_is_seen_in_several_rows():
    usual = np.arange(100.0, 400.0, 3)
    for far, end in ((17_000.0, "first"), (44_000.0, "first"), (-50_000.0, "last")):
        assert [note for note in dates(left=[*usual, *[far] * 8]) if "far from all others" in note] == [
            f"left: the {end} date stands in 8 rows, far from all others; if it means a missing value, empty these "
            "fields"
        ]
    assert dates(left=[*usual, 900.0, 900.0]) == []
    assert not any("far" in note for note in dates(left=[*usual, 16_000.0]))


def test_an_end_before_its_beginning_is_counted():
    start = np.arange(500.0)
    end = start - 3
    end[[4, 9]] += 10
    [note] = dates(start=start + 600, end=end + 600)
    assert note == "end: 2 before start in the same row, which is otherwise first"
    assert dates(start=start + 600, other=np.random.default_rng(0).permutation(start) + 600) == []


@pytest.mark.parametrize(
    ("others", "nines", "seen"),
    [(range(40, 190), 999, True), (range(80), -9, True), (range(40, 700), 999, False), (range(-80, 80), -9, False)],
)
def test_nines_far_from_all_other_numbers(others, nines, seen):
    notes = said(doubtful_numbers(pd.DataFrame({"weight": [*others, nines, nines]}), ()))
    assert bool(notes) == seen
    assert not seen or notes[0].startswith(
        f"weight: {nines} in 2 rows, where all others are from {others[0]} to {others[-1]}"
    )
    # One such number may be true.
    assert said(doubtful_numbers(pd.DataFrame({"weight": [*others, nines]}), ())) == []


def test_traits_that_change_within_a_person():
    frame = pd.DataFrame({"id": ["a", "a", "b", "b", "c"], "Sex": ["F", "M", "F", None, "M"], "Ward": list("vwxyz")})
    [note] = said(changing_traits(frame, "id"))
    assert note.startswith("Sex: differs between rows of the same person for 1 person; correct")
    assert said(changing_traits(frame, None)) == said(changing_traits(frame.assign(Sex="F"), "id")) == []


@pytest.mark.parametrize("name", ["visited", "born"])
def test_a_person_twice_on_one_day(name):
    frame = pd.DataFrame({"id": ["a", "b", "a", "a", "b", None, None], name: [1.0, 1, 1, 5, 9, 2, 2]})
    notes = said(repeated_days(frame, {name: DateForm(ISO)}, ["id"]))
    seen = ["id: 1 row has the same id and the same day in visited as an earlier row; if it was exported twice, keep "]
    # Nobody is born on two days.
    assert [note.removesuffix("one of them") for note in notes] == (seen if name == "visited" else [])
    two = {"left": DateForm(ISO), "visited": DateForm(ISO)}
    assert said(repeated_days(frame.assign(left=frame[name], visited=frame[name]), two, ["id"])) == []


def test_a_date_that_people_have_in_all_their_rows_is_none_of_a_visit():
    frame = pd.DataFrame({"id": [*"aabbcc"], "joined": [1.0, 1, 4, 4, 9, 9]})
    assert said(repeated_days(frame, {"joined": DateForm(ISO)}, ["id"])) == []


def test_words_for_a_missing_value_are_noted_in_columns_that_nobody_declared():
    assert said(doubtful_words({"smoker": ["yes", "Unknown "], "job": ["none", "cook", "keine Angabe"]})) == [
        "smoker: Unknown is a category; if it means a missing value, give --na Unknown",
        "job: keine Angabe is a category; if it means a missing value, give --na 'keine Angabe'",
        "job: none is a category; if it means a missing value, give --na none",
    ]


def test_a_column_that_tells_the_sensitive_value():
    rng = np.random.default_rng(0)
    ward = rng.integers(0, 5, 400)
    frame = pd.DataFrame(
        {"ward": ward, "age": rng.integers(20, 60, 400), "ill": np.where(ward == 4, rng.integers(5, 9, 400), ward)}
    )
    [note] = said(telling_columns(frame, ["ward", "age"], ["ill"]))
    assert note.startswith("ward tells ill: 4 of its 5 values go with one value of ill each, in ")
    shuffled = frame.assign(ill=rng.permutation(frame["ill"]))
    rare = frame.assign(ill=np.where(np.arange(400) < 5, "yes", "no"))
    assert said(telling_columns(shuffled, ["ward", "age"], ["ill"])) == []
    assert said(telling_columns(rare, ["ward", "age"], ["ill"])) == []


@pytest.mark.parametrize("name", ["adult", "bank"])
def test_ordinary_tables_raise_no_such_note(name):
    assert record_notes(load(name), load(name).records.frame) == []


@pytest.mark.thorough
def test_they_are_said_on_screen(tmp_path):
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(100), 3)
    table = pd.DataFrame(
        {
            "Person ID": [f"p{number}" for number in person],
            "sex": np.where(person % 2, "F", "M"),
            "born": [str(date.fromordinal(700_000 + 90 * number)) for number in person],
            "weight": rng.integers(50, 100, 300),
            "smoker": rng.choice(["yes", "no", "unknown"], 300),
            "ill": rng.choice(["a", "b", "c"], 300),
        }
    )
    table.loc[[0, 7], "weight"], table.loc[4, "sex"], table.loc[9, "born"] = 999, "F", "2199-01-01"
    table.loc[4, "sex"] = "M" if table.loc[3, "sex"] == "F" else "F"
    table.to_csv(tmp_path / "visits.csv", index=False)
    (tmp_path / "roles.toml").write_text('person = "Person ID"\nidentifiers = ["Person ID"]\nsensitive = ["ill"]\n')
    described = invoke("describe", tmp_path / "visits.csv", "-o", tmp_path / "guess.toml").output
    validated = invoke("validate", tmp_path / "visits.csv", "--roles", tmp_path / "roles.toml").output
    for said in (described, validated):
        assert "note: weight: 999 in 2 rows" in said
        assert "note: smoker: unknown is a category; if it means a missing value, give --na unknown" in said
        assert re.search(r"^note: sex(, born)?: differs between rows of the same person for 1 person; ", said, re.M)
        assert "note: born: 1 date after today" in said
    assert "note: Person ID: taken for an identifier, by its name; it repeats" in described


@pytest.mark.thorough
def test_every_command_that_reads_the_table_says_them(tmp_path, monkeypatch):
    few_attacks(monkeypatch)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"weight": [*rng.integers(50, 100, 118), 999, 999], "ill": rng.choice(["a", "b", "none"], 120)}
    )
    table["city"] = rng.choice(["Oslo", "Bergen"], 120)
    table.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "roles.toml").write_text('quasi_identifiers = ["weight", "city"]\nsensitive = ["ill"]\n')
    people, roles, out = tmp_path / "people.csv", ("--roles", tmp_path / "roles.toml"), tmp_path / "out.csv"
    commands = (
        ("describe", people, "-o", tmp_path / "guess.toml"),
        ("validate", people, *roles),
        ("defend", "Mondrian", "-p", "k=5", people, *roles, "-o", out),
        ("defend", "Mondrian", "-p", "k=5", people, *roles, "-o", tmp_path / "parts.csv", "--memory", "1GB"),
        ("utility", people, out, *roles),
        ("attack", "NearestNeighbour", "-r", out, "-c", people, *roles, "-o", tmp_path / "answers.csv"),
        ("report", people, out, *roles, "-o", tmp_path / "report.html"),
        ("rank", people, out, *roles, "--db", tmp_path / "rank.db", "--targets", 20, "-j", 1),
    )
    for command in commands:
        output = invoke(*command).output
        assert "weight: 999 in 2 rows, where all others are from 50 to 99" in output, command
        assert "ill: none is a category; if it means a missing value, give --na none" in output, command
