"""Cells written in parts are those that pandas writes at once."""

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.random import SeedSequence
from pyarrow import parquet

from defenses.base import PSEUDONYM, CellList, ReleasedBlock
from defenses.base.guarantee import Guarantee
from scenarios.tables.parts.files.output_files import output_files
from scenarios.tables.parts.files.shuffled_output import WrittenColumn, write_release
from scenarios.tables.parts.released_blocks import LargeRelease
from scenarios.tables.reading.written_cells import WrittenCells
from scenarios.tables.released import _as_parquet, as_csv

TEXTS = ["plain", "", " ", 'say "x"', "a,b", "two\nlines", "\r", "*", "[1,2)", "Ōtsu", "007", "nan", None, 5, 5.0, True]
NUMBERS = [
    0.0,
    1.0,
    1e15,
    999999999999999.9,
    1e16,
    1e10,
    9999999999.5,
    1e-4,
    9.99e-5,
    -1e-5,
    np.nan,
    0.1,
    123.125,
]


def csv_of(column, stored, *, alone=False):
    fields = column.csv_fields(stored).to_pylist()
    return "x\n" + "".join(f"{field}\n" for field in fields) if alone else fields


@pytest.mark.parametrize("separator", [",", ";", "5"])
def test_texts_are_quoted_as_pandas_does(separator):
    cells = CellList(TEXTS)
    codes = cells.codes([*TEXTS, *TEXTS[::-1]])
    cell = [cells.cells[code] for code in codes]
    alone = WrittenColumn("x", cells, WrittenCells(), separator, alone=True)
    assert csv_of(alone, codes, alone=True) == as_csv(pd.DataFrame({"x": pd.Series(cell, dtype=object)}), separator)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("separator", [",", "."])
def test_numbers_are_written_as_pandas_does(separator):
    rng = np.random.default_rng(1)
    spread = rng.normal(size=2000) * 10.0 ** rng.integers(-20, 22, 2000)
    for numbers in (np.array(NUMBERS), spread, abs(spread).round(2), rng.integers(-(10**15), 10**15, 100)):
        column = WrittenColumn("x", None, WrittenCells(), separator, alone=True)
        assert csv_of(column, numbers, alone=True) == as_csv(pd.DataFrame({"x": numbers}), separator)
        cells = CellList(numbers.tolist(), numbers.dtype)
        codes = cells.codes(numbers.tolist())
        coded = WrittenColumn("x", cells, WrittenCells(), separator, alone=True)
        assert csv_of(coded, codes, alone=True) == as_csv(pd.DataFrame({"x": numbers}), separator)


def test_parquet_holds_numbers_and_texts_as_pandas_writes_them():
    cells = CellList(TEXTS)
    codes = cells.codes(TEXTS)
    texts = WrittenColumn("x", cells, WrittenCells()).arrow(codes).cast(pa.string())
    frame = pd.DataFrame({"x": pd.Series([cells.cells[code] for code in codes], dtype=object)})
    assert texts.to_pylist() == parquet.read_table(io.BytesIO(_as_parquet(frame)))["x"].to_pylist()
    numbers = WrittenColumn("x", None, WrittenCells()).arrow(np.array(NUMBERS))
    assert numbers.type == pa.float64()
    assert numbers.null_count == 1


def test_a_group_of_rows_lists_the_cells_that_it_holds():
    cells = CellList([f"cell {i}" for i in range(40_000)] + [None])
    column = WrittenColumn("x", cells, WrittenCells())
    codes = np.array([3, 40_000, 39_999, 3], dtype=np.int32)
    assert column.arrow(codes).to_pylist() == ["cell 3", None, "cell 39999", "cell 3"]
    assert column.arrow(codes).dictionary.to_pylist() == ["cell 3", "", "cell 39999"]


def test_an_empty_pseudonym_is_missing():
    stored = np.array([b"p" + b"0" * 32, b""], dtype=PSEUDONYM)
    column = WrittenColumn("x", None, WrittenCells())
    assert column.csv_fields(stored).to_pylist() == ["p" + "0" * 32, ""]
    assert column.arrow(stored).to_pylist() == ["p" + "0" * 32, None]


@pytest.mark.parametrize("fraction", [False, True])
def test_all_buckets_of_a_column_are_written_alike(tmp_path, monkeypatch, fraction):
    """One fraction in the last block keeps the whole column a column of floating-point numbers."""
    monkeypatch.setattr("scenarios.tables.parts.files.shuffled_output.BUCKET", 10)
    blocks = [
        ReleasedBlock(number, {"x": np.array([1.0, np.nan, 3.0 + (fraction and number == 4) / 2] * 10)}, np.arange(30))
        for number in range(5)
    ]
    release = LargeRelease(("x",), {}, lambda: iter(blocks), 150, Guarantee)
    written = WrittenCells(integers=("x",))
    for name in ("x.csv", "x.parquet"):
        with output_files() as outputs:
            write_release(release, outputs, str(tmp_path / name), SeedSequence(1), written=written)
    frame = pd.read_parquet(tmp_path / "x.parquet")
    assert parquet.read_schema(tmp_path / "x.parquet").field("x").type == (pa.float64() if fraction else pa.int64())
    texts = pd.read_csv(tmp_path / "x.csv", dtype=str)["x"]
    ones = {"1.0", "3.0", "3.5"} if fraction else {"1", "3"}
    assert {*texts.dropna()} == ones
    assert frame["x"].isna().sum() == texts.isna().sum() == 50
