"""Codes in a column of numbers are proposed as missing values, with their counts."""

import tomllib

import pandas as pd
import pytest
from run_tools import invoke

from scenarios.tables.reading.number_forms import codes_among_numbers
from scenarios.tables.reading.text_column import TextColumn

NUMBERS = [str(number) for number in range(100, 140)]


def codes(texts):
    return codes_among_numbers(TextColumn.of_values("x", texts))


@pytest.mark.parametrize("code", ["N", "_RARE_", "k.A.", "suppressed", "秘匿"])
def test_codes_are_counted(code):
    assert codes([*NUMBERS, code, code]) == {code: 2}
    assert codes([*NUMBERS, f" {code}"]) == {code: 1}


@pytest.mark.parametrize(
    "texts",
    [
        NUMBERS,
        ["cook", "nurse"],
        [*NUMBERS[:5], "N"],
        [*NUMBERS, "60-79"],
        [*NUMBERS, "<5"],
        [*(f"0{number}" for number in NUMBERS), "N"],
        [*NUMBERS, *["cook"] * 60],
        [*NUMBERS, *map(chr, range(97, 117))],
        [None, None],
    ],
)
def test_other_columns_have_none(texts):
    assert codes(texts) == {}


@pytest.mark.thorough
def test_describe_proposes_them_unless_another_column_holds_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Sizes repeat: integers that all differ would be taken for an identifier, which has no type.
    sizes = [str(100 + number // 2) for number in range(40)]
    table = pd.DataFrame({"size": [*sizes, "N", "N", "_RARE_"], "sex": ["f", "m", "f"] * 14 + ["m"]})
    table.to_csv("a.csv", index=False)
    said = invoke("describe", "a.csv", "-o", "a.toml").stderr
    assert "size: numbers apart from N (2 rows), _RARE_ (1 row); proposed as missing values" in said
    roles = tomllib.loads((tmp_path / "a.toml").read_text())
    assert roles["na"] == ["N", "_RARE_"]
    assert roles["columns"]["size"]["type"] == "number"
    invoke("validate", "a.csv", "--roles", "a.toml")
    table.assign(sex=["N", "m", "f"] * 14 + ["m"]).to_csv("b.csv", index=False)
    said = invoke("describe", "b.csv", "-o", "b.toml").stderr
    assert "size: numbers apart from N (2 rows), _RARE_ (1 row), which other columns hold too" in said
    assert "N" not in tomllib.loads((tmp_path / "b.toml").read_text()).get("na", [])
