"""Excel workbooks: the first sheet as a table, and refusals."""

import io
import sys
import zipfile
from datetime import datetime

import pandas as pd
import pytest
from openpyxl import Workbook

from scenarios.tables.dataset import load_table
from scenarios.tables.reading.column_file import ColumnFile


def write(path, *sheets):
    workbook = Workbook()
    workbook.remove(workbook.active)
    for rows in sheets:
        sheet = workbook.create_sheet()
        for row in rows:
            sheet.append(row)
    workbook.save(path)
    return path


def test_the_first_sheet_is_a_table(tmp_path):
    rows = [
        [None, "age", "job", "flag", "born", "mixed", "height", 2024],
        ["p1", 31, "cook", True, datetime(1990, 5, 1), 1, 1.234, "x"],
        [],
        ["p2", None, "", False, datetime(1991, 5, 1, 12, 30), "NA", 1.5, "y"],
        ["p3", 45.0, "pilot", None, None, 2.5, 1.75, "z"],
    ]
    dataset = load_table(write(tmp_path / "t.xlsx", rows, [["other"], [1]]))
    frame = dataset.records.frame
    assert frame["column_1"].tolist() == ["p1", "p2", "p3"]
    assert frame["age"].tolist()[::2] == [31, 45]
    assert frame["age"].isna().tolist() == [False, True, False]
    assert frame["job"].tolist() == ["cook", None, "pilot"]
    assert frame["flag"].tolist() == ["true", "false", None]
    assert frame["born"].tolist() == ["1990-05-01", "1991-05-01 12:30:00", None]
    assert frame["mixed"].tolist()[::2] == [1, 2.5]
    assert frame["height"].tolist() == [1.234, 1.5, 1.75]
    assert frame["2024"].tolist() == ["x", "y", "z"]
    assert "the first of 2 sheets is read" in [*map(str, dataset.notes)]
    assert "mixed: NA counts as missing among numbers" in [*map(str, dataset.notes)]


@pytest.mark.parametrize("name", ["Postcode", "ZIP", "zipCode", "PLZ", "郵便番号"])
def test_postcodes_that_are_numbers_are_noted(tmp_path, name):
    rows = [(name, "home_zip", "zips"), (2101, "02101", 1), (2105, "02105", 2), (None, "02110", 3)]
    notes = map(str, load_table(write(tmp_path / "t.xlsx", rows)).notes)
    words = "a postcode by its name, but its cells are numbers, which lose leading zeros; make them text cells"
    assert [note for note in notes if "a postcode" in note] == [f"{name}: {words}"]


def test_cells_beyond_the_header_and_tables_of_pandas(tmp_path):
    frame = load_table(write(tmp_path / "t.xlsx", [["a"], [1, "more"], [2]])).records.frame
    assert frame["column_2"].tolist() == ["more", None]
    records = pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "y"]})
    records.to_excel(tmp_path / "p.xlsx", index=False)
    assert load_table(tmp_path / "p.xlsx").records.frame.equals(records)


@pytest.mark.parametrize(
    ("sheet", "message"),
    [
        ([], "its first sheet is empty"),
        ([["a", "b"]], "names columns but holds no record"),
        ([["a", "a"], [1, 2]], "column 'a' stands twice"),
    ],
)
def test_sheets_that_are_no_table(tmp_path, sheet, message):
    with pytest.raises(ValueError, match=message):
        load_table(write(tmp_path / "t.xlsx", sheet))


def archive(*names):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name in names:
            file.writestr(name, "<x/>")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and so on",
            r"Excel workbook of the old format \(\.xls\); save the sheet as",
        ),
        (archive("[Content_Types].xml", "xl/workbook.xml"), "is a damaged or unsupported Excel workbook"),
        (archive("[Content_Types].xml", "xl/workbook.xml")[:-40], "is a damaged or unsupported Excel workbook"),
        (archive("people.csv"), "is a ZIP archive and no table"),
    ],
    ids=["old", "incomplete", "cut", "zip"],
)
def test_other_archives_are_refused_as_what_they_are(tmp_path, content, message):
    (tmp_path / "t.xlsx").write_bytes(content)
    with pytest.raises(ValueError, match=rf"^{tmp_path}/t\.xlsx: .*{message}"):
        load_table(tmp_path / "t.xlsx")


def test_without_the_extra_a_workbook_is_refused(tmp_path, monkeypatch):
    path = write(tmp_path / "t.xlsx", [["a"], [1]])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(
        ValueError, match=r"is an Excel workbook; save the sheet as CSV .*pip install 'tokumei\[excel\]'"
    ):
        load_table(path)
    with pytest.raises(ValueError, match="is an Excel workbook; save the sheet as CSV"):
        ColumnFile.of(path, path.read_bytes())
