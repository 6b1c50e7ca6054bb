"""``tokumei defend``, ``risk`` and ``utility`` on the user's own table."""

import gzip
import io
import json
import os
import re
import stat
import subprocess

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from run_tools import COMMAND, ended, environment, fork_or_start

from defenses.base.channel import Channel
from leaderboard import render_report
from scenarios.commands.cli import cli
from scenarios.commands.common import write_text
from scenarios.running.methods.invented_people import people
from scenarios.tables.review.release_notes import counted_cells, empty_cells_warning, lost_gaps_note
from scenarios.tables.seeds import generator

ROLES = """
separator = ";"
identifiers = ["name"]
quasi_identifiers = ["age", "city", "grade"]
sensitive = ["illness"]
[columns.age]
type = "number"
integer = true
low = 18
high = 95
"""


def test_validate_counts_one_in_the_singular(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("city\nOslo\n")
    assert "one.csv: 1 record, 1 column: valid\n" in CliRunner().invoke(cli, ["validate", str(path)]).output


@pytest.fixture
def folder(tmp_path, monkeypatch):
    records = people(200, generator(0, "people"))
    records.frame.drop(columns="income").to_csv(tmp_path / "people.csv", sep=";", index=False)
    (tmp_path / "roles.toml").write_text(ROLES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*arguments, code=0):
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def test_a_table_is_defended_and_nobody_is_named(folder):
    call(
        "defend", "Mondrian", "-p", "k=7", "people.csv", "--roles", "roles.toml", "-o", "released.csv",
        "--truth", "who.csv", "--channel", "channel.toml",
    )  # fmt: skip
    text = (folder / "released.csv").read_text()
    assert "person" not in text
    assert "name" not in text.splitlines()[0]
    released = pd.read_csv("released.csv", sep=";", dtype=str)
    assert released.groupby(["age", "city", "grade"], dropna=False).size().min() >= 7
    assert stat.S_IMODE(os.stat("who.csv").st_mode) == 0o600
    truth = pd.read_csv("who.csv")
    original = pd.read_csv("people.csv", sep=";", dtype=str)
    assert sorted(truth["record"]) == list(range(200))
    assert not truth["record"].is_monotonic_increasing
    assert (released["illness"].to_numpy() == original["illness"].to_numpy()[truth["record"]]).all()
    assert Channel.from_toml((folder / "channel.toml").read_text()).columns == {"age", "city", "grade"}
    assert not list(folder.glob("*.part"))


def test_without_a_seed_the_order_is_secret_and_with_one_it_repeats(folder):
    arguments = ("defend", "Identity", "people.csv", "--roles", "roles.toml")
    assert call(*arguments).stdout != call(*arguments).stdout
    assert call(*arguments, "--seed", 4).stdout == call(*arguments, "--seed", 4).stdout


@pytest.mark.thorough
@pytest.mark.parametrize("parts", [(), ("--memory", "1GB")], ids=["in memory", "in parts"])
def test_a_release_that_says_next_to_nothing_is_warned_of(folder, parts):
    arguments = ("people.csv", "--roles", "roles.toml", "-o", "released.csv", "--force", *parts)
    for method in ("Mondrian", "Incognito"):
        same = "age (the same in every row), city (the same in every row), grade (the same in every row)"
        warning = f"warning: most cells say nothing in these columns: {same}; 75 % of all cells"
        assert warning in call("defend", method, "-p", "k=150", *arguments).stderr
        assert "say nothing" not in call("defend", method, "-p", "k=2", *arguments).stderr


def noted(rule, original, released):
    """What a rule says of two frames."""
    return rule(counted_cells(original, original), counted_cells(released, released))


def test_suppressed_cells_count_as_saying_nothing():
    original = pd.DataFrame({"a": [1, 2, 3, 4], "b": list("wxyz"), "one": ["x"] * 4})
    released = pd.DataFrame({"a": ["*", "*", "*", "4"], "b": ["*", "*", "*", "*"], "one": ["x"] * 4})
    [both] = noted(empty_cells_warning, original, released)
    words = "most cells say nothing in these columns: a (75 % are *), b (the same in every row); 58 % of all cells"
    assert str(both) == words
    assert noted(empty_cells_warning, original, released.assign(a=["*", "*", "3", "4"], b=[*"*xyz"])) == []
    [one] = noted(empty_cells_warning, original, released.assign(a=["*", "*", "3", "4"]))
    assert str(one) == "most cells say nothing in this column: b (the same in every row); 50 % of all cells"
    assert noted(empty_cells_warning, original, original) == []


def test_missing_values_that_vanish_are_said():
    original = pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": ["x", None, None], "c": ["x", "y", "z"]})
    released = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "x"], "c": ["x", "y"]})
    [note] = noted(lost_gaps_note, original, released)
    words = "missing values vanish: the release has none in a (1 of 3), b (2 of 3); each of its rows has a value there"
    assert str(note) == words
    assert noted(lost_gaps_note, original, released.assign(a=["[1,3]", "*"], b=["x", None])) == []


