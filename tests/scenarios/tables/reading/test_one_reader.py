"""Odd and broken bytes: every reader of tables takes the same ones, and refuses the others in the same words."""

import codecs
import gzip
import io
import pickle

import numpy as np
import pandas as pd
import pytest

from metrics import CategoricalDomain, NumericDomain
from scenarios.tables.dataset import load_table
from scenarios.tables.linkage_files import candidates_beside
from scenarios.tables.parts.records import large_records
from scenarios.tables.parts.released import large_released
from scenarios.tables.reading.column_file import ColumnFile
from scenarios.tables.released import read_released
from scenarios.tables.roles import hierarchy_rows, read_roles
from scenarios.tables.split_table import SplitFile
from scenarios.tournament.rules.problems import InvalidFileError
from scenarios.tournament.rules.sheets import Form, read_answers, read_sheet

TEXT = "age,job\n31,clerk\n45,cook\n52,nurse\n"
WIDE = TEXT.replace("clerk", "事務員です").replace("cook", "料理人です").replace("nurse", "看護師です")
WESTERN = TEXT.replace("clerk", "caissière").replace("nurse", "infirmière")
LONG = "31,clerk\n" * 200_000
DOMAINS = {"age": NumericDomain(0, 99, integer=True), "job": CategoricalDomain(("clerk", "cook", "nurse"))}

TAKEN = {
    "plain": (TEXT.encode(), TEXT, {}),
    "mark": (codecs.BOM_UTF8 + TEXT.encode(), TEXT, {}),
    "semicolons": (TEXT.replace(",", ";").encode(), TEXT, {}),
    "tabs": (TEXT.replace(",", "\t").encode(), TEXT, {}),
    "bars": (TEXT.replace(",", "|").encode(), TEXT, {}),
    "Windows": (TEXT.replace("\n", "\r\n").encode(), TEXT, {}),
    "returns": (TEXT.replace("\n", "\r").encode(), TEXT, {}),
    "quotes": (TEXT.replace("cook", '"cook"').replace("job", '"job"').encode(), TEXT, {}),
    "blank lines": (b"\n" + TEXT.replace("\n", "\n\n").encode(), TEXT, {}),
    "no end": (TEXT[:-1].encode(), TEXT, {}),
    "gzip": (gzip.compress(codecs.BOM_UTF8 + TEXT.encode(), mtime=0), TEXT, {}),
    "UTF-16": (TEXT.encode("utf-16"), TEXT, {"encoding": "utf-16"}),
    "Shift-JIS": (WIDE.encode("shift_jis"), WIDE, {"encoding": "shift_jis"}),
    "Western": (WESTERN.encode("cp1252"), WESTERN, {"encoding": "cp1252"}),
    "Western with a mark": (codecs.BOM_UTF8 + WESTERN.encode("cp1252"), WESTERN, {"encoding": "cp1252"}),
    "UTF-8 whatever is declared": (WIDE.encode(), WIDE, {"encoding": "cp1252"}),
    "quoted lines": (TEXT.replace("cook", '"co\nok"').encode(), TEXT.replace("cook", '"co\nok"'), {}),
    "quoted separators": (TEXT.replace("cook", '"co,ok"').encode(), TEXT.replace("cook", '"co,ok"'), {}),
    "quoted quotes": (TEXT.replace("cook", '"co""ok"').encode(), TEXT.replace("cook", '"co""ok"'), {}),
}
REFUSED = {
    "empty": (b"", ": is empty"),
    "blank": (b"\n \n", ": is empty"),
    "NUL": (TEXT.replace("cook", "co\0ok").encode(), ": holds a NUL byte at byte 22; it must be plain UTF-8 text"),
    "UTF-16": (TEXT.encode("utf-16"), "or declare it: --encoding utf-16 (key 'encoding' of the roles file)"),
    "Shift-JIS": (WIDE.encode("shift_jis"), "byte 11); save it as UTF-8, or declare it: --encoding shift_jis"),
    "Western": (WESTERN.encode("cp1252"), "byte 17); save it as UTF-8, or declare it: --encoding cp1252"),
    "late": (
        f"age,job\n{LONG}45,\xe9\n".encode("latin-1"),
        ": is not UTF-8 (invalid continuation byte at byte 1800011)",
    ),
    "open quote": (TEXT.replace("cook", '"cook').encode(), ", line 3: broken quotes: a quotation mark opens"),
    "late quote": (f'age,job\n{LONG}45,"co"ok\n'.encode(), ", line 200002: broken quotes: text follows a closing"),
    "text after a quote": (TEXT.replace("cook", '"co"ok').encode(), ", line 3: broken quotes: text follows a closing"),
    "web page": (b"<!DOCTYPE html>\n<p>a,b\n", ": is a web page (HTML) and no table; save its table as CSV"),
    "named separator": (
        b"sep=;\n" + TEXT.encode(),
        ": its first line only names the separator (sep=); delete that line",
    ),
    "quoted separator": (b'"sep=;"\n' + TEXT.encode(), ": its first line only names the separator (sep=)"),
    "archive": (b"PK\x03\x04people.csv", ": is a ZIP archive and no table; extract the table or save the sheet as CSV"),
    "old workbook": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", ": is an Excel workbook of the old format (.xls); save"),
    "pickle": (pickle.dumps([1]), ": is a pickle; save the sheet as CSV (UTF-8)"),
    "database": (b"SQLite format 3\0", ": is a database; save the sheet as CSV (UTF-8)"),
    "damaged gzip": (gzip.compress(TEXT.encode() * 99)[:-9], ": the gzip compression is damaged"),
}
TABLES_REFUSED = {
    "short row": (TEXT.replace("45,", "").encode(), ", line 3: has 1 field where the header has 2"),
    "long row": (TEXT.replace("45,", "1,45,").encode(), "has 2; if it begins with a row name, the header needs a name"),
    "late short row": (f"age,job\n{LONG}45\n".encode(), ", line 200002: has 1 field where the header has 2"),
    "two names": (TEXT.replace("job", "age").encode(), ": column 'age' stands twice; column names must differ"),
}
ROWS_REFUSED = {
    "header": (b"age,job\n", ": names columns but holds no record"),
    "blank rows": (
        TEXT.encode() + b",\n,\n",
        ": 2 rows empty in every column, which would count as people: 4, 5 (from",
    ),
}


