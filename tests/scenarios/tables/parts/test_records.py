"""Records that are read in parts equal those that are read at once."""

import numpy as np
import pandas as pd
import pytest
from large_tools import PartByPart, write_parts

from scenarios.tables.dataset import load_table
from scenarios.tables.parts.records import large_records, over_parts

ROLES = """
identifiers = ["name"]
quasi_identifiers = ["age", "town", "born", "size", "member"]
sensitive = ["illness"]
unprotected = ["wage"]
na = ["unknown"]
[columns.age]
type = "number"
low = 0
high = 120
integer = true
"""


def people(rows=1000, seed=1):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "name": [f"person {row}" for row in range(rows)],
            "age": rng.integers(0, 100, rows),
            "town": np.where(rng.random(rows) < 0.1, None, rng.choice(["Ōtsu", "a,b", 'say "x"', "unknown"], rows)),
            "born": rng.choice(np.arange("1950-01-01", "1951-01-01", dtype="datetime64[D]"), rows).astype(str),
            "size": rng.choice([1.5, 2.0, -0.0, 0.0, 1e-7, np.nan], rows),
            "member": rng.choice([True, False], rows),
            "illness": rng.choice(["flu", "none", None], rows),
            "wage": rng.normal(3000, 500, rows).round(2),
            "shoe": rng.integers(30, 50, rows),
        }
    )


def written(frame, folder, form):
    """The table as one file, or as two parts."""
    if form == "csv":
        path = folder / "people.csv"
        frame.to_csv(path, index=False)
    elif form == "parquet":
        path = folder / "people.parquet"
        frame.to_parquet(path)
    else:
        path = folder / "people"
        path.mkdir()
        frame[:300].to_parquet(path / "part-0.parquet")
        frame[300:].to_parquet(path / "part-1.parquet")
    return path


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("form", ["csv", "parquet", "parts"])
def test_records_equal_those_that_are_read_at_once(tmp_path, form, monkeypatch):
    monkeypatch.setattr("defenses.base.blocks.BLOCK", 64)
    frame = people()
    roles = tmp_path / "roles.toml"
    roles.write_text(ROLES)
    path = written(frame, tmp_path, form)
    whole = path
    if form == "parts":
        whole = tmp_path / "whole.parquet"
        frame.to_parquet(whole)
    expected = load_table(whole, roles)
    with large_records(path, roles) as records:
        assert records.rows == len(frame)
        blocks = list(records.blocks())
        assert [block.number for block in blocks] == list(range(len(blocks)))
        sizes = [min(64, 1000 - start) for start in range(0, 1000, 64)]
        assert [len(block) for block in blocks] == sizes
        assert [block.start for block in blocks] == list(np.cumsum([0, *sizes[:-1]]))
        found = pd.concat([records.values.frame(block) for block in blocks], ignore_index=True)
        names = [name for name in expected.records.frame.columns if name not in ("name", "shoe")]
        pd.testing.assert_frame_equal(found, expected.records.frame[names])
        roles_of = records.roles
        assert roles_of.quasi_identifiers == expected.records.quasi_identifiers
        assert roles_of.identifiers == expected.records.identifiers
        for name in names:
            assert roles_of.domains[name] == expected.records.domains[name], name
        # A column that no release may hold is not read.
        notes = [note for note in map(str, expected.notes) if not note.startswith("shoe: integers")]
        assert [note for note in map(str, records.dataset.notes) if "parts" not in note] == notes


def test_rows_keep_their_order_where_a_column_has_more_values_than_a_part_has_rows(tmp_path):
    wages = np.random.default_rng(2).permutation(5000) / 4
    frame = pd.DataFrame({"wage": wages, "row": np.arange(5000) % 100})
    for part, start in enumerate((0, 10, 4000)):
        frame[start : (10, 4000, 5000)[part]].to_parquet(tmp_path / f"{part}.parquet")
    with large_records(tmp_path) as records:
        found = pd.concat([records.values.frame(block) for block in records.blocks()], ignore_index=True)
    pd.testing.assert_frame_equal(found, frame)


def all_blocks(records):
    return list(records.blocks())


@pytest.mark.thorough
@pytest.mark.parametrize("cuts", [pytest.param([300], marks=pytest.mark.long), [0, 65, 128, 1000]], ids=str)
def test_parts_that_are_opened_elsewhere_have_the_blocks_of_the_whole_table(tmp_path, monkeypatch, cuts):
    monkeypatch.setattr("defenses.base.blocks.BLOCK", 64)
    roles = tmp_path / "roles.toml"
    roles.write_text(ROLES)
    write_parts(people(), tmp_path / "people", cuts)
    with large_records(tmp_path / "people", roles) as records:
        (whole,) = over_parts(records, all_blocks)
    with large_records(tmp_path / "people", roles, engine=PartByPart()) as records:
        blocks = [block for part in over_parts(records, all_blocks) for block in part]
        assert PartByPart.read == len(cuts) + 1
    assert sum(map(len, blocks)) == 1000
    assert [(block.number, block.start) for block in blocks] == [(block.number, block.start) for block in whole]
    for part, block in zip(blocks, whole, strict=True):
        for name in block.columns:
            np.testing.assert_array_equal(part.columns[name], block.columns[name])


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("columns", [["income"], ["age", "income", "born", "row"]])
def test_rows_of_several_row_groups_keep_their_order(tmp_path, columns):
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 100, 200_000),
            "income": rng.normal(size=200_000).round(3),
            "born": pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 20_000, 200_000), unit="D"),
            "row": rng.choice([0.5, 1.5, np.nan], 200_000),
        }
    )[columns]
    frame.to_parquet(tmp_path / "people.parquet", row_group_size=20_000)
    with large_records(tmp_path / "people.parquet") as records:
        for block in records.blocks():
            rows = frame.iloc[block.start : block.start + len(block)]
            for name in {"age", "income", "row"} & set(columns):
                values = np.append(records.columns[name].values.astype(float), np.nan)[block.columns[name]]
                assert np.array_equal(values, rows[name].to_numpy(dtype=float), equal_nan=True), name


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("column", "cells", "refused"),
    [
        ('type = "number"\ninteger = true', [1, 2.5], "not an integer"),
        ('type = "number"\nlow = 0\nhigh = 9', [1, 12], "lies outside 0 to 9"),
        ('type = "category"\ncategories = ["a", "b"]', ["a", "c"], "no declared category"),
        ('type = "date"', ["2020-01-05", "5 Jan"], "no date of the format"),
        ('type = "category"', ["a", "b", "c", "d"], None),
    ],
)
def test_a_column_without_a_role_holds_what_the_roles_say_of_it(tmp_path, form, column, cells, refused, monkeypatch):
    """In parts as in memory; many texts that nobody needs are not read."""
    path = written(pd.DataFrame({"age": [1, 2] * 200, "other": cells * (400 // len(cells))}), tmp_path, form)
    roles = tmp_path / "roles.toml"
    roles.write_text(f'quasi_identifiers = ["age"]\n[columns.other]\n{column}\n')
    if refused is None:
        monkeypatch.setattr("scenarios.tables.parts.raw_columns.LIMIT", 2)
        load_table(path, roles)
        with large_records(path, roles) as records:
            assert list(records.columns) == ["age"]
        return
    with pytest.raises(ValueError, match=f"column 'other', row 2: .*{refused}") as inside:
        load_table(path, roles)
    with pytest.raises(ValueError, match=f"column 'other', row 2: .*{refused}") as in_parts, large_records(path, roles):
        pass
    assert str(in_parts.value) == str(inside.value)
