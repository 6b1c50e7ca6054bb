"""Single columns of a file: numbers and texts as queries count them, and files that are no table."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from defenses.base.queries.query import as_numbers, coded
from metrics import CategoricalDomain, NumericDomain
from scenarios.tables.reading.column_file import ColumnFile, _texts, lenient_numbers
from scenarios.tables.roles import Roles

DOMAINS = {"age": NumericDomain(0, 99), "job": CategoricalDomain(("clerk", "cook"))}
PATH = Path("people.csv")


def read(content, columns=("age", "job"), separator=None):
    data = content if isinstance(content, bytes) else content.encode()
    return ColumnFile.of(PATH, data, Roles(separator=separator)).read(columns, DOMAINS)


def texts(column):
    codes, distinct = coded(column)
    return [None if code < 0 else distinct[code] for code in codes]


def test_numbers_and_texts():
    table = read("name,age,job\nAnn,31,clerk\nBob,,cook\nEve, 4.5 ,\n")
    assert (len(table), table.columns) == (3, ("age", "job"))
    assert np.array_equal(as_numbers(table["age"]), [31, np.nan, 4.5], equal_nan=True)
    assert texts(table["job"]) == ["clerk", "cook", None]
    assert len(read("name,age,job\nAnn,31,clerk\n", ())) == 1


TEXTS = ["31", "+5", " 7 ", "-0.5", ".5", "5.", "1e3", "1e400", "-1e400", "inf", "-Infinity", "nan", "", "old", "1_0",
         "0x10", "٣", "1,5", "--5", "+-5", "007", "1e", "e5", "12345678901234567890", "TRUE", "None"]  # fmt: skip


@pytest.mark.thorough_beyond(40)
@pytest.mark.parametrize("other", ["1", "old"])
@pytest.mark.parametrize("text", TEXTS)
def test_a_number_depends_on_its_own_text_alone(text, other):
    """A text counts the same beside numbers and beside other texts, and as pandas tables count it."""
    table = read(f'age,job\n"{text}",clerk\n{other},cook\n', ["age"])
    series = pd.Series([text, None], dtype=object)
    expected = as_numbers(series)[0]
    found = table["age"][0]
    assert found == expected or (np.isnan(found) and np.isnan(expected)), (text, found, expected)


def test_texts_beside_numbers_leave_them_as_they_are():
    numbers = "\n".join(f"{value},clerk" for value in np.linspace(-3, 3, 2000))
    plain = read(f"age,job\n{numbers}\n")["age"]
    mixed = read(f"age,job\n{numbers}\nold,clerk\n")["age"]
    assert np.array_equal(plain, mixed[:-1])
    assert np.isnan(mixed[-1])


@pytest.mark.parametrize("kind", ["int64", "float32", "object", "bool"])
def test_parquet(tmp_path, kind):
    frame = pd.DataFrame({"age": pd.Series([1, 0, 1]).astype(kind), "job": ["clerk", None, "cook"]})
    frame.to_parquet(tmp_path / "people.parquet")
    table = ColumnFile.of(PATH, (tmp_path / "people.parquet").read_bytes()).read(("age", "job"), DOMAINS)
    if kind == "bool":
        # The text of a truth value is no number.
        assert np.isnan(table["age"]).all()
    else:
        assert table["age"].tolist() == [1, 0, 1]
    assert texts(table["job"]) == ["clerk", None, "cook"]


def test_large_files_are_read_in_blocks(monkeypatch):
    monkeypatch.setattr("scenarios.tables.reading.column_file.BLOCK", 1 << 10)
    monkeypatch.setattr("scenarios.tables.reading.column_file.HEAD", 1 << 9)
    rows = [(number % 90, ["clerk", "cook", ""][number % 3]) for number in range(3000)]
    table = read("age,job\n" + "\n".join(f"{age},{job}" for age, job in rows))
    assert table["age"].tolist() == [age for age, _ in rows]
    assert texts(table["job"]) == [job or None for _, job in rows]


def test_quotes_compression_separators_and_marks():
    content = '\ufeffage;job\n31;"cl\nerk"\n7;"a;b"\n'
    for data in (content.encode(), gzip.compress(content.encode())):
        table = read(data)
        assert table["age"].tolist() == [31, 7]
        assert texts(table["job"]) == ["cl\nerk", "a;b"]
    assert texts(read("age|job\n3|x\n", separator="|")["job"]) == ["x"]


@pytest.mark.parametrize("content", [b"age,job", b"age,job\n", b'"age",job\n\n'])
def test_a_table_may_hold_no_record(content):
    table = read(content)
    assert len(table) == 0
    assert (table["age"].tolist(), texts(table["job"])) == ([], [])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"age,age\n1,2\n", "column 'age' stands twice"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and so on", "is an Excel workbook"),
        (b"age,job\n1\n", "line 2: has 1 field where the header has 2"),
        (b'age,job\n1,"x\n', "quotes"),
        (b"age,job\n1,\xff\n", "is not UTF-8"),
        (b"age,job\n1,\x00\n2\n", "NUL byte"),
        (b"PAR1 and so on", "Parquet"),
        (b"\x1f\x8b no gzip", "gzip"),
    ],
)
def test_files_that_are_no_table_are_named(content, message):
    with pytest.raises(ValueError, match=message) as refusal:
        read(content)
    assert str(refusal.value).startswith("people.csv")


def test_helpers_read_empty_columns():
    import pyarrow as pa

    assert lenient_numbers(pa.array([], pa.string())).size == 0
    assert _texts("", pa.chunked_array([pa.array([None, None], pa.string())])).codes.tolist() == [-1, -1]
