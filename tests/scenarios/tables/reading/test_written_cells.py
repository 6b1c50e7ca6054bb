"""Releases name groups by the labels of their hierarchy, and every command reads the labels back."""

import json
import re
import tomllib

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from run_tools import invoke

from defenses import GlobalRecoding, Incognito, Mondrian
from scenarios.assessment.evaluation.evaluation_setting import EvaluationSetting
from scenarios.tables.dataset import load_table
from scenarios.tables.reading.written_cells import WrittenCells
from scenarios.tables.released import read_released, write_table
from scenarios.tables.roles import read_roles

ROLES = """
quasi_identifiers = ["zip", "age", "job"]
sensitive = ["flu"]
[columns.zip]
type = "category"
hierarchy = { csv = "zip.csv" }
[columns.age]
type = "number"
integer = true
low = 20
high = 59
cuts = [30, 40, 50]
hierarchy = { rows = AGES }
[columns.job]
type = "category"
categories = ["cook", "nurse", "pilot"]
hierarchy = { rows = [["cook", "serves", "*"], ["nurse", "cares", "*"], ["pilot", "serves", "*"]] }
"""
ZIPS = [f"{area}{number:03}" for area in ("01", "02", "1x", "9{") for number in range(0, 300, 5)]
HINT = "labels of a hierarchy need --roles"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    people = {
        "zip": rng.choice(ZIPS, 300),
        "age": rng.integers(20, 60, 300),
        "job": np.where(np.arange(300) == 7, None, rng.choice(["cook", "nurse", "pilot"], 300)),
        "flu": rng.choice(["yes", "no"], 300),
    }
    pd.DataFrame(people).to_csv("people.csv", index=False)
    ages = [
        [str(age), f"{age // 10 * 10}s", f"{age // 20 * 20} to {age // 20 * 20 + 19}", "*"] for age in range(20, 60)
    ]
    (tmp_path / "roles.toml").write_text(ROLES.replace("AGES", json.dumps(ages)))
    (tmp_path / "zip.csv").write_text("".join(f"{code},{code[:3]}**,{code[:2]}***,*\n" for code in ZIPS))
    return tmp_path