def test_outputs_are_not_overwritten_unless_told(folder):
    arguments = ("defend", "Identity", "people.csv", "--roles", "roles.toml", "-o", "released.csv")
    call(*arguments)
    before = (folder / "released.csv").read_bytes()
    assert "--force" in call(*arguments, code=2).output
    assert (folder / "released.csv").read_bytes() == before
    call(*arguments, "--force")
    assert "two outputs" in call(*arguments, "--truth", "released.csv", "--force", code=2).output
    assert "no folder" in call(*arguments[:-1], "none/released.csv", code=2).output


@pytest.mark.thorough
@pytest.mark.long_beyond(2)
@pytest.mark.parametrize("method", ["Identity", "Mondrian", "AdditiveNoise", "Pseudonymization"])
def test_a_release_is_written_as_its_name_says(folder, method):
    def written(name):
        call("defend", method, "people.csv", "--roles", "roles.toml", "--seed", 5, "-o", name, "--truth", f"who-{name}")
        return call("risk", name, "--roles", "roles.toml").stdout

    text = written("released.csv")
    assert written("released.csv.gz") == text == written("released.PARQUET")
    assert gzip.decompress((folder / "released.csv.gz").read_bytes()) == (folder / "released.csv").read_bytes()
    released = pd.read_parquet("released.PARQUET")
    assert list(released) == pd.read_csv("released.csv", sep=";", dtype=str).columns.tolist()
    assert released["grade"].isna().sum() == pd.read_csv("released.csv", sep=";", dtype=str)["grade"].isna().sum()
    assert pd.read_parquet("who-released.PARQUET").equals(pd.read_csv("who-released.csv"))
    assert stat.S_IMODE(os.stat("who-released.PARQUET").st_mode) == 0o600
    arguments = ("--roles", "roles.toml", "--format", "json")
    scores = [
        call("utility", "people.csv", name, *arguments).stdout
        for name in ("released.csv", "released.csv.gz", "released.PARQUET")
    ]
    assert len(set(scores)) == 1


@pytest.mark.thorough_beyond(4)
@pytest.mark.parametrize("name", ["released.xlsx", "released.json", "released.tsv", "released.gz", "released.2024"])
def test_other_formats_are_refused_before_the_work(folder, name):
    refused = call("defend", "Identity", "none.csv", "-o", name, code=2).output
    assert f"-o {name}: tables are written as .csv, .csv.gz or .parquet, not as {name[8:]}" in refused
    assert "--truth" in call("defend", "Identity", "none.csv", "--truth", name, code=2).output
    assert not (folder / name).exists()
    call("defend", "Identity", "people.csv", "--roles", "roles.toml", "-o", "released")
    assert (folder / "released").read_text().count(";")


def test_a_page_is_written_where_it_was_and_links_and_pipes_stay(tmp_path, monkeypatch):
    page, link, pipe = tmp_path / "page.html", tmp_path / "link.html", tmp_path / "pipe"
    page.write_text("old")
    page.chmod(0o640)
    link.symlink_to(page)
    os.mkfifo(pipe)
    write_text("new", page)
    assert (page.read_text(), stat.S_IMODE(page.stat().st_mode)) == ("new", 0o640)
    write_text("by the link", link)
    assert (page.read_text(), link.is_symlink()) == ("by the link", True)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_text("through the pipe", pipe)
    assert (os.read(reader, 100), pipe.is_fifo()) == (b"through the pipe", True)
    os.close(reader)

    def full(*arguments):
        raise OSError("no space")

    monkeypatch.setattr("metrics.columns.files.os.replace", full)
    with pytest.raises(OSError, match="no space"):
        write_text("half", page)
    assert page.read_text() == "by the link"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.html", "page.html", "pipe"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("Mondrain",), "did you mean 'Mondrian'"),
        (("Mondrian", "-p", "k"), "NAME=VALUE"),
        (("Mondrian", "-p", "k=2", "-p", "k=3"), "given twice"),
        (("Mondrian", "-p", "columns=[job]"), """-p 'columns=["job"]'"""),
        (("Mondrian", "-p", "columns=[ a b, 3]"), """-p 'columns=["a b", 3]'"""),
        (("Mondrian", "-p", "k=0"), "k must"),
        (("Mondrian", "-p", "k=201"), "k must not exceed"),
        (("Mondrian", "-p", "q=1"), "no parameter 'q'"),
        (("GlobalRecoding", "-p", "levels={age=99}"), "age"),
    ],
)
def test_bad_requests_are_refused_and_write_nothing(folder, arguments, says):
    result = call("defend", *arguments, "people.csv", "--roles", "roles.toml", "-o", "released.csv", code=2)
    assert says in result.output
    assert not (folder / "released.csv").exists()


