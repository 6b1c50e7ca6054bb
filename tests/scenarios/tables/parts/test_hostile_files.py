"""Odd and broken files that are read in parts: the records of the table in memory, or a refusal in words."""

import codecs
import datetime
import decimal
import gzip
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from run_tools import wait_until

from scenarios.tables.dataset import load_table
from scenarios.tables.parts import raw_columns
from scenarios.tables.parts.files.table_files import TableFiles
from scenarios.tables.parts.records import large_records
from scenarios.tables.parts.risk import risk_of_file
from scenarios.tables.released import read_released
from scenarios.tables.risk import risk_report

NAMES = ["source", "n", "value", "k0", "v", "code_0", "value_0", "lookup_0", "count", 'we"ird', "new\nline", "Ünï", "*"]
NOISE = np.random.default_rng(1).bytes(1_500_000).hex().encode()
LONG_LINE = f"1,{'x' * 97}\n"
TIMES = [datetime.datetime(2020, 1, 2, 3, 4, 5), datetime.datetime(2021, 1, 2, 3, 4, 5), None]

CSV = {
    "names": (pd.DataFrame({name: np.arange(6) * 0.5 % 2 for name in NAMES}).to_csv(index=False), ""),
    "empty column": ("a,,b\n1,,2\n3,,4\n", ""),
    "column without a name": ("a,,b\n1,x,2\n3,y,4\n", ""),
    "one row": ("a,b\n1,x\n", ""),
    "header only": ("a,b\n", ""),
    "nothing": ("", ""),
    "no value": ("a,b\n1,\n2,\n", ""),
    "NaN": ("a,b\n1.5,x\nnan,y\nNaN,z\n,w\n", ""),
    "infinity": ("a\n1.5\ninf\n", ""),
    "negative zero": ("a\n-0.0\n0.0\n0\n-0\n1.5\n", ""),
    "beyond 2^53": ("a\n9007199254740993\n9007199254740995\n", ""),
    "beyond 2^64": ("a\n170141183460469231731687303715884105727\n1e400\n", ""),
    "short row": ("a,b\n1,2\n3\n4,5\n", ""),
    "NUL": ("a,b\n1,x\0y\n2,z\n", ""),
    "mark": ("\ufeffa,b\n1,é\n2,x\n", ""),
    "blank last lines": ("a,b\n1,2\n3,4\n\n\n", ""),
    "blank line": ("a,b\n1,2\n\n3,4\n", ""),
    "blank lines of one column": ('a\n1\n\n""\n3\n\n', ""),
    "carriage returns": ("a,b\r\n1,2\r\n3,x\r\n", ""),
    "quoted lines": ('a,b\n1,"x\ny"\n2,"x\r\ny"\n', ""),
    "quotes": ('a,b\n1,""\n2,"p""q"\n3,"a,b"\n4,"x\\"\n5,x"y\n', ""),
    "blanks": ("a,b\n 1 , x\n2,x \n", ""),
    "missing": ("a,b\n1,-\n-,x\n2,-9\n", 'na = ["-", "-9"]'),
    "decimal comma": ("a;b\n1,5;x\n2,25;y\n", ""),
    "declared decimal comma": ("a;b\n1,5;x\n1.000,25;y\n", 'decimal = ","'),
    "declared blank": ("a b\n1 x\n2 y\n", 'separator = " "'),
    "thousands": ('a,b\n"1,000",x\n"2,500",y\n', ""),
    "leading zeros": ("a\n0123\n0456\n", ""),
    "question marks": ("a,b\n1,?\n?,2\n3,4\n", ""),
    "dates": ("a,b\n02.01.2020,1\n31.03.2021,2\n", ""),
    "web page": ("<!doctype html>\n<p>x,y\n", ""),
    "kinds": ("a\n1\n1.0\nTrue\nx\n01\n1\n", ""),
    "names that are numbers": ("1,2\n3,4\n", ""),
    "outside the domain": ("a,b\n5,x\n200,y\n200,x\n", '[columns.a]\ntype = "number"\nlow = 0\nhigh = 100'),
    "no category": ("a,b\n5,x\n2,y\n2,q\n", '[columns.b]\ntype = "category"\ncategories = ["x", "y"]'),
    "no such identifier": ("a,b\n5,x\n", 'identifiers = ["c"]'),
    "other separators": ("a\u2028b,c\n1,x\u2028y\n2,z\x85w\x0c\n", ""),
}
PARQUET = {
    "names": {name: (np.arange(60) * 0.5 + place) % 7 for place, name in enumerate(NAMES)},
    "names of texts": {name: [f"{name}{row % 3}" for row in range(9)] for name in NAMES},
    "no value, no type": {"a": [1, 2], "b": pa.nulls(2)},
    "no value": {"a": [1, 2], "b": pa.array([None, None], pa.float64())},
    "NaN": {"a": [1.5, float("nan"), None, 2.0]},
    "infinity": {"a": [1.5, float("inf")]},
    "negative zero": {"a": [-0.0, 0.0, 1.5]},
    "single precision": {"a": pa.array([0.1, 2.5, 3.3], pa.float32())},
    "decimals": {"a": pa.array([decimal.Decimal("1.50"), decimal.Decimal("2.25"), None], pa.decimal128(10, 2))},
    "long decimals": {"a": pa.array([decimal.Decimal("12345678901234567890.50"), None], pa.decimal128(30, 2))},
    "nanoseconds": {"a": pa.array([1577934245123456789, 1, None], pa.int64()).cast(pa.timestamp("ns"))},
    "time zone": {"a": pa.array(TIMES, pa.timestamp("us", tz="Europe/Paris")), "b": [1, 2, 3]},
    "days": {"a": pa.array([datetime.date(2020, 1, 2), None])},
    "times of day": {"a": pa.array([datetime.time(1, 2, 3), None])},
    "dictionaries": {"a": pa.array(["x", "y", None, "x"]).dictionary_encode(), "b": [1, 2, 1, 2]},
    "beyond 2^53": {"a": [2**53 + 1, 2**53 + 3, 2**60, 2**53 + 1]},
    "unsigned": {"a": pa.array([2**64 - 1, 1], pa.uint64())},
    "small integers": {"a": pa.array([-128, 127, None], pa.int8())},
    "a structure": {"a": [{"x": 1}, {"x": 2}], "b": [1, 2]},
    "bytes": {"a": [b"x", b"\xff"], "b": [1, 2]},
    "truths": {"a": [True, False, None]},
    "empty texts": {"a": ["", "x", None, " "]},
    "no row": {"a": pa.array([], pa.int64())},
} | {f"times in {unit}": {"a": pa.array(TIMES, pa.timestamp(unit))} for unit in ("s", "ms", "us")}


