"""Cells of a release that only the original table explains: empty ones that are suppressed, and unknown ones."""

import json

import numpy as np
import pandas as pd
import pytest
from finished_tools import setting_of, write_people
from run_tools import invoke

ROLES = """
quasi_identifiers = ["age", "job"]
sensitive = ["ill"]
[columns.age]
type = "number"
integer = true
low = 18
high = 89
[columns.job]
type = "category"
categories = ["cook", "nurse", "driver"]
[columns.ill]
type = "category"
categories = ["flu", "none"]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    people = pd.DataFrame(
        {
            "age": rng.integers(18, 90, 200),
            "job": rng.choice(["cook", "nurse", "driver"], 200, p=[0.7, 0.2, 0.1]),
            "ill": rng.choice(["flu", "none"], 200, p=[0.3, 0.7]),
        }
    )
    people.to_csv("people.csv", index=False)
    (tmp_path / "roles.toml").write_text(ROLES)
    hidden = rng.random((200, 2)) < 0.3
    for name, cell in (("star", "*"), ("empty", None)):
        released = people.astype(object)
        released[["age", "job"]] = released[["age", "job"]].mask(hidden, cell)
        released.to_csv(f"{name}.csv", index=False)
    return tmp_path


def call(*arguments):
    done = invoke(*map(str, arguments))
    assert done.exit_code == 0, done.output
    return done


def utility(released, *options):
    done = call("utility", "people.csv", released, "--roles", "roles.toml", "--format", "json", *options)
    return json.loads(done.stdout), done.stderr


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("options", [(), ("--memory", "600MB")], ids=["memory", "parts"])
def test_empty_cells_are_suppressed_where_no_original_is_missing(folder, options):
    (star, _), (empty, notes) = (utility(name, *options) for name in ("star.csv", "empty.csv"))
    assert empty == star
    assert notes.count("read as suppressed (*)") == 2
    # A column that misses values itself says nothing about the release's empty cells.
    people = pd.read_csv("people.csv").astype(object)
    people.loc[0, "age"] = None
    people.to_csv("people.csv", index=False)
    _, notes = utility("empty.csv", *options)
    assert notes.count("read as suppressed (*)") == 1
    assert "job: " in notes


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("options", [(), ("--memory", "600MB")], ids=["memory", "parts"])
def test_unknown_cells_are_counted_and_refuse_no_file(folder, options):
    released = pd.read_csv("star.csv", dtype=str)
    released.loc[:2, "age"] = ["N", "[20-29]", "{30|x}"]
    released.loc[:1, "job"] = ["pilot", "{cook|pilot}"]
    released.to_csv("unknown.csv", index=False)
    _, notes = utility("unknown.csv", *options)
    assert "age: 3 released cells of 200 hold no number, interval or set; read as suppressed (*)" in notes
    assert "job: 2 released cells of 200 name a category outside its domain; read as suppressed (*)" in notes
    assert "pilot" not in notes
    call("risk", "unknown.csv", "--roles", "roles.toml", *options)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("roles", [(), ("--roles", "roles.toml")], ids=["inferred", "declared"])
def test_attacks_read_empty_and_unknown_cells(folder, roles):
    def answers(released):
        done = call(
            "attack", "AssignmentLinkage", "-r", released, "-c", "people.csv", "-o", "answer.csv", "--force", *roles
        )
        return pd.read_csv("answer.csv"), done.output

    star, _ = answers("star.csv")
    empty, notes = answers("empty.csv")
    pd.testing.assert_frame_equal(star, empty)
    assert "the candidates have no missing value there" in notes
    released = pd.read_csv("star.csv", dtype=str)
    released.loc[3, "age"] = "N"
    released.to_csv("unknown.csv", index=False)
    assert "age: 1 released cell of 200 holds no number" in answers("unknown.csv")[1]


def test_a_column_of_another_kind_is_still_refused(folder):
    pd.read_csv("star.csv", dtype=str).assign(age="20s").to_csv("labels.csv", index=False)
    done = invoke("utility", "people.csv", "labels.csv", "--roles", "roles.toml")
    assert done.exit_code == 2
    assert "column 'age'" in done.output


def test_finished_releases_are_read_alike(tmp_path):
    """`rank` and `report` read releases so."""
    write_people(tmp_path)
    setting = setting_of(tmp_path, control=False)
    cells = setting.records.frame[list(setting.columns)].astype(object)
    assert setting.records.frame["age"].notna().all()
    cells.loc[:3, "age"] = ["N", None, "*", None]
    table = setting.read("r.csv", cells.to_csv(index=False).encode())
    assert table.frame["age"][:4].tolist() == ["*"] * 4
    assert sum(note.startswith("age: ") and "read as suppressed" in note for note in map(str, table.notes)) == 2