def test_risk_of_a_table_by_hand(folder):
    (folder / "r.toml").write_text('quasi_identifiers = ["a", "b"]\nsensitive = ["s"]\n')
    (folder / "t.csv").write_text("a,b,s\nx,1,u\nx,1,v\ny,1,u\ny,2,u\n")
    text = call("risk", "t.csv", "--roles", "r.toml").stdout
    assert re.search(r"records +4\n", text)
    assert re.search(r"alone in their class +2 \(50.0%\)\n", text)
    assert re.search(r"in a class with one value of s +2 \(50.0%\)\n", text)
    assert "If the rows are synthetic, classes mean little" in text
    # Classes of 2, 1 and 1: a mean risk of 3/4, three quarters of 4 records linked rightly.
    assert re.search(r"prosecutor, mean +\.750 ", text)
    assert re.search(r"\nk +1 ", text)
    # Row 4 is singled out by b alone, row 3 by a and b together.
    assert re.search(r"\nb +2\na +1\n", text)


def test_a_class_of_one_value_stands_beside_those_alone(folder):
    (folder / "r.toml").write_text('quasi_identifiers = ["a"]\nsensitive = ["s", "t"]\n')
    (folder / "t.csv").write_text("a,s,t\n" + "[1|2],u,p\n[1|2],u,q\n[1|2],u,p\n[3|4],u,p\n[3|4],v,q\n")
    text = call("risk", "t.csv", "--roles", "r.toml", "--html", "risk.html").stdout
    assert re.search(r"alone in their class +0 \(0.0%\)\n", text)
    assert re.search(r"in a class with one value of s +3 \(60.0%\)\n", text)
    assert re.search(r"in a class with one value of t +0 \(0.0%\)\n", text)
    # Intervals are no synthetic rows.
    assert "synthetic" not in text
    page = (folder / "risk.html").read_text(encoding="utf-8")
    assert "<b>3 (60.0%)</b>in a class with one value of s" in page
    assert "synthetic" not in page


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(("population", "fitting"), [(2000, "Pitman"), (1999, "SNB")])
def test_the_estimator_that_fits_the_sampling_fraction_comes_first(folder, population, fitting):
    call("defend", "Identity", "people.csv", "--roles", "roles.toml", "-o", "released.csv", "--seed", 1)
    given = ("risk", "released.csv", "--roles", "roles.toml", "--population-size", population)
    text = call(*given, "--html", "risk.html").stdout.partition("population, estimated\n")[2]
    lines = text.splitlines()
    assert lines[0].startswith(f"{fitting} ")
    assert sorted(line.split()[0] for line in lines[:3]) == ["Pitman", "SNB", "Zayatz"]
    values = {line.split()[0]: float(line.split()[1]) for line in lines[:3]}
    assert values["SNB"] < values["Zayatz"]
    assert lines[3].startswith(f"{fitting} fits: 10.0% of the population are in the table.")
    assert f"{fitting} ← fits" in (folder / "risk.html").read_text(encoding="utf-8")


def test_the_report_is_one_page_without_cells(folder):
    call("defend", "Mondrian", "-p", "k=3", "people.csv", "--roles", "roles.toml", "-o", "released.csv")
    call("risk", "released.csv", "--roles", "roles.toml", "--html", "risk.html", "--population-size", 1000)
    page = (folder / "risk.html").read_text(encoding="utf-8")
    assert not re.search(r"https?://", page)
    assert "<script" not in page
    assert "flu" not in page
    # All pages share one style sheet.
    styles = [text.partition("<style>")[2].partition("</style>")[0] for text in (page, render_report("Any", {}, ()))]
    assert styles[0].strip()
    assert styles[0] == styles[1]
    # On a phone, a bar and its words stand below the name instead of beside it.
    assert page.count('<div class="scroll measures"><table>') >= 5
    assert call("risk", "released.csv", "--roles", "roles.toml", "--html", "risk.html", code=2)


def test_risk_refuses_identifiers_and_missing_columns(folder):
    assert "identifier" in call("risk", "people.csv", "--roles", "roles.toml", code=2).output
    (folder / "t.csv").write_text("age;city\n1;x\n")
    assert "no column 'grade'" in call("risk", "t.csv", "--roles", "roles.toml", code=2).output


