"""Finished releases are read whatever tool wrote them, and refused where they cannot be."""

import pandas as pd
import pytest
from finished_tools import finished, released_by, setting_of, write_people

from defenses import Identity, Mondrian
from scenarios.tables.released import as_csv


@pytest.fixture
def setting(tmp_path):
    write_people(tmp_path)
    return setting_of(tmp_path)


def read(setting, data, name="released.csv"):
    return setting.read(name, data)


def test_columns_may_have_any_order_and_another_separator(setting, tmp_path):
    frame = released_by(setting, Mondrian(k=5))
    table = read(setting, as_csv(frame[frame.columns[::-1]], ";").encode())
    pd.testing.assert_frame_equal(table.frame, finished(setting, frame).frame)
    assert table.lacking == ()


def test_lacking_columns_are_suppressed_and_others_left_out(setting, tmp_path):
    frame = released_by(setting, Mondrian(k=5))[["illness", "age"]].assign(weight=1)
    table = finished(setting, frame)
    assert list(table.frame.columns) == ["age", "illness"]
    assert set(table.lacking) == {"income", "city", "grade"}
    assert (table.suppressed["city"] == "*").all()
    assert any("weight" in str(note) for note in table.notes)


def test_what_is_recognized_is_said(setting, tmp_path):
    frame = released_by(setting, Mondrian(k=5)).iloc[:50].assign(grade="*")
    notes = " ".join(map(str, finished(setting, frame).notes))
    assert "intervals or sets in age" in notes
    assert "suppressed cells (*) in grade" in notes
    assert "the release has 50 rows, and the original table has 120" in notes


def test_an_inferred_domain_takes_new_categories_and_a_declared_one_does_not(setting, tmp_path):
    frame = released_by(setting, Identity())[["city", "illness"]].assign(illness="plague")
    declared = finished(setting, frame)
    assert set(declared.frame["illness"]) == {"*"}
    assert any("illness: " in note and "read as suppressed" in note for note in map(str, declared.notes))
    (tmp_path / "roles.toml").write_text('identifiers = ["name"]\nsensitive = ["illness"]')
    table = finished(setting_of(tmp_path), frame)
    assert "plague" in table.domains["illness"].categories
    assert any("1 released categor" in str(note) for note in table.notes)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "is empty"),
        ("age,city\n", "holds no record"),
        ("Age,weight\n1,2\n", "has no column of the original table, which has age"),
        ("age,age\n1,2\n", "age"),
        ("name,age\nAnn,30\n", "column 'name' is an identifier and was released"),
    ],
)
def test_bad_files_are_refused_in_one_line(setting, tmp_path, text, match):
    with pytest.raises(ValueError, match=match) as caught:
        read(setting, text.encode(), "mine.csv")
    assert str(caught.value).startswith("mine.csv")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("cell", ["old", '"[40,30]"', "inf"])
def test_an_unknown_cell_refuses_no_file(setting, cell):
    table = read(setting, f"age,city\n{cell},*\n".encode())
    assert table.frame["age"].tolist() == ["*"]
    assert any("age: 1 released cell of 1 holds no number" in str(note) for note in table.notes)


def test_text_that_is_not_utf8_is_refused(setting, tmp_path):
    with pytest.raises(ValueError, match=r"mine\.csv"):
        read(setting, b"age,city\n30,\xff\xfe\n", "mine.csv")
