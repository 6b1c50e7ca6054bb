"""Numbers in other forms, missing values among numbers, columns without a name, and encodings."""

import codecs
import gzip
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from defenses.base.queries.query import as_numbers, coded
from metrics.columns.domains import CategoricalDomain, NumericDomain
from scenarios.commands.cli import cli
from scenarios.tables.dataset import load_table
from scenarios.tables.reading.column_file import ColumnFile
from scenarios.tables.reading.csv_text import guessed_encoding
from scenarios.tables.reading.text_table import read_text_table
from scenarios.tables.released import read_released
from scenarios.tables.review.description import describe_table
from scenarios.tables.roles import Roles

PATH = Path("people.csv")


def call(*arguments, code=0):
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def read(text, separator=";", **declared):
    data = text if isinstance(text, bytes) else text.encode()
    return read_text_table(PATH, data, Roles(separator=separator, **declared))


def numbers(column):
    return column.number_rows().tolist()


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["1,5", "2", "-0,25"], [1.5, 2, -0.25]),
        (["1,5", ",5", "1e3"], [1.5, 0.5, 1000]),
        (["1.234,5", "12"], [1234.5, 12]),
        (["1.234.567", "1.234"], [1234567, 1234]),
        (["1,234,567", "1,234"], [1234567, 1234]),
        (["1,234.5", "999"], [1234.5, 999]),
        (["-1,234,567", "+12"], [-1234567, 12]),
    ],
)
def test_what_is_evident_is_read(texts, expected):
    table = read("x;y\n" + "".join(f"{text};a\n" for text in texts))
    assert numbers(table.columns["x"]) == expected
    assert any(note.columns == ("x",) for note in table.notes)
    assert table.layout["decimal"] == ("," if "1,5" in texts or "1.234" in texts[0] else ".")


@pytest.mark.parametrize(
    "texts",
    [
        ["1,234,567", "1234"],  # groups not throughout
        ["1,234,567", "12,34"],
        ["1,5", "2.5"],
        ["1,2,3", "1"],
        ["01,5", "02,5"],  # leading zeros are codes
        ["1,234,567,890,123,456", "1,234,567,890,123,457"],  # more digits than a float keeps
        ["12.99.20", "13.11.20"],
        ["06.123.456", "06.123.457"],
        ["1,5", "old"],
    ],
)
def test_what_is_not_evident_stays_text(texts):
    table = read("x;y\n" + "".join(f"{text};a\n" for text in texts))
    assert table.columns["x"].text_values().tolist() == texts
    assert table.notes == []


@pytest.mark.parametrize(
    ("texts", "expected", "words"),
    [
        (["5,00 €", "1.234,50 €", "-7 €"], [5, 1234.5, -7], "numbers with the unit €, read and released without it"),
        (["$1,234.50", "$7.00", "-$5"], [1234.5, 7, -5], "numbers with the unit $"),
        (["￥1,234,500", "￥900"], [1234500, 900], "numbers with the unit ￥"),
        (["450万円", "1200万円"], [450, 1200], "numbers with the unit 万円"),
        (["12%", "7.5 %"], [12, 7.5], "numbers with the unit %"),
        (["1 234", "12 345,5"], [1234, 12345.5], "blanks or apostrophes separate thousands"),
        (["1\u00a0234", "950"], [1234, 950], "blanks or apostrophes separate thousands"),
        (["1'234.50", "950"], [1234.5, 950], "blanks or apostrophes separate thousands"),
        (["昭和55年", "平成元年", "令和3年"], [1980, 1989, 2021], "years of Japanese eras are read, and released"),
    ],
)
def test_units_and_blanks_of_numbers_are_left_out_and_said(texts, expected, words):
    table = read("x;y\n" + "".join(f"{text};a\n" for text in texts))
    assert numbers(table.columns["x"]) == expected
    assert any(words in str(note) for note in table.notes)


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["5 €", "$7"], "not all numbers have one unit (€, $)"),
        (["12%", "0.12"], "not all numbers have one unit (%)"),
        (["123 456", "654 321"], "blanks may separate thousands or parts of a code"),
    ],
)
def test_numbers_of_several_units_and_codes_stay_text_with_a_note(texts, words):
    table = read("x;y\n" + "".join(f"{text};a\n" for text in texts))
    assert table.columns["x"].text_values().tolist() == texts
    assert words in str(table.notes[0])