@pytest.mark.thorough
def test_utility_of_copy_and_of_generalized_table(folder):
    def utility(*arguments):
        return json.loads(call("utility", "people.csv", *arguments, "--roles", "roles.toml", "--format", "json").stdout)

    for k in (1, 20):
        call("defend", "Mondrian", "-p", f"k={k}", "people.csv", "--roles", "roles.toml", "-o", f"k{k}.csv")
    best, worse = utility("k1.csv"), utility("k20.csv", "--held-out", "people.csv")
    assert best["utility"] == pytest.approx(1.0)
    assert best["normalized_certainty_penalty"] == 0
    assert 0 < worse["utility"] < 0.9
    assert worse["normalized_certainty_penalty"] > 0.1
    assert "classifier" in worse


@pytest.mark.thorough
def test_utility_says_why_associations_are_missing_or_0(folder):
    def utility(table, *columns):
        lines = [",".join(columns), *(",".join(map(str, row)) for row in table)]
        (folder / "t.csv").write_text("\n".join(lines) + "\n")
        (folder / "c.csv").write_text("\n".join([lines[0], *[lines[1]] * len(table)]) + "\n")
        return [call("utility", "t.csv", released) for released in ("t.csv", "c.csv")]

    same, constant = utility([(a, a, b) for a in "xy" for b in "xy"] * 50, "a", "b", "c")
    assert "Associations 0" not in same.output
    assert "Associations are" not in same.output
    assert "note: Associations 1: in their bins, pairs are no further from the table" in same.stderr
    assert "note: Associations 0: the release relates columns no better than constants" in constant.stderr
    for one in utility([(a, b, c) for a in "xy" for b in "xy" for c in "xy"] * 3, "a", "b", "c"):
        assert "a second sample of as many people would come no closer" in one.stderr
        assert re.search(r"associations +not measured\n", one.stdout)
    assert all("at least 3 columns" in one.stderr for one in utility([("x", "x"), ("y", "y")] * 20, "a", "b"))


@pytest.mark.thorough
def test_it_works_in_a_pipe(folder):
    """As ``cat people.csv | tokumei defend Mondrian -p k=4 - … | tokumei risk - …``."""
    options = {"stdout": subprocess.PIPE, "env": environment(), "cwd": folder}
    defend, risk = (
        [*COMMAND, *words, "-", "--roles", "roles.toml"] for words in (["defend", "Mondrian", "-p", "k=4"], ["risk"])
    )
    with (
        subprocess.Popen(["cat", "people.csv"], **options) as read,
        fork_or_start(defend, stdin=read.stdout, **options) as released,
        fork_or_start(risk, stdin=released.stdout, text=True, **options) as measured,
    ):
        # Only the next program holds the end that it reads.
        read.stdout.close()
        released.stdout.close()
        assert re.search(r"\nk +[4-9]", ended(measured))
    assert (read.returncode, released.returncode) == (0, 0)


@pytest.mark.thorough
def test_special_characters_survive_the_file(folder):
    call("defend", "Identity", "people.csv", "--roles", "roles.toml", "-o", "released.csv", "--seed", 1)
    released = pd.read_csv(io.StringIO((folder / "released.csv").read_text()), sep=";", dtype=str)
    assert {"Nara\\|Uji", "\\{Kōbe}", "\\*"} <= set(released["city"])
    result = call("utility", "people.csv", "released.csv", "--roles", "roles.toml", "--format", "json")
    assert np.isclose(json.loads(result.stdout)["utility"], 1.0)


def test_nothing_secret_or_needed_is_lost(folder):
    arguments = ("defend", "Identity", "people.csv", "--roles", "roles.toml")
    assert "two outputs" in call(*arguments, "-o", "x.csv", "--truth", "./x.csv", code=2).output
    assert "secret" in call(*arguments, "--truth", "-", code=2).output
    assert "two outputs" in call(*arguments, "--channel", "-", code=2).output
    for lost in ("people.csv", "./roles.toml"):
        assert "is an input" in call(*arguments, "-o", lost, "--force", code=2).output
    assert (folder / "roles.toml").read_text() == ROLES
    for arguments in (("defend", "Identity", "people.csv"), ("report", "people.csv", "people.csv", "-o", "r.html")):
        assert "name differs in every record, as identifiers do" in call(*arguments, code=2).output


@pytest.mark.thorough
def test_pseudonyms_can_be_measured_and_names_cannot(folder):
    call("defend", "Pseudonymization", "people.csv", "--roles", "roles.toml", "-o", "pseudonyms.csv")
    assert "person" not in (folder / "pseudonyms.csv").read_text()
    call("risk", "pseudonyms.csv", "--roles", "roles.toml", "--population-size", 5000, "--cells", 2000)
    assert "identifier" in call("risk", "people.csv", "--roles", "roles.toml", code=2).output
