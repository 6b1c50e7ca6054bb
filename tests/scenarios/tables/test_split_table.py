"""A split of a table's file: both parts together are the file, and nobody is in both."""

import gzip
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import Workbook, load_workbook
from pyarrow import parquet

from scenarios.tables.roles import Roles
from scenarios.tables.split_table import SplitFile, drawn_control

PATH = Path("table")
HEADER = "id,note"


def halves(data, roles=None, seed=1):
    """The file, a mask of the control group, and both parts."""
    file = SplitFile.of(PATH, data, roles or Roles())
    held = drawn_control(file.person, 0.4, np.random.default_rng(seed))
    return file, held, file.part(~held), file.part(held)


def merged(prefix, parts, held):
    """Lines of both parts in the order of the file."""
    lines = [iter(part.removeprefix(prefix).splitlines(keepends=True)) for part in parts]
    return prefix + b"".join(next(lines[int(control)]) for control in held)


@pytest.mark.thorough_beyond(9)
@pytest.mark.parametrize(
    ("encoding", "mark", "header", "row", "end"),
    [
        ("utf-8", b"", "id,town", "p{},Zürich", "\n"),
        ("utf-8", b"\xef\xbb\xbf", "id,town", "p{},München", "\r\n"),
        ("cp1252", b"", "id;income", "p{};1.234,5 €", "\r\n"),
        ("utf-8", b"", "id\tincome", "p{}\t 1,25 ", "\r"),
        ("cp932", b"", "番号,病名", "p{},表示能力", "\r\n"),
        # The first byte pair of 「あ」 holds the byte of a quote in this encoding.
        ("iso2022_jp", b"", "番号,病名", "p{},あい", "\n"),
    ],
)
@pytest.mark.parametrize("last", [True, False], ids=["ended", "open"])
def test_lines_are_kept_byte_for_byte(encoding, mark, header, row, end, last):
    text = end.join([header, *(row.format(number) for number in range(20))]) + end * last
    data = mark + text.encode(encoding)
    _, held, *parts = halves(data, Roles(encoding=encoding))
    prefix = mark + f"{header}{end}".encode(encoding)
    assert held.sum() == 8
    assert all(part.startswith(prefix) for part in parts)
    assert merged(prefix, parts, held) == data
    packed = gzip.compress(data)
    assert [gzip.decompress(part) for part in halves(packed, Roles(encoding=encoding))[2:]] == parts


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
def test_wide_characters_stay_whole(encoding):
    # The second byte of this character is that of a line break.
    lines = ["id,town\r\n", *(f"p{number},Ċ{number}\r\n" for number in range(20))]
    _, held, *parts = halves("".join(lines).encode(encoding), Roles(encoding=encoding))
    for part, mask in zip(parts, (~held, held), strict=True):
        expected = lines[0] + "".join(line for line, keep in zip(lines[1:], mask, strict=True) if keep)
        assert part == expected.encode(encoding)


FIELD = st.text(st.sampled_from('ab,;"\n\r é'), max_size=6)


@pytest.mark.thorough
@settings(max_examples=50, deadline=None)
@given(
    fields=st.lists(FIELD, min_size=3, max_size=12),
    people=st.integers(2, 5),
    seed=st.integers(0, 99),
    end=st.booleans(),
)
def test_both_parts_are_the_table_and_nobody_is_in_both(fields, people, seed, end):
    rows = [f'p{number % people},"{field.replace(chr(34), chr(34) * 2)}"\n' for number, field in enumerate(fields)]
    text = f"{HEADER}\n" + "".join(rows)
    data = (text if end else text[:-1]).encode()
    roles = Roles(person="id", separator=",")
    _, held, *parts = halves(data, roles, seed)
    tables = [pd.read_csv(io.BytesIO(part), dtype=str, keep_default_na=False) for part in parts]
    assert sum(map(len, tables)) == len(rows)
    assert not set(tables[0]["id"]) & set(tables[1]["id"])
    for part, mask in zip(parts, (~held, held), strict=True):
        expected = f"{HEADER}\n" + "".join(row for row, keep in zip(rows, mask, strict=True) if keep)
        assert part in (expected.encode(), expected[:-1].encode())
    assert sum(map(len, parts)) == len(data) + len(HEADER) + 1
    assert halves(data, roles, seed)[2:] == (parts[0], parts[1])


