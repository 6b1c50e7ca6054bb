"""``tokumei rank`` on files of several tools."""

import json
import re
import signal

import numpy as np
import pytest
from finished_tools import few_attacks, released_by, setting_of, write_people
from run_tools import invoke, read_until, start

from defenses import Mondrian


@pytest.fixture
def folder(tmp_path, monkeypatch):
    write_people(tmp_path)
    monkeypatch.chdir(tmp_path)
    setting = setting_of(tmp_path)
    frame = released_by(setting, Mondrian(k=5))
    frame.to_csv("mondrian.csv", index=False)
    frame.sample(frac=1, random_state=0).to_csv("shuffled.csv", index=False)
    frame[["age", "illness"]].iloc[:60].to_parquet("part.parquet")
    return tmp_path


@pytest.fixture
def quick(monkeypatch):
    """Evaluations of few attacks, for tests of what is done with them."""
    few_attacks(monkeypatch)


def rank(*arguments, code=0, jobs=1):
    result = invoke("rank", "people.csv", *arguments, "--roles", "roles.toml", "--quiet", "-j", jobs)
    assert result.exit_code == code, result.output
    return result


def board(result):
    table = json.loads(result.stdout)[0]
    return {row[1]: dict(zip(table["columns"], row, strict=True)) for row in table["rows"]}


@pytest.mark.thorough
@pytest.mark.usefixtures("quick")
def test_files_stand_beside_built_in_defenses(folder):
    result = rank(
        "mondrian.csv", "shuffled.csv", "part.parquet", "--control", "others.csv", "--baseline", "--format", "json"
    )
    lines = board(result)
    assert {"part.parquet", "Identity", "Mondrian k=5", "Constant", "PrivateMarginals epsilon=2"} < set(lines)
    assert lines["Identity"]["score"] < 0.03
    assert lines["mondrian.csv"]["utility"] == lines["Mondrian k=5"]["utility"]
    assert lines["shuffled.csv"]["utility"] == pytest.approx(lines["Mondrian k=5"]["utility"])
    scores = [line["score"] for line in lines.values()]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.usefixtures("quick")
def test_quiet_hides_notes_and_no_warning(folder):
    roles = (folder / "roles.toml").read_text()
    (folder / "roles.toml").write_text(re.sub("^sensitive = .*$", "sensitive = []", roles, flags=re.MULTILINE))
    said = rank("shuffled.csv").stderr
    assert "warning: no sensitive column is declared" in said
    assert "note: " not in said


@pytest.mark.thorough
@pytest.mark.usefixtures("quick")
def test_every_format_is_written(folder):
    # The evaluation is stored: only the first one takes time.
    for form in ("table", "markdown", "csv", "json", "latex"):
        assert "mondrian" in rank("mondrian.csv", "--format", form, "--html", f"{form}.html").stdout
        assert "mondrian.csv" in (folder / f"{form}.html").read_text()


@pytest.mark.thorough
def test_one_seed_gives_one_result_on_any_number_of_workers(folder):
    names = ("mondrian.csv", "part.parquet", "--control", "others.csv", "--format", "json")
    alone = rank(*names, "--db", "alone.db", jobs=1)
    assert rank(*names, "--db", "together.db", jobs=2).stdout == alone.stdout
    other = rank("mondrian.csv", *names[2:], "--db", "other.db", "--seed", 2)
    assert board(other)["mondrian.csv"] != board(alone)["mondrian.csv"]
    again = rank("mondrian.csv", *names[2:], "--db", "alone.db")
    assert board(again)["mondrian.csv"] == board(alone)["mondrian.csv"]


@pytest.mark.thorough
@pytest.mark.usefixtures("quick")
def test_stored_evaluations_are_used_under_any_name(folder, monkeypatch):
    first = rank("mondrian.csv", "--format", "json")
    (folder / "mondrian.csv").rename("renamed.csv")
    monkeypatch.setattr("scenarios.assessment.evaluation.ranking.evaluate", None)
    again = rank("renamed.csv", "--format", "json")
    assert again.stdout == first.stdout.replace("mondrian.csv", "renamed.csv")


@pytest.mark.thorough
@pytest.mark.usefixtures("quick")
def test_a_failing_file_is_a_line_and_the_others_stay(folder):
    (folder / "bad.csv").write_text("weight\n3\n")
    result = rank("bad.csv", "mondrian.csv", "missing.csv", code=3)
    assert "failed: bad.csv: has no column of the original table" in result.output
    assert "failed: missing.csv: there is no such file" in result.output
    assert "mondrian.csv" in result.stdout


@pytest.mark.thorough
def test_bad_input_ends_in_one_line(folder):
    (folder / "bad.csv").write_text("weight\n3\n")
    lines = (folder / "people.csv").read_text().splitlines()
    (folder / "mixed.csv").write_text("\n".join([lines[0], *lines[:0:-1]]))
    (folder / "few.csv").write_text("age,city\n30,x\n")
    for arguments, words in (
        (("bad.csv",), "bad.csv: has no column"),
        ((), "name at least one release"),
        (("mondrian.csv", "mondrian.csv"), "is named twice"),
        (("mondrian.csv", "--control", "few.csv"), "few.csv: control people need the columns"),
        (("mondrian.csv", "--control", "people.csv"), "holds the people of the original table"),
        (("mondrian.csv", "--control", "mixed.csv"), "holds the people of the original table"),
        (("mondrian.csv", "--control", "missing.csv"), "missing.csv: there is no such file"),
        (("mondrian.csv", "--html", "no/page.html"), "--html"),
    ):
        result = rank(*arguments, code=2)
        assert words in result.stderr
        assert "Traceback" not in result.output


def test_a_high_cardinality_column_is_refused_by_name(folder, monkeypatch):
    monkeypatch.setattr("scenarios.assessment.evaluation.evaluation_setting.MOST_BINS", 10)
    assert "column" in rank("mondrian.csv", code=2).stderr


@pytest.mark.thorough
@pytest.mark.usefixtures("quick")
def test_records_never_appear(folder):
    names = [f"person {number}" for number in range(3)]
    output = rank("mondrian.csv", "--control", "others.csv", "--format", "json").output
    assert not any(name in output for name in names)


@pytest.mark.long
@pytest.mark.usefixtures("quick")
def test_an_interrupted_ranking_goes_on(folder):
    rng = np.random.default_rng(0)
    frame = released_by(setting_of(folder), Mondrian(k=4))
    for number in range(4):
        frame.iloc[rng.permutation(len(frame))].to_csv(f"many-{number}.csv", index=False)
    names = [f"many-{number}.csv" for number in range(4)]
    arguments = ("rank", "people.csv", *names, "--roles", "roles.toml", "--control", "others.csv")
    process = start(*arguments, "-j", 2, cwd=folder)
    read_until(process, "evaluated (1 of 4)")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "goes on where it was" in errors
    result = invoke(*arguments, "-j", 1)
    assert result.exit_code == 0, result.output
    assert "known from earlier runs" in result.stderr
