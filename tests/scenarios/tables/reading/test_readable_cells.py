"""Cells of a release that only the original table explains: empty ones that are suppressed, and unknown ones."""

import json

import numpy as np
import pandas as pd
import pytest
from finished_tools import setting_of, write_people
from large_tools import unanchored
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
    # Utilities are only compared with each other.
    unanchored(monkeypatch)
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
    released.loc[:3, "age"] = ["N", "[20?29]", "{30|x}", "[20-29]"]
    released.loc[:1, "job"] = ["pilot", "{cook|pilot}"]
    released.to_csv("unknown.csv", index=False)
    _, notes = utility("unknown.csv", *options)
    assert "age: 1 released cell of 200 in other spellings" in notes
    assert "age: 3 released cells of 200 hold no number, interval or set; read as suppressed (*)" in notes
    assert "job: 2 released cells of 200 name a category outside its domain; read as suppressed (*)" in notes
    assert "pilot" not in notes
    call("risk", "unknown.csv", "--roles", "roles.toml", *options)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("options", [(), ("--memory", "600MB")], ids=["memory", "parts"])
def test_numbers_outside_the_domain_are_counted(folder, options):
    released = pd.read_csv("star.csv", dtype=str)
    assert "outside the domain" not in utility("star.csv", *options)[1]
    starred, _ = utility("star.csv", *options)
    for number in ("999", "-1", "9999.0"):
        released.replace({"age": {"*": number}}).to_csv("far.csv", index=False)
        count = (released["age"] == "*").sum()
        assert f"age: {count} released cells of 200 lie outside the domain" in utility("far.csv", *options)[1]
        named, notes = utility("far.csv", "--suppressed", number, *options)
        assert named == starred
        assert "outside the domain" not in notes


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


def test_a_column_of_unknown_cells_is_noted_and_counted(folder):
    pd.read_csv("star.csv", dtype=str).assign(age="young").to_csv("labels.csv", index=False)
    done = invoke("utility", "people.csv", "labels.csv", "--roles", "roles.toml")
    assert done.exit_code == 0
    assert "age: 200 released cells of 200 hold no number, interval or set; read as suppressed (*)" in done.output


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


PARTS = pytest.mark.parametrize("options", [(), ("--memory", "600MB")], ids=["memory", "parts"])


@pytest.fixture
def gaps(folder):
    """The folder with an original that has missing values, and dates, so that empty cells say nothing by themselves."""
    rng = np.random.default_rng(4)
    people = pd.read_csv("people.csv").astype({"age": "Int64"})
    people["seen"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 90, 200), "D")
    with open("roles.toml", "a") as roles:
        roles.write('[columns.seen]\ntype = "date"\nlow = "2020-01-01"\nhigh = "2020-12-31"\n')
    roles = (folder / "roles.toml").read_text().replace('"job"]', '"job", "seen"]')
    (folder / "roles.toml").write_text(roles)
    hidden = rng.random((200, 3)) < 0.3
    hidden[0] = True
    quasi = ["age", "job", "seen"]
    people.loc[:3, quasi] = None
    people.to_csv("people.csv", index=False)
    text = people.astype(object)
    text["seen"] = people["seen"].dt.strftime("%Y-%m-%d")
    for name, cell in (("star", "*"), ("empty", None), ("word", " NA "), ("mixed", None)):
        released = text.copy()
        released[quasi] = released[quasi].mask(hidden, cell)
        if name != "star":
            released.loc[:3, quasi] = released.loc[:3, quasi].fillna("*")
        else:
            released.loc[:3, quasi] = "*"
        if name == "mixed":
            released["job"] = released["job"].fillna("*")
        released.to_csv(f"{name}.csv", index=False)
    return folder


@pytest.mark.thorough
@pytest.mark.long_for("word-NA-parts", "mixed--parts")
@PARTS
@pytest.mark.parametrize(("name", "text"), [("empty", ""), ("word", "NA"), ("mixed", "")])
def test_the_text_of_suppressed_cells_can_be_told(gaps, options, name, text):
    """Where the original misses values, too, `--suppressed` says which text means a suppressed cell.

    Words that are no cell, such as NA, are read as suppressed beside the original anyway; `risk` has no original.
    """
    said = ("--suppressed", text, *options)
    assert utility(f"{name}.csv", *said) == utility("star.csv", *options)
    unsaid, star = (utility(file, *options)[0] for file in (f"{name}.csv", "star.csv"))
    assert (unsaid == star) == (name == "word")
    given, star, unsaid = (
        call("risk", file, "--roles", "roles.toml", *rest).stdout
        for file, rest in ((f"{name}.csv", said), ("star.csv", options), (f"{name}.csv", options))
    )
    assert given == star != unsaid
    with open("roles.toml", "r+") as roles:
        content = roles.read()
        roles.seek(0)
        roles.write(f'suppressed = ["{text}"]\n' + content)
    assert utility(f"{name}.csv", *options) == utility("star.csv", *options)


@pytest.mark.thorough_beyond(1)
@PARTS
def test_empty_rows_may_be_suppressed_rows(folder, options):
    frame = pd.DataFrame({"age": ["[20,29]"] * 3 + ["*"] * 2, "job": ["cook"] * 3 + ["*"] * 2})
    frame.to_csv("stars.csv", index=False)
    frame.replace("*", None).to_csv("blank.csv", index=False)
    refused = invoke("risk", "blank.csv", *options)
    assert refused.exit_code == 2
    assert "empty in every column" in refused.output
    star, blank = (call("risk", *file, *options) for file in (("stars.csv",), ("blank.csv", "--suppressed", "")))
    assert star.stdout == blank.stdout
    assert "2 records are * in every quasi-identifier" in star.stdout


@pytest.mark.parametrize(
    ("texts", "message"),
    [("x --na x", "'x' is in 'na' and in 'suppressed'"), ("cook", "'cook' is in 'suppressed' and a category")],
)
def test_a_text_has_one_meaning(folder, texts, message):
    done = invoke("utility", "people.csv", "star.csv", "--roles", "roles.toml", "--suppressed", *texts.split())
    assert done.exit_code == 2
    assert message in done.output


@pytest.mark.thorough
@pytest.mark.parametrize("missing", [True, False])
def test_defend_says_what_missing_values_count_as(folder, missing):
    people = pd.read_csv("people.csv").astype(object)
    people.loc[:49, "ill"] = None if missing else "flu"
    people.loc[:99, "job"] = None
    people.to_csv("people.csv", index=False)
    done = call("defend", "Mondrian", "-p", "k=5", "people.csv", "--roles", "roles.toml", "-o", "k5.csv", "--seed", "1")
    assert ("ill: what is guaranteed counts a missing value as a value of its own" in done.stderr) == missing
    # Only values of a sensitive column make a class diverse.
    assert ("2-diverse" in done.stderr) == missing
    assert "job: what is guaranteed counts a missing value as a value of its own, and rows" in done.stderr