def call(*arguments):
    """Output of a command that succeeds."""
    done = invoke(*arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def recode(levels, output, roles="roles.toml"):
    call("defend", "GlobalRecoding", "-p", f"levels={levels}", "people.csv", "--roles", roles, "-o", output)
    return pd.read_csv(output, dtype=str)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
@pytest.mark.parametrize(
    "defense",
    [
        GlobalRecoding(levels={"zip": 2, "age": 1, "job": 1}),
        GlobalRecoding(levels={"zip": 1, "age": 2}),
        GlobalRecoding(levels={"zip": 3}),
        Incognito(k=5),
        Mondrian(k=5),
    ],
    ids=str,
)
def test_a_release_read_back_equals_the_released_cells(folder, defense, suffix):
    dataset = load_table("people.csv", "roles.toml")
    frame = defense.apply(dataset.records, np.random.default_rng(1)).frame
    write_table(dataset.written.write(frame), f"r{suffix}")
    again = read_released(folder / f"r{suffix}", folder / "roles.toml", spelling={}).frame
    for name in frame.columns:
        cells = frame[name].astype(str).where(frame[name].notna(), None)
        assert again[name].tolist() == cells.tolist(), name


def test_the_file_holds_labels(folder):
    released = recode("{zip=2, age=1, job=1}", "r.csv")
    assert {*released["zip"]} == {"01***", "02***", "1x***", "9{***"}
    assert {*released["age"]} == {"20s", "30s", "40s", "50s"}
    assert {*released["job"].dropna()} == {"serves", "nurse"}
    assert released["job"].isna().sum() == 1


def test_default_hierarchies_and_labels_switched_off_leave_sets(folder):
    roles = (folder / "roles.toml").read_text().replace('"zip.csv" }', '"zip.csv", labels = false }')
    (folder / "other.toml").write_text(roles)
    assert recode("{zip=2}", "r.csv", "other.toml")["zip"].str.startswith("{").all()
    ordered = 'quasi_identifiers = ["job"]\n[columns.job]\ntype = "category"\nordered = true\n'
    (folder / "ordered.toml").write_text(ordered + 'categories = ["cook", "nurse", "pilot"]\n')
    assert {*recode("1", "o.csv", "ordered.toml")["job"].dropna()} == {"{cook|nurse}", "pilot"}


@pytest.mark.thorough
def test_every_command_reads_labels_as_the_groups(folder):
    """Risk, utility and attack give the same answers for labels as for sets."""
    dataset = load_table("people.csv", "roles.toml")
    release = GlobalRecoding(levels={"zip": 2, "age": 1, "job": 1}).apply(dataset.records, np.random.default_rng(1))
    write_table(release.frame, "sets.csv")
    write_table(dataset.written.write(release.frame), "labels.csv")
    (folder / "channel.toml").write_text(release.channel.to_toml())
    for arguments in (
        ("risk", "{}"),
        ("utility", "people.csv", "{}"),
        ("attack", "AssignmentLinkage", "-c", "people.csv", "-r", "{}"),
        ("attack", "LikelihoodAssignment", "-c", "people.csv", "--channel", "channel.toml", "-r", "{}"),
    ):
        sets, labels = (
            call(*(argument.format(file) for argument in arguments), "--roles", "roles.toml")
            for file in ("sets.csv", "labels.csv")
        )
        assert sets == labels


def test_finished_releases_are_read_with_their_labels(folder):
    """`tokumei rank` and `tokumei report` read them by the data set."""
    dataset = load_table("people.csv", "roles.toml")
    release = GlobalRecoding(levels={"zip": 2, "age": 1}).apply(dataset.records, np.random.default_rng(1))
    texts = dataset.written.write(release.frame)
    setting = EvaluationSetting(dataset, read_roles(folder / "roles.toml"))
    finished = setting.read("r.csv", texts.to_csv(index=False).encode())
    assert finished.frame["zip"].tolist() == release.frame["zip"].tolist()


@pytest.mark.thorough
def test_without_the_roles_a_label_is_an_ordinary_category(folder):
    recode("{job=1}", "r.csv")
    assert "records               300" in call("risk", "r.csv")
    noted = invoke("utility", "people.csv", "r.csv")
    assert noted.exit_code == 0
    assert re.search(rf"job: \d+ released cells of 300 name a category outside its domain; .*; {HINT}", noted.stderr)
    linked = invoke("attack", "NearestNeighbour", "-c", "people.csv", "-r", "r.csv")
    assert "job: 1 released category that no candidate has" in linked.stderr
    assert HINT in linked.stderr


@pytest.mark.thorough
@pytest.mark.parametrize(("column", "level"), [("zip", 2), ("age", 1), ("age", 2)])
def test_masks_decades_and_ranges_are_read_without_the_roles(folder, column, level):
    recode(f"{{{column}={level}}}", "r.csv")
    read = f"{column}: 300 released cells of 300 in other spellings"
    for command in ("utility people.csv r.csv", "attack NearestNeighbour -c people.csv -r r.csv"):
        done = invoke(*command.split())
        assert done.exit_code == 0
        assert read in done.stderr
        assert "that no candidate has" not in done.stderr


def test_validate_names_labels_that_are_not_used(folder):
    roles = (folder / "roles.toml").read_text().replace('"cares"', '"[cares"').replace('"serves"', '"nurse"')
    (folder / "other.toml").write_text(roles)
    shown = call("validate", "people.csv", "--roles", "other.toml")
    assert "job: releases do not use the hierarchy's label 'nurse', which is also a value" in shown
    assert "label '[cares', which would be read as something else" in shown


def test_a_hierarchy_that_cannot_be_read_is_named(folder):
    (folder / "zip.csv").unlink()
    (folder / "r.csv").write_text("zip,age,job,flu\n01***,20s,serves,yes\n")
    for arguments in (("risk", "r.csv"), ("attack", "NearestNeighbour", "-c", "people.csv", "-r", "r.csv")):
        refused = invoke(*arguments, "--roles", "roles.toml")
        assert refused.exit_code == 2
        assert "roles.toml, table [columns.zip], key 'hierarchy': zip.csv: there is no such file" in refused.stderr


AGES = """
quasi_identifiers = ["age", "job"]
unprotected = ["wage"]
[columns.age]
type = "number"
integer = true
low = 18
high = 80
cuts = [30, 50]
"""


@pytest.fixture
def with_gaps(tmp_path, monkeypatch):
    """A table with a column of whole numbers, and one of other numbers, in which values are missing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "roles.toml").write_text(AGES)
    jobs = ["cook", "nurse"]
    rows = [f"{18 + row % 60 if row % 7 else ''},{jobs[row % 2]},{row if row % 5 else ''}.5" for row in range(300)]
    (tmp_path / "people.csv").write_text("\n".join(["age,job,wage", *rows]).replace(",.5", ",") + "\n")
    return tmp_path


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("parts", [(), ("--memory", "1GB")], ids=["in memory", "in parts"])
@pytest.mark.parametrize(
    ("method", "fractions"),
    [
        ("Identity", False),
        ("Microaggregation", False),
        ("AdditiveNoise -p scale={age=0.3}", False),
        ("Rounding -p base={age=2.5}", True),
    ],
)
def test_integers_are_released_as_integers_where_values_are_missing(with_gaps, method, fractions, parts):
    """A column that a defense releases in fractions keeps them; columns of other numbers stay as they are."""
    if method == "Microaggregation" and parts:
        parts = (*parts, "--blocks", "100")
    for suffix in (".csv", ".parquet"):
        call(
            "defend", *method.split(), "people.csv", "--roles", "roles.toml", *parts, "--seed", "1", "-o", f"r{suffix}"
        )
    texts = pd.read_csv("r.csv", dtype=str)
    ages = texts["age"].dropna()
    assert len(ages) < len(texts)
    assert ages.str.fullmatch(r"\d+").all() != fractions
    assert texts["wage"].dropna().str.fullmatch(r"\d+\.\d+").all()
    kind = pq.read_schema("r.parquet").field("age").type
    assert kind == (pa.float64() if fractions else pa.int64())
    numbers = pq.read_table("r.parquet").column("age").to_pylist()
    assert numbers == [None if pd.isna(text) else float(text) for text in texts["age"]]


def test_whole_numbers_among_other_cells_are_written_as_integers():
    """A defense of one's own may release whole numbers beside intervals; other cells stay as they are."""
    frame = pd.DataFrame({"age": pd.Series([34.0, "[20,30)", None, 2.5, "7.0", True, 1e300], dtype=object)})
    written = WrittenCells(integers=("age",)).write(frame)["age"].tolist()
    assert [str(cell) for cell in written] == ["34", "[20,30)", "None", "2.5", "7.0", "True", "1e+300"]


def test_devices_stay_devices(folder):
    """A device that is named as output is written to, not replaced by a file."""
    import os
    import threading

    os.mkfifo("pipe.csv")
    texts = []
    reader = threading.Thread(target=lambda: texts.append((folder / "pipe.csv").read_text()))
    reader.start()
    write_table(pd.DataFrame({"a": [1]}), "pipe.csv")
    reader.join()
    assert texts == ["a\n1\n"]
    assert (folder / "pipe.csv").is_fifo()


def test_dates_count_days_or_seconds(tmp_path):
    frame = pd.DataFrame({"born": ["1990-01-02", "1991-03-04"], "seen": ["2024-01-02 10:00", "2024-01-03 11:30"]})
    frame.assign(age=[3, 4]).to_csv(tmp_path / "people.csv", index=False)
    assert load_table(tmp_path / "people.csv").written.date_units == {"born": "days", "seen": "seconds"}


WAGES = (
    AGES
    + """
[columns.wage]
type = "number"
integer = false
decimals = 1
low = 0
high = 400
cuts = [100, 200, 300]
"""
)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("parts", [(), ("--memory", "1GB")], ids=["in memory", "in parts"])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_released_numbers_have_the_declared_digits(with_gaps, suffix, parts):
    """Noise of a Laplace distribution has some fifteen digits."""
    for name, roles in (("free.toml", WAGES.replace("decimals = 1", "")), ("roles.toml", WAGES)):
        (with_gaps / name).write_text(roles.replace('unprotected = ["wage"]', "").replace('"job"]', '"job", "wage"]'))
        output = f"{name}{suffix}"
        call(
            *("defend", "AdditiveNoise", "-p", "scale={wage=0.3}", "people.csv", "--roles", name),
            *(*parts, "--seed", "1", "-o", output),
        )
    read = pd.read_csv if suffix == ".csv" else pd.read_parquet
    free, rounded = read("free.toml" + suffix), read("roles.toml" + suffix)
    wages = free["wage"].to_numpy(float)
    expected = np.round(wages, 1)
    np.testing.assert_array_equal(rounded["wage"].to_numpy(float), expected)
    assert (expected != wages)[~np.isnan(wages)].mean() > 0.9
    pd.testing.assert_frame_equal(rounded.drop(columns="wage"), free.drop(columns="wage"))


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("parts", [(), ("--memory", "1GB")], ids=["in memory", "in parts"])
def test_validate_warns_of_digits_that_releases_lose(with_gaps, parts):
    (with_gaps / "roles.toml").write_text(WAGES.replace("integer = false\n", ""))
    said = call("validate", "people.csv", "--roles", "roles.toml", *parts)
    assert "more digits" not in said
    assert "wage: integer is not declared" not in said
    (with_gaps / "roles.toml").write_text(WAGES.replace("decimals = 1", "decimals = 0"))
    said = call("validate", "people.csv", "--roles", "roles.toml", *parts)
    words = "wage: some numbers have more digits after the point than 'decimals' (0); releases round them"
    assert f"warning: {words}\n" in said


def test_numbers_among_intervals_are_rounded_and_intervals_stay():
    cells = [1.26, "[1.25,3.75]", None, 7, True]
    frame = pd.DataFrame({"wage": pd.Series(cells, dtype=object), "count": [1, 2, 3, 4, 5]})
    written = WrittenCells(decimals={"wage": 1, "count": 1, "absent": 0}).write(frame)
    assert written["wage"].tolist() == [1.3, "[1.25,3.75]", None, 7, True]
    assert written["count"].dtype == np.int64


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("low = 0", "low = 0.25", "'low' (0.25) has more digits after the point than 'decimals' (1)"),
        ("high = 400", "high = 399.99", "'high' (399.99) has more digits after the point than 'decimals' (1)"),
        ("integer = false", "integer = true", "'decimals' are for numbers that are not integers"),
        ("decimals = 1", "decimals = -1", "greater than or equal to 0"),
        ("decimals = 1", "decimals = 16", "less than or equal to 15"),
        ("decimals = 1", "decimals = 1.5", "integer"),
    ],
)
def test_decimals_that_no_release_can_have_are_refused(with_gaps, old, new, message):
    text = AGES + WAGES[len(AGES) :].replace(old, new)
    (with_gaps / "roles.toml").write_text(text)
    refused = invoke("validate", "people.csv", "--roles", "roles.toml")
    assert refused.exit_code == 2
    assert "roles.toml" in refused.stderr
    assert message in refused.stderr


@pytest.mark.thorough_beyond(5)
@pytest.mark.parametrize(
    ("texts", "decimals"),
    [
        (["1.5", "2.25", "3"], 2),
        (["1.50", "nan"], 2),
        ([" 1.5 ", "-.125"], 3),
        (["1.", "2.5"], 1),
        (["1e-3", "2.5"], None),
        (["0.1234567890123456"], None),
    ],
)
def test_describe_declares_the_digits_of_the_table(tmp_path, monkeypatch, texts, decimals):
    monkeypatch.chdir(tmp_path)
    lines = [f"{row},{text}" for row, text in enumerate(texts * 4)]
    (tmp_path / "t.csv").write_text("\n".join(["age,wage", *lines]) + "\n")
    call("describe", "t.csv", "-o", "roles.toml")
    wage = tomllib.loads((tmp_path / "roles.toml").read_text())["columns"]["wage"]
    assert wage.get("decimals") == decimals
    call("validate", "t.csv", "--roles", "roles.toml")