def test_a_declared_number_has_blanks_between_thousands(tmp_path):
    (tmp_path / "t.csv").write_text("x;y\n123 456;a\n654 321;b\n")
    (tmp_path / "r.toml").write_text('[columns.x]\ntype = "number"\n')
    assert load_table(tmp_path / "t.csv", tmp_path / "r.toml").records.frame["x"].tolist() == [123456, 654321]


def test_thousands_or_decimals_stay_text_with_a_note():
    table = read("x;y\n1,234;a\n12;b\n")
    assert table.columns["x"].text_values().tolist() == ["1,234", "12"]
    [note] = map(str, table.notes)
    assert note.startswith("x: commas or points may mark decimals or separate thousands")
    assert note.endswith("give --decimal . or --decimal , for numbers")
    assert table.layout == {}


def test_a_comma_between_fields_makes_quoted_commas_doubtful():
    text = 'x,y\n"1,5",a\n"2,25",b\n'
    assert not read(text, ",").columns["x"].looks_numeric()
    assert numbers(read(text, ",", decimal=",").columns["x"]) == [1.5, 2.25]


def test_one_column_shows_the_mark_of_another():
    doubtful = "1,234;{}\n12,500;{}\n"
    assert not read("x;y\n" + doubtful.format("1", "2")).columns["x"].looks_numeric()
    comma = read("x;y\n" + doubtful.format("1,5", "2,5"))
    assert numbers(comma.columns["x"]) == [1.234, 12.5]
    point = read("x;y\n" + doubtful.format("1.5", "2.5"))
    assert numbers(point.columns["x"]) == [1234, 12500]
    both = read("x;y;z\n1,234;1,5;1.5\n12,500;2,5;2.5\n")
    assert not both.columns["x"].looks_numeric()
    assert numbers(both.columns["y"]) == [1.5, 2.5]
    assert numbers(read("x;y\n1.234;2,5\n5.678;1\n").columns["x"]) == [1234, 5678]


def test_plain_numbers_of_a_release_stay_plain(tmp_path):
    (tmp_path / "r.toml").write_text('separator = ";"\ndecimal = ","\n')
    (tmp_path / "t.csv").write_text("x;y\n1.234;1,5\n5.678;2,5\n")
    released = read_released(tmp_path / "t.csv", tmp_path / "r.toml").frame
    assert released["x"].tolist() == ["1.234", "5.678"]
    assert released["y"].tolist() == ["1.5", "2.5"]
    assert load_table(tmp_path / "t.csv", tmp_path / "r.toml").records.frame["x"].tolist() == [1234, 5678]


@pytest.mark.parametrize("missing", ["NA", "N/A", "NULL", "?", "-", "#N/A", " NA ", "欠損"])
def test_missing_values_among_numbers(missing):
    table = read(f"x;y\n31;{missing}\n{missing};b\n7;c\n")
    assert np.isnan(numbers(table.columns["x"])[1])
    assert table.columns["y"].text_values()[0] == missing
    assert f"x: {missing.strip()} counts as missing among numbers" in [*map(str, table.notes)]
    assert read(f"x;y\n31;{missing}\n", na=[missing.strip()]).columns["y"].empty


def test_missing_values_among_truth_values(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("smokes;answer;x\n" + "TRUE;yes;1\nFALSE;no;2\nNA;NA;3\n" * 5)
    assert load_table(path).records.frame["smokes"].tolist()[:3] == ["TRUE", "FALSE", None]
    assert load_table(path).records.frame["answer"].tolist()[:3] == ["yes", "no", "NA"]
    (tmp_path / "r.toml").write_text(describe_table(path, None, tmp_path / "r.toml").text)
    assert load_table(path, tmp_path / "r.toml").records.frame["smokes"].isna().sum() == 5


def test_doubts_about_the_first_line():
    assert "names of columns are numbers" in str(read("39;State;13\n50;Private;9\n").notes[0])
    assert "if blanks separate its fields" in str(read("a b c\n1 2 3\n").notes[0])
    assert read("a b c;x\n1 2 3;y\n").notes == []
    assert list(read("a b c\n1 2 3\n", " ").columns) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="line 2: has 3 fields where the header has 2; if it begins with a row name"):
        read('"a";"b"\n"1";3;4\n')


