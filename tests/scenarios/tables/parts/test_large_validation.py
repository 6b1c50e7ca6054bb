"""Validation of tables that are read in parts says what it says of tables in memory."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from scenarios.commands.cli import cli
from scenarios.tables.dataset import load_table
from scenarios.tables.parts import raw_columns, validation
from scenarios.tables.parts.records import large_records
from scenarios.tables.parts.validation import ReviewedInParts
from scenarios.tables.review.reviewed_table import ReviewedTable
from scenarios.tables.review.summary import summary


def people(rows=300):
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "row": np.arange(rows),
            "age": rng.integers(20, 60, rows),
            "weight": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(70, 9, rows).round(1)),
            "town": np.where(rng.random(rows) < 0.2, None, rng.choice(["Ōtsu", "Kyōto", "?"], rows)),
            "born": rng.choice(["1990-01-02", "1991-05-05"], rows),
            "mail": [f"person{row}@example.org" for row in range(rows)],
        }
    )


def said(*arguments):
    result = CliRunner().invoke(cli, ["validate", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.thorough
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("declared", [None, 'quasi_identifiers = ["age", "town"]\nunprotected = ["row", "mail"]'])
def test_says_the_same_as_in_memory(tmp_path, suffix, declared):
    path = tmp_path / f"people.{suffix}"
    frame = people() if declared is None else people()[["row", "age", "town", "mail"]]
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    roles = []
    if declared is not None:
        (tmp_path / "roles.toml").write_text(declared)
        roles = ["--roles", tmp_path / "roles.toml"]
    one, other = tmp_path / "one.toml", tmp_path / "other.toml"
    inside = said(path, *roles, "--write-roles", one)
    assert said(path, *roles, "--memory", "1GB", "--write-roles", other) == inside
    assert "warning: row: no identifier by role" in inside
    assert one.read_text() == other.read_text()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_words_for_missing_values_count_in_columns_that_no_release_holds(tmp_path, suffix):
    path, roles = tmp_path / f"people.{suffix}", tmp_path / "roles.toml"
    words = ["gone", " gone", None, *"aabb"]
    frame = pd.DataFrame({"id": words, "home": words[::-1], "rest": words, "age": np.arange(20, 27)})
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    roles.write_text('identifiers = ["id", "home"]\nperson = "id"\ngroup = "home"\nquasi_identifiers = ["age"]')
    reading = {"na": ["gone"]}
    inside = ReviewedTable(load_table(path, roles, reading=reading))
    with large_records(path, roles, reading=reading) as records:
        in_parts = ReviewedInParts(records)
        names = ["id", "home", "rest"]
        assert [in_parts.counts(name) for name in names] == [inside.counts(name) for name in names] == [(3, 2)] * 3
        assert (in_parts.people, in_parts.groups) == (inside.people, inside.groups)
        assert in_parts.people[1:] == (7, 5, 2)
        assert in_parts.repeated("id") == inside.repeated("id")
        for number, other in zip(in_parts.numbers_in("id"), inside.numbers_in("id"), strict=True):
            assert (in_parts.numbers_in("id") == number).sum() == (inside.numbers_in("id") == other).sum()


def test_columns_that_are_not_read_are_estimated(tmp_path, monkeypatch):
    path, roles = tmp_path / "people.parquet", tmp_path / "roles.toml"
    people().to_parquet(path)
    roles.write_text('identifiers = ["mail"]\nquasi_identifiers = ["age", "weight"]')
    for module in (raw_columns, validation):
        monkeypatch.setattr(module, "LIMIT", 100)
    expected = {row.column: row for row in summary(load_table(path, roles))}
    with large_records(path, roles) as records:
        found = {row.column: row for row in summary(records.dataset, ReviewedInParts(records))}
    assert {name: row.missing for name, row in found.items()} == {name: row.missing for name, row in expected.items()}
    assert found["age"] == expected["age"]
    for name in ("mail", "weight", "town"):
        about = int(str(found[name].distinct).removeprefix("about ").replace(",", ""))
        assert about == pytest.approx(expected[name].distinct, rel=0.2)


@pytest.mark.thorough
def test_the_sample_is_said_and_does_not_change(tmp_path, monkeypatch):
    monkeypatch.setattr("scenarios.tables.parts.raw_columns.SAMPLED", 50)
    path = tmp_path / "people.parquet"
    people().to_parquet(path)
    with large_records(path) as records:
        frame = ReviewedInParts(records).frame
        assert len(frame) == 50
        assert set(frame["mail"]) < set(people()["mail"])
        pd.testing.assert_frame_equal(frame, ReviewedInParts(records).frame)
    assert "random sample of 50 records" in said(path, "--memory", "1GB")


@pytest.mark.thorough
def test_a_date_for_a_gap_is_counted_in_rows(tmp_path):
    path = tmp_path / "people.csv"
    days = ["9999-12-31"] * 10 + [f"19{60 + row % 10}-02-01" for row in range(290)]
    pd.DataFrame({"born": days, "job": ["cook", "nurse", "judge"] * 100}).to_csv(path, index=False)
    for text in (said(path), said(path, "--memory", "512MiB")):
        assert "born: 9999-12-31 in 10 rows of 300; if it means a missing value" in text
