"""Files of hierarchies are read as tables are."""

from pathlib import Path

import pandas as pd
import pytest
from run_tools import invoke

from scenarios.tables.dataset import load_table
from scenarios.tables.released import read_released

ROWS = [["cook", "food", "*"], ["nurse", "care", "*"], ["baker", "food", "*"]]
CATEGORIES = 'categories = ["cook", "nurse", "baker"]\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"age": [1, 5, 7, 1], "job": ["cook", "nurse", "baker", "cook"]}).to_csv("t.csv", index=False)
    return tmp_path


def levels(content, *, categories="", roles=""):
    """Released cells of the column `job` on level 1 of a hierarchy's file, and the notes."""
    with open("jobs.csv", "wb") as file:
        file.write(content)
    with open("roles.toml", "w") as file:
        file.write(
            f'{roles}quasi_identifiers = ["age", "job"]\n[columns.job]\ntype = "category"\n{categories}'
            'hierarchy = { csv = "jobs.csv" }\n'
        )
    done = invoke(
        "defend", "GlobalRecoding", "-p", "levels={job=1}", "t.csv", "--roles", "roles.toml", "-o", "r.csv", "--force"
    )
    assert done.exit_code == 0, done.output
    frame = read_released(Path("r.csv"), Path("roles.toml")).frame
    return sorted(set(frame["job"])), done.output


def text(rows=ROWS, separator=","):
    return "".join(separator.join(row) + "\n" for row in rows)


@pytest.mark.thorough_beyond(4)
@pytest.mark.parametrize("categories", ["", CATEGORIES], ids=["open", "declared"])
@pytest.mark.parametrize(
    ("content", "roles"),
    [
        (b"\xef\xbb\xbf" + text().encode(), ""),
        (text().encode("utf-16"), 'encoding = "utf-16"\n'),
        (text(separator=";").encode(), ""),
        (text(separator=";").encode(), 'separator = ","\n'),
        (text().encode(), 'separator = ","\n'),
        (text([[f" {field} " for field in row] for row in ROWS]).encode(), ""),
        (text(separator="\t").encode(), ""),
    ],
    ids=["mark", "encoding", "semicolon", "other separator", "comma", "blanks", "tab"],
)
def test_marks_encodings_separators_and_blanks(folder, content, roles, categories):
    cells, notes = levels(content, categories=categories, roles=roles)
    assert {frozenset(cell.strip("{}").split("|")) for cell in cells} == {
        frozenset(["cook", "baker"]),
        frozenset(["nurse"]),
    }
    assert "header" not in notes


@pytest.mark.thorough_beyond(4)
@pytest.mark.parametrize("categories", ["", CATEGORIES], ids=["open", "declared"])
@pytest.mark.parametrize("header", [["job", "g1", "g2"], ["Job", "group", "all"], ["value", "level 1", "level 2"]])
def test_a_header_is_left_out_and_noted(folder, header, categories):
    cells, notes = levels(text([header, *ROWS]).encode(), categories=categories)
    assert len(cells) == 2
    assert "job: the first line of jobs.csv is a header, which is left out" in notes


def test_a_first_value_with_groups_of_its_own_is_no_header(folder):
    rows = [["nurse", "care", "people"], ["cook", "food", "things"], ["baker", "food", "things"]]
    cells, notes = levels(text(rows).encode(), categories=CATEGORIES)
    assert (len(cells), "header" in notes) == (2, False)


def test_ragged_codes_with_zeros_stay_codes(folder):
    codes = ["02101", "02105", "10110", "1011"]
    pd.DataFrame({"age": [1, 5, 7, 1], "job": codes}).to_csv("t.csv", index=False)
    cells, _ = levels(text([[code, code[:3], "*"] for code in codes]).encode())
    assert cells == ["{02101|02105}", "{10110|1011}"] or cells == ["{02101|02105}", "{1011|10110}"]
    dataset = load_table("t.csv", "roles.toml")
    assert set(dataset.records.frame["job"]) == set(codes)