def outcome(read):
    try:
        return read(), None
    except ValueError as error:
        return None, str(error)


def in_parts(path, roles):
    with large_records(path, roles, memory=1 << 29) as records:
        frames = [records.values.frame(block) for block in records.blocks()]
        return records.dataset, pd.concat(frames, ignore_index=True)


def assert_alike(path, roles=None):
    """The records, notes, domains and risk, or the refusals, are those of the table in memory."""
    expected, refusal = outcome(lambda: load_table(path, roles))
    found, message = outcome(lambda: in_parts(path, roles))
    assert message == refusal
    if expected is not None:
        dataset, frame = found
        pd.testing.assert_frame_equal(frame, expected.records.frame[list(frame.columns)])
        assert set(expected.records.frame.columns) - set(frame.columns) <= set(expected.records.identifiers)
        assert dataset.records.domains == expected.records.domains
        assert dataset.notes == expected.notes
    expected, refusal = outcome(lambda: risk_report(read_released(path, roles)))
    found, message = outcome(lambda: risk_of_file(path, roles, memory=1 << 30)[0])
    assert message == refusal
    if expected is not None:
        for name in ("sizes", "columns", "sets", "one_value", "plain"):
            assert getattr(found, name) == getattr(expected, name), name


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("name", CSV)
def test_csv_is_read_as_in_memory(tmp_path, name):
    text, declared = CSV[name]
    path, roles = tmp_path / "it's [a] *.csv", tmp_path / "roles.toml"
    path.write_bytes(text.encode())
    roles.write_text(declared)
    assert_alike(path, roles if declared else None)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("name", PARQUET)
def test_parquet_is_read_as_in_memory(tmp_path, name):
    # A folder of this form gives DuckDB a column unless told otherwise.
    folder = tmp_path / "a=7"
    folder.mkdir()
    parquet.write_table(pa.table(PARQUET[name]), folder / "table.parquet")
    assert_alike(folder / "table.parquet")