def test_quotes_within_fields_and_blank_lines():
    data = b'id,size\r\n1,5" pipe\r\n\r\n2,6\r\n3,"a\r\nb"\r\n4,7" pipe\r\n\r\n'
    file = SplitFile.of(PATH, data, Roles())
    assert file.part(np.array([True, False, True, False])) == b'id,size\r\n1,5" pipe\r\n\r\n3,"a\r\nb"\r\n'
    assert file.part(np.ones(4, dtype=bool)) == data


def test_every_person_is_as_likely_as_others_to_be_held_back():
    person = np.repeat(np.arange(10), np.arange(1, 11))
    counts = np.zeros(10)
    for seed in range(2000):
        held = drawn_control(person, 0.3, np.random.default_rng(seed))
        assert np.unique(person[held]).size == 3
        counts[np.unique(person[held])] += 1
    # Standard deviation of each count: 20.5; a false alarm has probability 1e-5.
    assert np.abs(counts - 600).max() < 5 * 20.5


def test_parquet_keeps_types_metadata_and_compression():
    table = pa.table({"id": pa.array(range(20), pa.int16()), "x": pa.array([0.5] * 20, pa.float32())})
    table = table.replace_schema_metadata({"source": "clinic"})
    buffer = io.BytesIO()
    parquet.write_table(table, buffer, compression={"id": "ZSTD", "x": "NONE"})
    _, held, *parts = halves(buffer.getvalue())
    for part, mask in zip(parts, (~held, held), strict=True):
        assert parquet.read_table(io.BytesIO(part)).equals(table.filter(pa.array(mask)), check_metadata=True)
        group = parquet.ParquetFile(io.BytesIO(part)).metadata.row_group(0)
        assert [group.column(number).compression for number in range(2)] == ["ZSTD", "UNCOMPRESSED"]


def test_workbooks_keep_texts_and_lose_other_sheets():
    workbook = Workbook()
    rows = [(f"p{number}", f"0210{number % 10}", "=A1", 0.5) for number in range(20)]
    for row in [("id", "postcode", "note", "share"), (), *rows]:
        workbook.active.append(row)
    for row in workbook.active.iter_rows(min_row=3):
        row[2].data_type = "s"
        row[3].number_format = "0.00%"
    workbook.create_sheet("names").append(["secret"])
    buffer = io.BytesIO()
    workbook.save(buffer)
    _, held, *parts = halves(buffer.getvalue())
    for part, mask in zip(parts, (~held, held), strict=True):
        read = load_workbook(io.BytesIO(part))
        assert len(read.worksheets) == 1
        cells = list(read.active.iter_rows(min_row=2))
        expected = [row for row, keep in zip(rows, mask, strict=True) if keep]
        assert [tuple(cell.value for cell in row) for row in cells] == expected
        assert {row[3].number_format for row in cells} == {"0.00%"}
        assert {row[2].data_type for row in cells} == {"s"}


def test_people_and_repeated_rows():
    data = b"id,x\np1,a\np2,b\n p1,a\np1,a\np2,c\n"
    file = SplitFile.of(PATH, data, Roles(person="id"))
    assert file.person.tolist() == [0, 1, 0, 0, 1]
    assert file.repeated.tolist() == [False, False, False, True, False]
    with pytest.raises(ValueError, match="there is no column 'name'"):
        SplitFile.of(PATH, data, Roles(person="name"))
    with pytest.raises(ValueError, match="is empty in record 2"):
        SplitFile.of(PATH, b"id,x\np1,a\n,b\n", Roles(person="id"))


@pytest.mark.parametrize(("share", "words"), [(0.1, "the control group"), (0.9, "the part to release")])
def test_no_part_may_be_empty(share, words):
    with pytest.raises(ValueError, match=f"{words} would be empty"):
        drawn_control(np.array([0, 0, 0, 1, 1, 2]), share, np.random.default_rng(1))
