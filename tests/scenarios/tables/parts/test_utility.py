"""The utility of tables that are read in parts is that of tables in memory."""

import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from large_tools import unanchored
from run_tools import invoke

ROLES = """
identifiers = ["name"]
quasi_identifiers = ["age", "town", "size"]
sensitive = ["illness"]
unprotected = ["wage"]
[columns.age]
type = "number"
low = 0
high = 99
integer = true
cuts = [20, 40, 60]
[columns.wage]
type = "number"
low = 0
high = 9000
cuts = [2500, 3000, 3500]
"""


def people(rows, seed):
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, rows)
    return pd.DataFrame(
        {
            "name": [f"person {row}" for row in range(rows)],
            "age": age,
            "town": np.where(rng.random(rows) < 0.1, None, rng.choice(["Ōtsu", "a,b", "Nara"], rows)),
            "size": rng.choice([1.5, 2.0, 0.0, np.nan], rows),
            "illness": np.where(rng.random(rows) < age / 100, "flu", "none"),
            "wage": rng.normal(3000, 500, rows).round(2),
        }
    )


def utility(*arguments):
    result = invoke("utility", *arguments, "--format", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout), result.stderr


@pytest.fixture
def tables(tmp_path):
    people(900, 1).to_csv(tmp_path / "people.csv", index=False)
    people(300, 2).to_csv(tmp_path / "others.csv", index=False)
    (tmp_path / "roles.toml").write_text(ROLES)
    return tmp_path


DEFENSES = [["Mondrian", "-p", "k=5"], ["AdditiveNoise"], ["RetentionReplacement", "-p", "retention=0.7"], ["Identity"]]


@pytest.mark.thorough
@pytest.mark.long_for(
    "False-AdditiveNoise", "False-Mondrian", "True-Identity", "True-Mondrian", "True-RetentionReplacement"
)
@pytest.mark.parametrize("defense", DEFENSES, ids=lambda words: words[0])
@pytest.mark.parametrize("wide", [False, True])
def test_components_are_those_of_tables_in_memory(tables, defense, wide, monkeypatch):
    monkeypatch.setattr("defenses.base.blocks.BLOCK", 128)
    if wide:
        monkeypatch.setattr("scenarios.tables.parts.raw_columns.LIMIT", 20)
        monkeypatch.setattr("scenarios.tables.parts.raw_columns.SAMPLE", 8)
    roles = ["--roles", str(tables / "roles.toml")]
    released = tables / "released.csv"
    made = invoke("defend", *defense, tables / "people.csv", *roles, "--seed", "1", "-o", released)
    assert made.exit_code == 0, made.output
    # Columns with many values are read in parts from files that store numbers as such.
    stored = tables / "people.parquet"
    pd.read_csv(tables / "people.csv").to_parquet(stored)
    arguments = [stored if wide else tables / "people.csv", released, *roles, "--held-out", tables / "others.csv"]
    expected, _ = utility(*arguments)
    found, notes = utility(*arguments, "--memory", "1GB")
    assert found.keys() == expected.keys()
    before, after = expected.pop("rank_correlations"), found.pop("rank_correlations")
    assert len(before) == 3
    for one, other in zip(before, after, strict=True):
        assert other.pop("columns") == one.pop("columns")
        assert other == pytest.approx(one, abs=1e-9)
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, abs=1e-9), name
    assert "drawn" not in notes


@pytest.mark.thorough
def test_numbers_have_one_form_in_memory_and_in_parts(tables):
    files = tables / "people.csv", tables / "released.csv"
    roles = ["--roles", tables / "roles.toml"]
    assert invoke("defend", "AdditiveNoise", files[0], *roles, "--seed", "1", "-o", files[1]).exit_code == 0
    shown = [invoke("utility", *files, *roles, *memory).stdout for memory in ([], ["--memory", "1GB"])]
    lines = [[line.split() for line in text.splitlines()] for text in shown]
    assert lines[0] == lines[1]
    assert ["rows", "900"] in lines[0]
    assert re.fullmatch(r"0\.\d{4}", dict(line for line in lines[0] if len(line) == 2)["utility"])


@pytest.mark.thorough
def test_few_drawn_rows_are_said(tables, monkeypatch):
    monkeypatch.setattr("scenarios.tables.parts.utility.SAMPLED", 200)
    roles = ["--roles", str(tables / "roles.toml")]
    table, released = tables / "people.csv", tables / "released.csv"
    assert invoke("defend", "Identity", table, *roles, "-o", released).exit_code == 0
    found, notes = utility(table, released, *roles, "--held-out", tables / "others.csv", "--memory", "1GB")
    assert "drawn rows" in notes
    assert found["marginals"] == found["queries"] == 1


def test_cells_that_cannot_be_read_are_noted_and_counted(tables):
    frame = pd.read_csv(tables / "people.csv").drop(columns="name").assign(age="[1,")
    frame.to_csv(tables / "wrong.csv", index=False)
    files = tables / "people.csv", tables / "wrong.csv"
    result = invoke("utility", *files, "--roles", tables / "roles.toml", "--memory", "1GB")
    assert result.exit_code == 0
    assert "age: 900 released cells of 900 hold no number, interval or set; read as suppressed" in result.stderr


@pytest.mark.thorough
def test_a_command_that_reads_in_parts_leaves_no_complaints_at_its_end(tables):
    command = [sys.executable, "-m", "tokumei", "risk", str(tables / "people.csv"), "--memory", "1GB"]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "leaked" not in ended.stderr + ended.stdout


