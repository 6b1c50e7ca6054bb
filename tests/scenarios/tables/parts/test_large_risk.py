"""Risk of a table that is read in parts: the numbers of the table in memory."""

from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from scenarios.commands.cli import cli
from scenarios.tables.parts import raw_columns
from scenarios.tables.parts.risk import risk_of_file
from scenarios.tables.released import read_released
from scenarios.tables.review.rows_of_people import hidden_people_notes
from scenarios.tables.risk import risk_report

MEMORY = 1 << 30
ROLES = """
identifiers = ["name"]
quasi_identifiers = ["age", "town", "born", "k0", "source"]
sensitive = ["illness", "n"]
na = ["unknown"]
[columns.town]
type = "category"
categories = ["Ōtsu", "Kyōto", "a,b", "say 'x'", "*"]
hierarchy = { rows = [["Ōtsu", "west"], ["Kyōto", "west"], ["a,b", "east"], ["say 'x'", "east"], ["*", "east"]] }
[columns.born]
type = "date"
"""


def released(rows, seed):
    """Released cells: sets, intervals, labels of groups, dates, missing ones, and stored texts that are one cell."""
    rng = np.random.default_rng(seed)
    towns = ["Ōtsu", "Kyōto", "west", "{Ōtsu|Kyōto}", "a,b", "say 'x'", None, "unknown", "*"]
    return pd.DataFrame(
        {
            "age": rng.choice(["34", "[20,29]", "[30,39]", "{34|35}", None, " unknown", "*"], rows),
            "town": rng.choice(np.array(towns, dtype=object), rows),
            "born": rng.choice(["1990-01-02", "[1990-01-01,1990-12-31]", "1991-05-05"], rows),
            "k0": rng.integers(0, 4, rows),
            "source": rng.choice([0.5, 2.0, 1e-7, np.nan], rows),
            "illness": rng.choice(["flu", "none", None, "{flu|none}"], rows, p=[0.2, 0.7, 0.05, 0.05]),
            "n": rng.choice([1.0, 2.0, 3.5], rows),
        }
    )


def written(frame, folder, form, name="people"):
    if form == "csv":
        path = folder / f"{name}.csv"
        frame.to_csv(path, index=False)
    elif form == "parquet":
        path = folder / f"{name}.parquet"
        frame.to_parquet(path)
    else:
        path = folder / name
        path.mkdir()
        for number, start in enumerate(range(0, len(frame), 1 + len(frame) // 3)):
            frame[start : start + 1 + len(frame) // 3].to_parquet(path / f"part-{number}.parquet")
    return path


def in_memory(path, frame, folder, roles=None, **options):
    if path.is_dir():
        path = folder / f"{path.name}-whole.parquet"
        frame.to_parquet(path)
    table = read_released(path, roles)
    return risk_report(table, **options), table.notes


def assert_equal(report, expected):
    for one in fields(expected):
        value, other = getattr(report, one.name), getattr(expected, one.name)
        if one.name in ("models", "measures", "estimates"):
            assert [row[:2] for row in value] == [row[:2] for row in other], one.name
            assert [row[2] for row in value] == pytest.approx([row[2] for row in other], rel=1e-12, abs=1e-12)
        else:
            assert value == other, one.name


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("rows", "seed", "form"), [(1, 0, "csv"), (2, 1, "parquet"), (60, 2, "parts"), (3000, 3, "csv"), (3000, 3, "parts")]
)
def test_the_report_is_that_of_the_table_in_memory(tmp_path, form, rows, seed, monkeypatch):
    monkeypatch.setattr("scenarios.tables.parts.released._PAIRS", 50)
    roles = tmp_path / "roles.toml"
    roles.write_text(ROLES)
    frame = released(rows, seed)
    path = written(frame, tmp_path, form)
    options = {"population_size": 10 * rows, "cells": 100_000}
    expected, expected_notes = in_memory(path, frame, tmp_path, roles, **options)
    report, notes = risk_of_file(path, roles, memory=MEMORY, **options)
    assert_equal(report, expected)
    expected_notes = [*expected_notes, *hidden_people_notes(None, frame, ["name"])]
    assert [note for note in notes if note.kind != "parts"] == expected_notes


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("memory", [(), ("--memory", "1GB")])
def test_cells_that_leave_several_values_are_said_to_count_as_their_own(tmp_path, memory):
    roles = tmp_path / "roles.toml"
    roles.write_text('quasi_identifiers = ["ward"]\nsensitive = ["ill", "pay"]')
    frame = pd.DataFrame({"ward": list("aabb"), "ill": ["*", "{flu|none}", "flu", "none"], "pay": [1, 2, 3, 4]})
    path, page = written(frame, tmp_path, "csv"), tmp_path / "risk.html"
    done = CliRunner().invoke(cli, ["risk", str(path), "--roles", str(roles), *memory, "--html", str(page)])
    words = "ill: a set, an interval or * leaves several values, but counts as a value of its own in l, alpha, t and"
    assert words in done.output
    assert words in page.read_text()
    written(frame.assign(ill=r"\{E}"), tmp_path, "csv")
    done = CliRunner().invoke(cli, ["risk", str(path), "--roles", str(roles), *memory])
    assert "value of its own" not in done.output


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_columns_with_too_many_values_to_list_count_alike(tmp_path, form, monkeypatch):
    monkeypatch.setattr(raw_columns, "LIMIT", 5)
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "wage": rng.integers(0, 40, 500) / 8,
            "word": rng.choice([f"word {word}" for word in range(30)] + [""], 500),
            "sex": rng.choice(["f", "m"], 500),
            "illness": rng.choice([f"illness {one}" for one in range(9)], 500),
        }
    )
    frame.loc[::17, "wage"] = np.nan
    frame.loc[3, "word"] = "{a|b}"
    roles = tmp_path / "roles.toml"
    roles.write_text('quasi_identifiers = ["wage", "word", "sex"]\nsensitive = ["illness"]')
    path = written(frame, tmp_path, form)
    assert_equal(risk_of_file(path, roles, memory=MEMORY)[0], in_memory(path, frame, tmp_path, roles)[0])