def in_memory(path, roles):
    return load_table(path, roles).records.frame


def in_parts(path, roles):
    with large_records(path, roles, memory=1 << 29) as records:
        return pd.concat([records.values.frame(block) for block in records.blocks()], ignore_index=True)


def release(path, roles):
    return read_released(path, roles).frame


def release_in_parts(path, roles):
    with large_released(path, roles, memory=1 << 29) as released:
        cells = {name: next(released.cells(name)) for name in released.columns}
        return pd.DataFrame(
            {name: cells[name][block.columns[name]] for block in released.blocks(cells) for name in cells}
        )


def candidates(path, roles):
    released = pd.DataFrame({"age": ["31"], "job": ["clerk"]})
    return candidates_beside(released, path, roles, None)[1].candidates


def single_columns(path, roles):
    table = ColumnFile.of(path, path.read_bytes(), read_roles(roles)).read(("age", "job"), DOMAINS)
    return pd.DataFrame({"age": table["age"].astype(int), "job": np.array(table["job"].texts)[table["job"].codes]})


def hierarchy(path, roles):
    rows, _ = hierarchy_rows(path, "age", encoding=read_roles(roles).encoding)
    return pd.DataFrame(rows, columns=["age", "job"])


def split(path, roles):
    part = SplitFile.of(path, path.read_bytes(), read_roles(roles))
    path.write_bytes(part.part(np.ones(len(part.person), dtype=bool)))
    return load_table(path, roles).records.frame


TABLES = [in_memory, in_parts, release, release_in_parts, candidates, single_columns, split]


def files(folder, content, reading):
    path, roles = folder / "people.csv", folder / "roles.toml"
    path.write_bytes(content)
    roles.write_text("".join(f'{key} = "{value}"\n' for key, value in reading.items()))
    return path, roles if reading else None


def rows(frame):
    return [tuple(map(str, row)) for row in frame.itertuples(index=False)]


@pytest.mark.thorough_beyond(3)
@pytest.mark.parametrize("read", [*TABLES, hierarchy], ids=lambda read: read.__name__)
@pytest.mark.parametrize("name", TAKEN)
def test_bytes_are_taken_alike(tmp_path, read, name):
    content, expected, reading = TAKEN[name]
    plain = pd.read_csv(io.StringIO(expected), dtype=str)
    assert rows(read(*files(tmp_path, content, reading))) == rows(plain)