IN_PARTS = pytest.mark.parametrize("parts", [(), ("--memory", "1GB")], ids=["memory", "parts"])


@IN_PARTS
def test_a_column_that_is_lacking_counts_as_suppressed_and_a_second_figure_leaves_it_out(tables, parts):
    people(900, 1).drop(columns=["name", "wage"]).to_csv(tables / "fewer.csv", index=False)
    people(900, 1).drop(columns="name").assign(wage="*").to_csv(tables / "stars.csv", index=False)
    files = [tables / "people.csv", "--roles", tables / "roles.toml", *parts]
    fewer, said = utility(files[0], tables / "fewer.csv", *files[1:])
    stars, _ = utility(files[0], tables / "stars.csv", *files[1:])
    assert "note: lacks wage, which counts as suppressed" in said
    assert fewer.pop("utility_of_released_columns") == 1.0
    assert "utility_of_released_columns" not in stars
    for name, figure in stars.items():
        # A column of stars has no ranks, and one that is lacking has no pairs.
        assert name == "rank_correlations" or fewer[name] == figure, name
    assert fewer["utility"] < 1


@IN_PARTS
def test_releases_worse_than_constants_stay_ordered(tables, parts):
    worst = people(900, 1).drop(columns="name").assign(age=99, wage=9000, size=1.5, town="a,b", illness="none")
    found = []
    for wage in (np.where(np.arange(900) < 400, 2700, 9000), 9000):
        worst.assign(wage=wage).to_csv(tables / "bad.csv", index=False)
        found.append(utility(tables / "people.csv", tables / "bad.csv", "--roles", tables / "roles.toml", *parts)[0])
    below = [one["utility_of_released_columns"] for one in found]
    assert [one["utility"] for one in found] == [0, 0]
    assert 0 > below[0] > below[1] >= -1


@IN_PARTS
def test_a_sensitive_column_that_is_lacking_is_predicted_from_nothing(tables, parts):
    people(900, 1).drop(columns=["name", "illness"]).to_csv(tables / "fewer.csv", index=False)
    files = [tables / "people.csv", tables / "fewer.csv", "--roles", tables / "roles.toml", *parts]
    figures, _ = utility(*files, "--held-out", tables / "others.csv")
    assert figures["utility_of_released_columns"] == 1.0
    assert figures["utility"] < 1


def test_notes_beside_the_original_are_those_of_tables_in_memory(tables):
    frame = people(800, 1).assign(sub="x", age="[0,19]", town="*")
    frame.loc[:9, "illness"] = "{flu|none}"
    frame.drop(columns=["name", "wage"]).to_csv(tables / "other.csv", index=False)
    roles = tables / "few.toml"
    roles.write_text(ROLES.replace(', "size"]', "]"))
    files = [tables / "people.csv", tables / "other.csv", "--roles", roles]
    said = [utility(*files, *memory)[1].splitlines() for memory in ((), ("--memory", "1GB"))]
    inside, in_parts = ([line for line in lines if "inferred from the data" not in line] for lines in said)
    assert in_parts == inside
    words = "lacks wage", "sub: not in the original", "no role declared, but", "intervals or sets in age, illness"
    for expected in words:
        assert any(expected in line for line in inside), expected
    people(800, 1)[["name"]].rename(columns={"name": "sub"}).to_csv(tables / "other.csv", index=False)
    for memory in ((), ("--memory", "1GB")):
        refused = invoke("utility", *files, *memory)
        assert refused.exit_code == 2
        assert "has no column of the original table, which has age, town, illness, wage; it has sub" in refused.stderr


@pytest.mark.thorough
def test_a_declared_weight_gives_weighted_marginals(tables, monkeypatch):
    unanchored(monkeypatch)
    table = people(900, 1).drop(columns="name").assign(size=np.random.default_rng(1).choice([1.5, 4.0, 9.0], 900))
    table.to_csv(tables / "survey.csv", index=False)
    table.sample(frac=0.5, random_state=1).to_csv(tables / "half.csv", index=False)
    table.drop(columns="size").to_csv(tables / "unweighted.csv", index=False)
    table.assign(size=table["size"].astype(object).where(table.index > 0, "*")).to_csv(tables / "star.csv", index=False)
    table.assign(size=table["size"].where(table.index > 0, 0)).to_csv(tables / "zero.csv", index=False)
    # A column that is lacking counts as suppressed here, too.
    table.drop(columns="wage").to_csv(tables / "fewer.csv", index=False)
    table.assign(wage="*").to_csv(tables / "stars.csv", index=False)
    roles = ROLES.replace('identifiers = ["name"]\n', 'weight = "size"\n').replace(', "size"]', "]")
    (tables / "weights.toml").write_text(roles)

    def weighted(name, *memory):
        files = tables / "survey.csv", tables / f"{name}.csv"
        return utility(*files, "--roles", tables / "weights.toml", *memory)[0]["weighted_marginals"]

    figures = {}
    for name in ("survey", "half", "unweighted", "star", "zero", "fewer", "stars"):
        figures[name] = weighted(name)
        assert weighted(name, "--memory", "1GB") == figures[name]
    assert figures["survey"] == 1.0
    assert 0 < figures["half"] < 1
    assert figures["unweighted"] is figures["star"] is figures["zero"] is None
    assert figures["fewer"] == figures["stars"] < 1
    # It depends on the blocks by rounding errors only.
    monkeypatch.setattr("defenses.base.blocks.BLOCK", 128)
    assert weighted("half") == weighted("half", "--memory", "1GB") == pytest.approx(figures["half"], abs=1e-12)