@pytest.mark.thorough
def test_the_population_may_be_read_in_parts_and_have_other_cells(tmp_path):
    roles = tmp_path / "roles.toml"
    roles.write_text(ROLES)
    frame = released(300, 5)
    population = pd.concat([frame, released(4000, 6), frame.assign(k0=77)], ignore_index=True)
    path = written(frame, tmp_path, "parts")
    everybody = written(population, tmp_path, "parts", "everybody")
    population.to_parquet(tmp_path / "everybody.parquet")
    expected, _ = in_memory(
        path, frame, tmp_path, roles, population=read_released(tmp_path / "everybody.parquet", roles)
    )
    report, _ = risk_of_file(path, roles, population=everybody, memory=MEMORY)
    assert_equal(report, expected)
    assert len(report.models) == 6
    with pytest.raises(ValueError, match="must hold everybody"):
        risk_of_file(everybody, roles, population=path, memory=MEMORY)


@pytest.mark.thorough
def test_classes_that_do_not_fit_are_counted_but_not_searched(tmp_path, monkeypatch):
    monkeypatch.setattr("scenarios.tables.released_classes._SEARCH", MEMORY)
    frame = released(300, 7).drop(columns="n")
    path = written(frame, tmp_path, "parquet")
    report, notes = risk_of_file(path, memory=MEMORY)
    expected, _ = in_memory(path, frame, tmp_path)
    assert (report.classes, report.models) == (expected.classes, expected.models)
    assert not report.searched
    assert "raise --memory" in str(notes[-1])


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ('quasi_identifiers = ["shoe"]', "no column 'shoe'"),
        ("quasi_identifiers = []", "no quasi-identifier"),
        ('quasi_identifiers = ["age"]\nidentifiers = ["town"]', "column 'town' is an identifier and was released"),
    ],
)
def test_refuses_what_the_table_in_memory_refuses(tmp_path, roles, message):
    file = tmp_path / "roles.toml"
    file.write_text(roles)
    path = written(released(50, 8), tmp_path, "parquet")
    with pytest.raises(ValueError, match=message):
        in_memory(path, None, tmp_path, file)
    with pytest.raises(ValueError, match=message):
        risk_of_file(path, file, memory=MEMORY)


@pytest.mark.thorough
def test_the_command_reads_a_folder_in_parts_and_says_the_same(tmp_path):
    frame = released(400, 9)
    folder = written(frame, tmp_path, "parts")
    whole = written(frame, tmp_path, "parquet", "whole")
    inside = CliRunner().invoke(cli, ["risk", str(whole)])
    for arguments in ([str(folder)], [str(whole), "--memory", "1GB"], [str(folder), "--memory", "600 MiB"]):
        result = CliRunner().invoke(cli, ["risk", *arguments, "--html", str(tmp_path / "risk.html"), "--force"])
        assert result.exit_code == 0, result.output
        assert result.stdout == inside.stdout
    assert (tmp_path / "risk.html").exists()
    refused = CliRunner().invoke(cli, ["risk", str(whole), "--memory", "5"])
    assert (refused.exit_code, "is no size" in refused.output) == (2, True)
    refused = CliRunner().invoke(cli, ["risk", "-", "--memory", "5GB"])
    assert (refused.exit_code, "standard input" in refused.output) == (2, True)


