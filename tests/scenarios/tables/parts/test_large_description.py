"""Descriptions of tables that are read in parts: the text of tables in memory, or what rests on a sample."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from scenarios.commands.cli import cli
from scenarios.tables.parts import raw_columns
from scenarios.tables.parts.records import large_records
from scenarios.tables.parts.validation import describe_file
from scenarios.tables.review.description import describe_table

MEMORY = 1 << 30


def people(rows=400):
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "row": np.arange(rows),
            "age": rng.integers(20, 60, rows),
            "weight": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(70, 9, rows).round(1)),
            "town": np.where(rng.random(rows) < 0.2, None, rng.choice(["Ōtsu", "Kyōto", "?"], rows)),
            "born": rng.choice(["1990-01-02", "1991-05-05", ""], rows),
            "mail": [f"person{row}@example.org" for row in range(rows)],
            "nothing": None,
            "member": rng.choice([0, 1], rows),
            "pay": np.where(rng.random(rows) < 0.3, rng.choice(["rare", "void"], rows), np.arange(rows) % 90 + 10),
        }
    )


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("declared", [None, 'quasi_identifiers = ["age", "mail"]\nna = ["?"]', 'sensitive = ["born"]'])
def test_a_small_table_is_described_as_in_memory(tmp_path, suffix, declared):
    path, roles = tmp_path / f"people.{suffix}", None
    people().to_csv(path, index=False, sep=";") if suffix == "csv" else people().to_parquet(path)
    if declared is not None:
        roles = tmp_path / "roles.toml"
        roles.write_text(declared)
    assert describe_file(path, roles, tmp_path, memory=MEMORY) == describe_table(path, roles, tmp_path)


@pytest.mark.thorough
def test_roles_rest_on_a_sample_but_bounds_and_missing_values_on_all_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("scenarios.tables.parts.raw_columns.SAMPLED", 60)
    frame = people()
    frame.loc[7, "age"] = 119
    path = tmp_path / "people.parquet"
    frame.to_parquet(path)
    text = describe_file(path, None, tmp_path, memory=MEMORY).text
    assert "Roles rest on a sample of 60 records" in text
    assert "sample of 60 of 400 records" in text
    assert "integers 20 to 119" in text
    assert f"{frame['town'].isna().sum()} of 400 missing" in text


@pytest.mark.thorough
def test_columns_with_too_many_values_are_identifiers_or_numbers_within_true_bounds(tmp_path, monkeypatch):
    monkeypatch.setattr(raw_columns, "LIMIT", 100)
    frame = people().drop(columns="nothing").assign(street=[f"street {row % 200}" for row in range(400)])
    path, roles = tmp_path / "people.parquet", tmp_path / "roles.toml"
    frame.to_parquet(path)
    result = CliRunner().invoke(cli, ["describe", str(path), "--memory", "1GB", "-o", str(roles)])
    assert result.exit_code == 0, result.output
    text = roles.read_text()
    assert "street: identifier?: more than" in text
    assert f"number, {frame['weight'].min()} to {frame['weight'].max()}" in text
    assert f"{frame['weight'].isna().sum()} of 400 missing" in text
    assert "street 1" not in text
    # The file fits the table that it describes.
    with large_records(path, roles) as records:
        assert sum(map(len, records.blocks())) == 400