@pytest.mark.parametrize(
    ("encoding", "compressed"),
    [
        ("latin-1", False),
        ("cp1252", True),
        ("shift_jis", False),
        ("utf-16", True),
        ("utf-8", False),
        pytest.param("latin-1", True, marks=pytest.mark.long),
        pytest.param("cp1252", False, marks=pytest.mark.long),
        pytest.param("shift_jis", True, marks=pytest.mark.long),
        pytest.param("utf-16", False, marks=pytest.mark.long),
        pytest.param("utf-8", True, marks=pytest.mark.long),
    ],
)
def test_a_declared_encoding_is_honoured(tmp_path, encoding, compressed):
    word = "表示" if encoding == "shift_jis" else "é"
    content = f"{word},b\n1,{word}\n2,x\n".encode(encoding)
    # The name need not say that it is compressed.
    path, roles = tmp_path / "people.csv", tmp_path / "roles.toml"
    path.write_bytes(gzip.compress(content) if compressed else content)
    roles.write_text(f'encoding = "{encoding}"')
    assert_alike(path, roles)


@pytest.mark.thorough
def test_a_byte_order_mark_before_another_encoding_is_no_part_of_a_name(tmp_path):
    path, roles = tmp_path / "people.csv", tmp_path / "roles.toml"
    # Names are read from the beginning of the file, which is longer than what is read at once.
    path.write_bytes(codecs.BOM_UTF8 + ("a,b\n1,é\n" + LONG_LINE * 12_000).encode("cp1252"))
    roles.write_text('encoding = "cp1252"\nquasi_identifiers = ["a", "b"]')
    assert_alike(path, roles)


@pytest.mark.thorough
def test_a_declared_encoding_is_honoured_where_its_first_letter_comes_late(tmp_path):
    path, roles = tmp_path / "people.csv", tmp_path / "roles.toml"
    path.write_bytes(("a,b\n" + LONG_LINE * 16_000 + "2,é\n").encode("cp1252"))
    roles.write_text('encoding = "cp1252"')
    assert_alike(path, roles)


@pytest.mark.thorough_beyond(3)
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"A,a\n1,2\n", "columns 'A' and 'a' differ in case only"),
        (b'a,b\n1,"x\n2,y\n', "line 2: broken quotes: a quotation mark opens in this row and is never closed"),
        (b"a,b\r\n1,2\n3,x\r\n", "line ends of two kinds"),
        (b"a,b\n1,2,3\n", "line 2: has 3 fields where the header has 2"),
        (
            b"a,b\n" + b"x" * 3_000_000 + b",1\n",
            "line 2: a cell that begins in this row has more than 131,072 characters",
        ),
        (b"x" * 2_000_000 + b",b\n1,2\n", "its first line is longer than 1 MiB"),
        (
            b"a,b\n" + b"1,x\n" * 400_000 + b"2,\xe9\n",
            r"is not UTF-8 \(invalid continuation byte at byte 1600006\); save it as UTF-8",
        ),
        (gzip.compress(os.urandom(3000).hex().encode())[:-2000], "the gzip compression is damaged"),
        (
            gzip.compress(b"a,b\n" + os.urandom(3_000_000).hex().encode() + b",1\n")[:-9],
            "the gzip compression is damaged",
        ),
    ],
)
def test_refuses_in_words_that_name_the_file(tmp_path, content, message):
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        in_parts(path, None)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.thorough
def test_refuses_compression_that_ends_early_after_many_rows(tmp_path):
    rng = np.random.default_rng(1)
    text = pd.DataFrame(rng.integers(0, 900, (500_000, 2)), columns=["a", "b"]).to_csv(index=False)
    path = tmp_path / "people.csv.gz"
    path.write_bytes(gzip.compress(text.encode(), 1)[:-100_000])
    with pytest.raises(ValueError, match="the gzip compression is damaged"):
        in_parts(path, None)