def test_columns_declared_as_categories_stay_as_they_are(tmp_path):
    path, roles = tmp_path / "t.csv", tmp_path / "r.toml"
    path.write_text("grade;flag\n1;0\nNA;1\n2,5;NA\n")
    roles.write_text(
        '[columns.grade]\ntype = "category"\ncategories = ["1", "2,5", "NA"]\n'
        '[columns.flag]\ntype = "category"\ncategories = ["0", "1"]\n'
    )
    frame = load_table(path, roles).records.frame
    assert frame["grade"].tolist() == ["1", "NA", "2,5"]
    assert frame["flag"].tolist() == ["0", "1", None]
    roles.write_text('na = ["NA"]\n' + roles.read_text())
    with pytest.raises(ValueError, match=r"r\.toml: .*'NA' is in 'na' and a category of column 'grade'"):
        load_table(path, roles)


@pytest.mark.parametrize(
    ("text", "declared", "words"),
    [
        ("a;b\n1,5;x\n", ",", "has 2 fields where the header has 1; the fields look separated by a semicolon (;)"),
        ("a\tb\n1,5\tx\n", ",", "has 2 fields where the header has 1; the fields look separated by a tab (tab)"),
        ("a\n1,5\n", ",", "has 2 fields where the header has 1"),
    ],
)
def test_a_header_without_the_declared_separator_is_doubted(tmp_path, text, declared, words):
    (tmp_path / "t.csv").write_text(text)
    output = call("describe", tmp_path / "t.csv", "--delimiter", declared, code=2).output
    assert words in output
    assert ("look separated" in output) == ("look separated" in words)


def test_declared_numbers_may_lack_values_and_have_commas(tmp_path):
    (tmp_path / "t.csv").write_text("x;y\n1,5;a\nNA;b\n")
    (tmp_path / "r.toml").write_text('[columns.x]\ntype = "number"\nlow = 0\nhigh = 9\ninteger = false\n')
    column = load_table(tmp_path / "t.csv", tmp_path / "r.toml").records.frame["x"]
    assert column[0] == 1.5
    assert np.isnan(column[1])


def test_parquet_numbers_are_numbers_and_its_texts_are_read_like_csv(tmp_path):
    path = tmp_path / "t.parquet"
    frame = pd.DataFrame({"x": [1.234, 5.678], "text": ["1.234,5", "NA"], "flag": [True, None], "": ["a", "b"]})
    frame.to_parquet(path)
    table = read_text_table(path, path.read_bytes())
    assert numbers(table.columns["x"]) == [1.234, 5.678]
    assert numbers(table.columns["text"])[0] == 1234.5
    assert table.columns["flag"].text_values().tolist() == ["true", None]
    assert table.columns["column_4"].text_values().tolist() == ["a", "b"]


def test_columns_without_a_name():
    table = read('"","a",column_3," ",""\n1,x,u,v,\n2,y,u,w,\n', ",")
    assert list(table.columns) == ["column_1", "a", "column_3", "column_4"]
    assert [*map(str, table.notes)] == [
        "column 1 has no name and is called 'column_1'",
        "column 4 has no name and is called 'column_4'",
        "column 5 has neither a name nor a value, and is left out",
    ]
    assert list(read("column_2;\n1;2\n").columns) == ["column_2", "column_2_"]
    with pytest.raises(ValueError, match="column 'a' stands twice"):
        read("a;;a\n1;2;3\n")