def both_commands(folder, frame, roles, *options):
    """What `tokumei risk` says of a table in memory and in parts."""
    (folder / "roles.toml").write_text(roles)
    path = written(frame, folder, "csv")
    arguments = ["risk", str(path), "--roles", str(folder / "roles.toml"), *options]
    return [CliRunner().invoke(cli, [*arguments, *parts]) for parts in ((), ("--memory", "1GB"))]


TABLES = {
    "missing cells": {
        "age": ["30", "", "30", "", "NA"],
        "town": ["", "a", "", "a", "b"],
        "ill": ["x", "", "x", "y", ""],
    },
    "stars": {"age": list("*3*5*"), "town": ["*", "*", "*", "a", "b"], "ill": list("xyxyx")},
    "sets": {"age": ["{30|31}", "[30,31]", "30", "{31|30}", "30.0"], "town": list("aaaab"), "ill": ["{x|y}", *"xyxy"]},
    "one row": {"age": ["30"], "town": ["a"], "ill": ["x"]},
    "constant columns": {"age": ["30"] * 5, "town": ["a"] * 5, "ill": ["x"] * 5},
    "all cells stars": {"age": ["*"] * 4, "town": ["*"] * 4, "ill": list("xyxy")},
}


@pytest.mark.parametrize("table", TABLES)
def test_the_command_says_the_same_in_memory_and_in_parts(tmp_path, table):
    roles = 'quasi_identifiers = ["age", "town"]\nsensitive = ["ill"]\nna = ["NA"]\n'
    small, large = both_commands(tmp_path, pd.DataFrame(TABLES[table]), roles, "--population-size", "20")
    assert small.exit_code == 0, small.output
    assert (small.exit_code, small.output) == (large.exit_code, large.output)


@pytest.mark.parametrize("limit", [5, 1 << 20])
@pytest.mark.parametrize("role", ["identifiers", "none", "sensitive", "quasi_identifiers"])
def test_people_are_counted_in_memory_and_in_parts(tmp_path, role, limit, monkeypatch):
    """Rows that name nobody are people each; a person who makes classes is not counted in them."""
    monkeypatch.setattr(raw_columns, "LIMIT", limit)
    people = [f"p{number:032x}" for number in (1, 1, 2, 3, 3, 3, 5, 1, 2)]
    frame = pd.DataFrame({"age": list("334445555***"), "id": [*people[:6], "", "", *people[6:7], "", *people[7:]]})
    lists = {"quasi_identifiers": ["age"], role: ["id"] if role != "quasi_identifiers" else ["age", "id"]}
    lists.pop("none", None)
    roles = 'person = "id"\n' + "".join(f"{name} = {columns}\n" for name, columns in lists.items())
    small, large = both_commands(tmp_path, frame, roles)
    assert small.exit_code == 0, small.output
    assert small.output == large.output
    assert ("k, people" in small.output) == (role != "quasi_identifiers")
    if role != "quasi_identifiers":
        words = " ".join(small.output.split())
        assert "k, people 1 fewest people in a class alone, people 1 classes that hold one person" in words
        assert "marketer .429 share of people" in words


def test_a_number_that_is_an_identifier_is_refused_as_in_memory(tmp_path):
    path, roles = tmp_path / "people.parquet", tmp_path / "roles.toml"
    pd.DataFrame({"id": [1, 2, None], "age": [30, 30, 40]}).to_parquet(path)
    roles.write_text('identifiers = ["id"]\nquasi_identifiers = ["age"]')
    for memory in (None, 1 << 30):
        with pytest.raises(ValueError, match="column 'id' is an identifier and was released"):
            risk_of_file(path, roles, memory=memory)


def test_a_population_that_lacks_people_is_refused_alike(tmp_path):
    roles = 'quasi_identifiers = ["age"]\n'
    population = written(pd.DataFrame({"age": list("4433")}), tmp_path, "csv", "everybody")
    table = pd.DataFrame({"age": list("4353535")})
    small, large = both_commands(tmp_path, table, roles, "--population", str(population))
    assert small.exit_code == large.exit_code == 2
    assert small.output == large.output
    assert "row 2: the table has 3 records like this one and the population 2" in " ".join(small.output.split())
