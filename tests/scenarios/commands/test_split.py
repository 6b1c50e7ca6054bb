"""`tokumei split`."""

import stat
from pathlib import Path

import pytest
from run_tools import invoke

TABLE = "id;born;sum\n" + "".join(f"p{number // 2};{1950 + number};{number},5\n" for number in range(40))
PARTS = ("-o", "treated.csv", "--control", "others.csv")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(TABLE)
    Path("roles.toml").write_text(
        'person = "id"\nidentifiers = []\nquasi_identifiers = ["born"]\nsensitive = ["sum"]\n'
    )


def people(name):
    return {line.split(";")[0] for line in Path(name).read_text().splitlines()[1:]}


@pytest.mark.parametrize("options", [("--roles", "roles.toml"), ("--person", "id")])
def test_people_are_split_whole_and_said(options):
    done = invoke("split", "people.csv", *options, *PARTS, "--seed", "3")
    assert done.exit_code == 0, done.output
    assert (
        "treated.csv: 16 people, 32 rows; others.csv: 4 people, 8 rows. Control group for threshold .2: " in done.output
    )
    assert not people("treated.csv") & people("others.csv")
    assert len(people("treated.csv") | people("others.csv")) == 20
    assert "p1;" not in done.output
    for name in ("treated.csv", "others.csv"):
        assert stat.S_IMODE(Path(name).stat().st_mode) == 0o600


@pytest.mark.parametrize("options", [("--roles", "roles.toml"), ("--person", "id")])
def test_what_is_doubtful_is_said_as_by_other_commands(options):
    Path("people.csv").write_text(TABLE + "p20;1999;999\np21;1998;999\n")
    said = "note: sum: 999 in 2 rows, where all others are from 0.5 to 39.5; "
    assert said in invoke("split", "people.csv", *options, *PARTS).stderr
    assert said in invoke("describe", "people.csv", "-o", "guess.toml").stderr


def test_a_column_without_a_value_is_split_too():
    Path("people.csv").write_text("id;note\n" + "".join(f"p{number};\n" for number in range(20)))
    assert invoke("split", "people.csv", *PARTS).exit_code == 0


@pytest.mark.thorough
def test_a_seed_repeats_a_split_and_no_seed_does_not():
    drawn = []
    for options in (["--seed", "3"], ["--seed", "3"], [], [], []):
        assert invoke("split", "people.csv", "--person", "id", *PARTS, "--force", *options).exit_code == 0
        drawn.append(Path("others.csv").read_bytes())
    assert drawn[0] == drawn[1]
    # Three draws of 4 of 20 people are equal by chance with probability 1 / 4845 ** 2.
    assert len(set(drawn[2:])) > 1


def test_rows_exported_twice():
    Path("people.csv").write_text(TABLE + TABLE.splitlines(keepends=True)[1])
    warned = invoke("split", "people.csv", *PARTS)
    assert "warning: 1 of the rows equal" in warned.output
    assert "note: each row counts as a person" in warned.output
    done = invoke("split", "people.csv", *PARTS, "--force", "--drop-repeated")
    assert "1 repeated row left out" in done.output
    lines = [line for name in ("treated.csv", "others.csv") for line in Path(name).read_text().splitlines()[1:]]
    assert sorted(lines) == sorted(TABLE.splitlines()[1:])


@pytest.mark.thorough_beyond(9)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--share", "0"), "between 0 and 1"),
        (("--share", "1.2"), "between 0 and 1"),
        (("--share", "nan"), "between 0 and 1"),
        (("--share", "0.01"), "the control group would be empty"),
        (("--share", "0.99"), "the part to release would be empty"),
        (("--person", "name"), "people.csv: there is no column 'name'"),
        (("--control", "treated.csv"), "is named for two outputs"),
        (("--control", "people.csv", "--force"), "is an input and would be lost"),
        (("-o", "-"), "must be files of their own"),
        (("--control", "others.xlsx"), "would be Excel, but a split keeps the format of the table, CSV"),
        (("--control", "others.csv.gz"), "would be compressed CSV"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(arguments, words):
    done = invoke("split", "people.csv", *PARTS, *arguments)
    assert done.exit_code == 2
    assert words in " ".join(done.output.split())
    assert Path("people.csv").read_text() == TABLE
    assert sorted(path.name for path in Path().iterdir()) == ["people.csv", "roles.toml"]


def test_existing_files_stay_without_force():
    Path("others.csv").write_text("mine")
    assert "others.csv exists" in invoke("split", "people.csv", *PARTS).output
    assert Path("others.csv").read_text() == "mine"
    assert not Path("treated.csv").exists()


def test_one_row_of_each_person_is_kept_at_random():
    done = invoke("split", "people.csv", "--person", "id", *PARTS, "--one-row", "--seed", "3")
    assert "one row of each person kept at random; 20 rows left out" in done.output
    assert "treated.csv: 16 people, 16 rows; others.csv: 4 people, 4 rows" in done.output
    rows = [line for name in ("treated.csv", "others.csv") for line in Path(name).read_text().splitlines()[1:]]
    assert len({row.split(";")[0] for row in rows}) == len(rows) == 20
    # All 20 people keep their first row by chance with probability 2 ** -20.
    assert 0 < sum(int(row.split(";")[1]) % 2 for row in rows) < 20
    assert (
        "note: 40 rows of 20 people: k and" in invoke("split", "people.csv", "--person", "id", *PARTS, "--force").output
    )
    refused = invoke("split", "people.csv", *PARTS, "--force", "--one-row")
    assert refused.exit_code == 2
    assert "--one-row: name the column of the person" in refused.output
