"""Workers of a Dask cluster read the parts of a table, with the results of one machine."""

import distributed
import pandas as pd
import pytest
from dask_tools import dask
from large_tools import people, write_parts
from run_tools import invoke

from scenarios.tables.parts.files.table_files import TableFiles

pytestmark = pytest.mark.waits

# One column of each kind that workers code in a way of its own: each further one has every part opened again.
NAMES = ["name", "age", 'to"wn', "size", "ill ness", "wage"]
ROLES = """
identifiers = ["name"]
quasi_identifiers = ["age", 'to"wn', "size"]
sensitive = ["ill ness"]
unprotected = ["wage"]
columns.age = { type = "number", low = 0, high = 120, integer = true, cuts = [30, 60, 90] }
columns.wage = { type = "number", low = 0, high = 10000, cuts = [2500, 3000, 3500] }
[columns.'to"wn']
type = "category"
categories = ["Ōtsu", "a,b", 'say "x"', "Kyoto"]
hierarchy = { rows = [["Ōtsu", "east", "*"], ["a,b", "east", "*"], ['say "x"', "west", "*"], ["Kyoto", "west", "*"]] }
"""


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    with dask(tmp_path_factory.mktemp("cluster"), 2, "--no-nanny") as (address, _):
        yield address


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    frame = people(2000)[NAMES]
    write_parts(frame, folder / "people", [700, 1500])
    (folder / "roles.toml").write_text(ROLES)
    return folder


COLUMNS = "columns=['age', 'to\"wn']"
DEFENSES = (
    ["Mondrian", "-p", "k=5"],
    ["RetentionReplacement", "-p", "retention=0.7", "-p", COLUMNS],
    ["Sampling", "-p", "rate=0.5"],
)
"""One that groups, one that works row by row and one that leaves rows out."""
MORE = (
    ["Incognito", "-p", "k=5", "-p", COLUMNS],
    ["AdditiveNoise", "-p", "columns=['age']"],
    ["GlobalRecoding", "-p", "levels=1"],
    ["ReportedTable", "-p", "epsilon=2", "-p", COLUMNS],
)
"""Further ones of these kinds."""


@pytest.fixture
def parts_read(monkeypatch):
    """First rows of the parts that workers were asked to read."""
    numbers = []
    submit = distributed.Client.submit

    def recorded(client, function, *arguments, **options):
        numbers.extend(one.first_row for one in arguments if isinstance(one, TableFiles))
        return submit(client, function, *arguments, **options)

    monkeypatch.setattr(distributed.Client, "submit", recorded)
    return numbers


@pytest.mark.thorough
@pytest.mark.long_for("RetentionReplacement", "Sampling")
@pytest.mark.parametrize(
    "defense",
    [*DEFENSES, *(pytest.param(words, marks=pytest.mark.long) for words in MORE)],
    ids=lambda words: words[0],
)
def test_releases_are_the_same_bytes(tables, scheduler, defense, tmp_path, parts_read):
    outputs = tmp_path / "here.csv", tmp_path / "there.csv"
    command = ["defend", *defense, tables / "people", "--roles", tables / "roles.toml", "--seed", "3", "-o"]
    here = invoke(*command, outputs[0])
    assert here.exit_code == 0, here.output
    result = invoke(*command, outputs[1], "--backend", "dask", "--scheduler", scheduler)
    assert result.exit_code == 0, result.output
    assert {0, 700, 1500} <= set(parts_read)
    assert outputs[0].read_bytes() == outputs[1].read_bytes()
    assert len(pd.read_csv(outputs[1])) >= 900


@pytest.mark.thorough
def test_risk_and_utility_are_the_same(tables, scheduler, tmp_path, parts_read):
    released = tmp_path / "released"
    roles = ["--roles", tables / "roles.toml"]
    made = tmp_path / "all.parquet"
    defense = ["RetentionReplacement", "-p", "retention=0.7", "-p", COLUMNS]
    assert invoke("defend", *defense, tables / "people", *roles, "--seed", "1", "-o", made).exit_code == 0
    write_parts(pd.read_parquet(made), released, [400, 1100])
    cluster = ["--backend", "dask", "--scheduler", scheduler]
    commands = (
        ["risk", released, *roles],
        ["utility", tables / "people", released, *roles, "--format", "json"],
    )
    for command in commands:
        here, there = invoke(*command), invoke(*command, *cluster)
        assert there.exit_code == 0, there.output
        assert here.stdout == there.stdout
        assert {0, 400, 1100} <= set(parts_read)
        parts_read.clear()


@pytest.mark.thorough
def test_a_cluster_that_is_not_there_is_named(tables, monkeypatch):
    monkeypatch.setattr("scenarios.running.workers.cluster.PATIENCE", 1)
    command = ["risk", tables / "people", "--backend", "dask", "--scheduler", "tcp://127.0.0.1:9"]
    result = invoke(*command)
    assert result.exit_code == 2
    assert "--scheduler tcp://127.0.0.1:9" in result.stderr


def test_the_options_go_together(tables):
    for words in (["--backend", "dask"], ["--scheduler", "tcp://127.0.0.1:9"]):
        result = invoke("utility", tables / "people", tables / "people", *words)
        assert result.exit_code == 2
        assert "go together" in result.stderr