@pytest.mark.thorough_beyond(47)
@pytest.mark.parametrize("read", [*TABLES, hierarchy], ids=lambda read: read.__name__)
@pytest.mark.parametrize("name", REFUSED)
def test_bytes_are_refused_in_the_same_words(tmp_path, read, name):
    refuses(tmp_path, read, *REFUSED[name])


@pytest.mark.thorough_beyond(6)
@pytest.mark.parametrize("read", TABLES, ids=lambda read: read.__name__)
@pytest.mark.parametrize("name", TABLES_REFUSED)
def test_rows_are_refused_in_the_same_words(tmp_path, read, name):
    refuses(tmp_path, read, *TABLES_REFUSED[name])


@pytest.mark.thorough_beyond(7)
@pytest.mark.parametrize("read", [one for one in TABLES if one is not single_columns], ids=lambda read: read.__name__)
@pytest.mark.parametrize("name", ROWS_REFUSED)
def test_tables_without_people_are_refused_in_the_same_words(tmp_path, read, name):
    """A query alone answers about such rows: its refusals must not depend on the records."""
    refuses(tmp_path, read, *ROWS_REFUSED[name])


def refuses(folder, read, content, words):
    path, _ = files(folder, content, {})
    with pytest.raises(ValueError, match=r"^[^\n]+\Z") as refusal:
        read(path, None)
    assert str(refusal.value).startswith(str(path))
    assert words in str(refusal.value)


def upload(content):
    """An upload of a team with the same bytes: its table, and answers whose rows are those of the table."""
    separator = next((one for one in ";\t|" if one.encode() in content), ",").encode()
    for name in (b"clerk", b"cook", b"nurse"):
        content = content.replace(name, name + separator)
    content = content.replace(b"job", b"job" + separator + b"original_row")
    return read_sheet("kyoto.csv", content, Form(DOMAINS, 3, {})).frame


def answers(content):
    for old, new in ((b"age", b"released_row"), (b"job", b"candidate_row"), (b"clerk", b"0"), (b"cook", b"1")):
        content = content.replace(old, new)
    for old, new in ((b"nurse", b"2"), (b"31", b"0"), (b"45", b"1"), (b"52", b"2")):
        content = content.replace(old, new)
    return read_answers("kyoto.csv", content, 3, 3)


@pytest.mark.parametrize(
    "name", ["plain", "mark", "semicolons", "tabs", "bars", "Windows", "returns", "blank lines", "no end"]
)
def test_uploads_are_taken_as_tables_are(name):
    content = TAKEN[name][0]
    assert rows(upload(content)) == [("31", "clerk"), ("45", "cook"), ("52", "nurse")]
    assert answers(content).answer.tolist() == [0, 1, 2]


@pytest.mark.thorough_beyond(6)
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("empty", "file: is empty"),
        ("blank", "file: is empty"),
        ("NUL", "line 3: holds a NUL character"),
        ("UTF-16", "line 1: is no UTF-8 text, but perhaps UTF-16"),
        ("Shift-JIS", "line 2: is no UTF-8 text, but perhaps SHIFT_JIS"),
        ("Western", "line 2: is no UTF-8 text, but perhaps CP1252"),
        ("late", "line 200002: is no UTF-8 text"),
        ("open quote", "line 3: is no CSV (broken quotes: a quotation mark opens in this row and is never closed)"),
        ("text after a quote", "line 3: is no CSV (broken quotes: text follows a closing quotation mark"),
        ("web page", "file: is a web page (HTML) and no table"),
        ("archive", "file: is a ZIP archive and no table"),
        ("old workbook", "file: is an Excel workbook of the old format (.xls)"),
        ("pickle", "file: is a pickle"),
        ("database", "file: is a database"),
        ("damaged gzip", "file: is compressed"),
    ],
)
def test_uploads_are_refused_as_tables_are(name, words):
    for read in (upload, answers):
        with pytest.raises(InvalidFileError) as refused:
            read(REFUSED[name][0])
        assert words in "; ".join(refused.value.lines)


def test_an_upload_may_name_its_separator():
    content = b"sep=;\r\n" + TAKEN["semicolons"][0]
    assert rows(upload(content)) == rows(upload(TEXT.encode()))