@pytest.mark.thorough
def test_encodings(tmp_path):
    text = "名前,年齢\n山田太郎さん,31\n鈴木花子さん,45\n"
    for name in ("shift_jis", "euc_jp", "utf-16"):
        data = text.encode(name)
        assert guessed_encoding(data) == name
        (tmp_path / "t.csv").write_bytes(data)
        result = call("validate", tmp_path / "t.csv", code=2)
        assert f"--encoding {name}" in result.output
        assert "年齢" in call("validate", tmp_path / "t.csv", "--encoding", name).output
        call("describe", tmp_path / "t.csv", "--encoding", name, "-o", tmp_path / f"{name}.toml")
        assert tomllib.loads((tmp_path / f"{name}.toml").read_text())["encoding"] == name
        assert load_table(tmp_path / "t.csv", tmp_path / f"{name}.toml").records.frame["年齢"].tolist() == [31, 45]
        (tmp_path / "z.csv").write_bytes(gzip.compress(data))
        assert len(load_table(tmp_path / "z.csv", tmp_path / f"{name}.toml").records) == 2
    (tmp_path / "utf8.csv").write_text(text)
    assert len(load_table(tmp_path / "utf8.csv", tmp_path / "shift_jis.toml").records) == 2
    for western in ("café,é\nnaïve,chérie\n", "Größe,Straße\nMüller,Öl\n", "name\nJosé\n"):
        assert guessed_encoding(western.encode("cp1252")) == "cp1252"
    (tmp_path / "bom.csv").write_bytes(codecs.BOM_UTF8 + "Größe;Straße\n170;Öl\n".encode("cp1252"))
    marked = load_table(tmp_path / "bom.csv", reading={"encoding": "cp1252"})
    assert list(marked.records.frame.columns) == ["Größe", "Straße"]
    assert guessed_encoding(bytes(range(128, 256))) is None
    assert "encoding 'klingon'" in call("validate", tmp_path / "t.csv", "--encoding", "klingon", code=2).output
    assert "is not ascii" in call("validate", tmp_path / "t.csv", "--encoding", "ascii", code=2).output