def test_parts_may_lack_a_type_where_they_lack_values_but_must_agree(tmp_path):
    columns = {"a": ["x", "y"], "b": pa.nulls(2), "day": pa.nulls(2)}
    days = pa.array([datetime.date(2020, 1, 2), None])
    tables = [
        pa.table(columns),
        pa.table({"day": days, "a": pa.array(["x", "z"]).dictionary_encode(), "b": [1.5, 2]}),
        pa.table({**columns, "a": ["x", None]}),
    ]
    folder = tmp_path / "people"
    folder.mkdir()
    for number, table in enumerate(tables):
        parquet.write_table(table, folder / f"part-{number}.parquet")
    whole = tmp_path / "people.parquet"
    parquet.write_table(pa.concat_tables([one.select(["a", "b", "day"]) for one in (
        pa.table({"a": ["x", "y"], "b": pa.nulls(2, pa.float64()), "day": pa.nulls(2, pa.date32())}),
        pa.table({"a": ["x", "z"], "b": [1.5, 2], "day": days}),
        pa.table({"a": ["x", None], "b": pa.nulls(2, pa.float64()), "day": pa.nulls(2, pa.date32())}),
    )]), whole)  # fmt: skip
    dataset, frame = in_parts(folder, None)
    expected = load_table(whole)
    pd.testing.assert_frame_equal(frame, expected.records.frame)
    assert dataset.records.domains == expected.records.domains
    for other, message in (
        ({"a": [1], "b": [1.0], "day": [1]}, "holds int64, but"),
        ({"a": ["x"]}, "lacks the column"),
    ):
        parquet.write_table(pa.table(other), folder / "part-9.parquet")
        with pytest.raises(ValueError, match=message):
            in_parts(folder, None)


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path):
    path = tmp_path / "people.parquet"
    parquet.write_table(pa.table({"a": [1, 2, 3]}), path)
    with large_records(path) as records:
        blocks = records.blocks()
        next(blocks)
        parquet.write_table(pa.table({"a": [1, 2, 3, 4]}), path)
        with pytest.raises(ValueError, match="was changed while it was read"):
            list(blocks)


@pytest.mark.thorough
def test_too_many_distinct_texts_are_refused_in_words_and_numbers_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(raw_columns, "LIMIT", 5)
    path = tmp_path / "people.parquet"
    numbers = np.arange(40) / 8
    parquet.write_table(pa.table({"a": numbers, "b": ["x", "y"] * 20}), path)
    _, frame = in_parts(path, None)
    assert frame["a"].tolist() == numbers.tolist()
    parquet.write_table(pa.table({"a": [f"{number}" for number in numbers]}), path)
    with pytest.raises(ValueError, match="has more than 5 distinct texts"):
        in_parts(path, None)


@pytest.mark.long
def test_a_kill_leaves_no_temporary_folder(tmp_path):
    # `test_private_folder` and the kills in `test_defending` are the short tests of this.
    path = tmp_path / "people.parquet"
    parquet.write_table(pa.table({"a": [1, 2, 3]}), path)
    script = (
        "import sys, time; from pathlib import Path; from scenarios.tables.parts.files.table_files import TableFiles\n"
        f"with TableFiles.of(Path({str(path)!r})) as files:\n"
        "    print(files.rows, flush=True); time.sleep(60)"
    )
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment)
    assert process.stdout.readline() == b"3\n"
    (folder,) = temporary.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    process.kill()
    process.wait()
    wait_until(lambda: not list(temporary.iterdir()))


def test_a_file_that_cannot_be_opened_leaves_no_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = tmp_path / "people.csv"
    path.write_bytes(b"a,b\n1,\xe9\n")
    roles = Path(tmp_path / "roles.toml")
    roles.write_text('encoding = "ascii"')
    with pytest.raises(ValueError, match="ascii"), large_records(path, roles):
        pass
    parquet.write_table(pa.table({"a": [1]}), tmp_path / "one.parquet")
    files = TableFiles.of(tmp_path / "one.parquet")
    (tmp_path / "one.parquet").unlink()
    with pytest.raises(ValueError, match=r"one\.parquet"), files:
        pass
    assert not [entry for entry in tmp_path.iterdir() if entry.is_dir()]


def test_a_parquet_column_without_a_name_is_refused(tmp_path):
    table = pa.table([pa.array([1, 2]), pa.array([3, 4])], names=["age", ""])
    parquet.write_table(table, tmp_path / "people.parquet")
    with (
        pytest.raises(ValueError, match=r"people\.parquet: column 2 has no name; give it one"),
        large_records(tmp_path / "people.parquet"),
    ):
        pass