@pytest.mark.thorough
def test_options_replace_keys_of_the_roles(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("x|y\n" + "1.234|none\n5.678|b\n" * 20)
    Path("r.toml").write_text('separator = ";"\nquasi_identifiers = ["x", "y"]\n')
    options = ("--roles", "r.toml", "--delimiter", "|", "--decimal", ",", "--na", "none")
    assert "integers 1234 to 5678" in call("validate", "t.csv", *options).output
    call("defend", "Identity", "t.csv", *options, "-o", "released.csv")
    assert Path("released.csv").read_text().startswith("x|y\n")
    assert call("utility", "t.csv", "released.csv", *options).output
    assert call("risk", "released.csv", *options).output
    written = call("describe", "t.csv", *options).stdout
    roles = tomllib.loads(written)
    assert (roles["separator"], roles["decimal"], roles["na"]) == ("|", ",", ["none"])
    call("validate", "t.csv", *options, "--write-roles", "written.toml")
    assert load_table("t.csv", "written.toml").records.frame["y"].dropna().unique().tolist() == ["b"]
    Path("tab.csv").write_text("x\ty\n1\t2\n")
    call("validate", "tab.csv", "--delimiter", "tab")
    for option, wrong in (("--delimiter", "::"), ("--delimiter", '"'), ("--delimiter", ""), ("--decimal", ";")):
        assert option in call("validate", "t.csv", option, wrong, code=2).output


def test_describe_declares_what_it_recognized(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\ufeff;x;flag;job\n" + "".join(f"{row};{row % 7},5;{row % 2};cook\n" for row in range(1, 60)))
    with path.open("a") as file:
        file.write("60;NA;NA;NA\n")
    described = describe_table(path, None, tmp_path / "r.toml")
    roles = described.roles
    assert roles.identifiers == ["column_1"]
    assert (roles.separator, roles.decimal, roles.na) == (";", ",", [])
    assert "job: NA is a category; if it means a missing value, give --na NA" in [*map(str, described.notes)]
    (tmp_path / "r.toml").write_text(described.text)
    records = load_table(path, tmp_path / "r.toml").records
    assert records.domains["flag"] == CategoricalDomain(("0", "1"))
    assert isinstance(records.domains["x"], NumericDomain)
    assert records.frame.isna().sum().tolist() == [0, 1, 1, 0]
    again = describe_table(path, None, tmp_path / "r.toml", reading={"na": ["NA"]})
    assert again.roles.na == ["NA"]
    assert "NA is a category" not in "".join(map(str, again.notes))
    path.write_text(path.read_text().replace(";NA;NA\n", ";NA;\n"))
    assert describe_table(path, None, tmp_path / "r.toml").roles.na == ["NA"]


def test_queries_read_declared_forms_only():
    domains = {"x": NumericDomain(0, 9999), "y": CategoricalDomain(("a", "b"))}
    data = ';x;y\n1;1.234,5;a\n2;"1,5";NA\n3;7;b\n'.encode("utf-16")
    file = ColumnFile.of(PATH, data, Roles(separator=";", encoding="utf-16", decimal=",", na=["NA"]))
    assert file.columns == ("column_1", "x", "y")
    table = file.read(("x", "y"), domains)
    assert as_numbers(table["x"]).tolist() == [1234.5, 1.5, 7]
    codes, texts = coded(table["y"])
    assert [None if code < 0 else texts[code] for code in codes] == ["a", None, "b"]
    assert len(file.read((), domains)) == 3
    with pytest.raises(ValueError, match="'column_1' has no name in the file"):
        file.read(("column_1",), {"column_1": NumericDomain(0, 9)})
    plain = ColumnFile.of(PATH, b"x;y\n1,5;a\n2;b\n").read(("x",), domains)
    assert np.isnan(as_numbers(plain["x"])[0])


@pytest.mark.thorough
@given(
    values=st.lists(st.integers(-(10**11), 10**11), min_size=1, max_size=20),
    decimals=st.integers(0, 4),
    grouped=st.booleans(),
    mark=st.sampled_from([".", ","]),
    missing=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_numbers_in_a_declared_form_are_read_as_they_were_written(values, decimals, grouped, mark, missing):
    numbers_written = [value / 10**decimals for value in values]
    texts = [f"{number:,.{decimals}f}" if grouped else f"{number:.{decimals}f}" for number in numbers_written]
    if mark == ",":
        texts = [text.translate(str.maketrans(",.", ".,")) for text in texts]
    rows = [*texts, "NA"] if missing else texts
    column = read("x|y\n" + "".join(f"{text}|a\n" for text in rows), "|", decimal=mark).columns["x"]
    assert column.number_rows()[: len(values)].tolist() == numbers_written
    content = "x|y\n" + "".join(f"{text}|a\n" for text in rows)
    file = ColumnFile.of(PATH, content.encode(), Roles(separator="|", decimal=mark))
    assert as_numbers(file.read(("x",), {"x": NumericDomain(-1e12, 1e12)})["x"])[: len(values)].tolist() == (
        numbers_written
    )


@pytest.mark.parametrize("text", ["1E310", "-1e999"])
def test_numbers_beyond_the_largest_are_named(text):
    column = read(f"x|y\n{text}|a\n", "|").columns["x"]
    assert column.looks_numeric()
    with pytest.raises(ValueError, match=r"row 1: .* is beyond the largest number"):
        column.number_rows()


def test_digits_of_double_width_are_digits(tmp_path):
    table = read("x|y|z\n１２|−1|０１\n7|２．５|０２\n", "|")
    assert table.columns["x"].number_rows().tolist() == [12, 7]
    assert table.columns["y"].number_rows().tolist() == [-1, 2.5]
    assert table.columns["z"].text_values().tolist() == ["０１", "０２"]
    assert [*map(str, table.notes)] == ["x, y: digits or signs of double width"]
    file = ColumnFile.of(tmp_path / "t.csv", "x,y\n１２,a\n7,b\n".encode())
    assert as_numbers(file.read(["x"], {"x": NumericDomain(0, 99)})["x"]).tolist() == [12, 7]


@pytest.mark.thorough
@given(st.lists(st.text(alphabet="0123456789.,-+eE NA?x", min_size=1, max_size=12), min_size=1, max_size=8))
@settings(max_examples=80, deadline=None)
def test_recognition_never_fails_and_needs_no_order(texts):
    content = "x|y\n" + "".join(f'"{text}"|a\n' for text in texts)
    column = read(content, "|").columns["x"]
    backwards = read("x|y\n" + "".join(f'"{text}"|a\n' for text in reversed(texts)), "|").columns["x"]
    assert column.text_values().tolist() == backwards.text_values().tolist()[::-1]
    # Numbers such as 1E310 are recognized, and refused when they are read.
    if column.looks_numeric() and "e" not in "".join(texts).lower():
        assert len(column.numbers) == len(column.texts)


@pytest.mark.thorough
def test_decimal_commas_among_decimal_points_are_counted(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("kg;day;year\n" + "70,5;01.02.2020;2020\n" * 6 + "71.5;02.02.2020;2021\n" + "72;;2022\n")
    words = "note: kg: decimal commas (6 rows) and points (1 row) are mixed, so that these texts are categories; "
    for options in ((), ("--memory", "1GB"), ("--decimal", ",")):
        assert words in call("describe", path, *options).stderr
    path.write_text(path.read_text().replace("71.5", "71,5"))
    assert "mixed" not in call("describe", path).stderr
