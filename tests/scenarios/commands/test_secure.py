"""``tokumei secure``: two parties' columns on the command line."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from scenarios.commands.cli import cli


def call(*arguments):
    return CliRunner().invoke(cli, ["secure", *map(str, arguments)])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"patient": [1, 2, 3, 4], "ill": ["yes", "no", "yes", "yes"], "hours": [5, 9, 2, 30]}).to_csv(
        "north.csv", index=False
    )
    pd.DataFrame({"patient": [4, 3, 2, 1], "ill": [1, 0, 1, 1], "failed": [6.5, 1, 2, 1]}).to_csv(
        "south.csv", index=False
    )
    pd.DataFrame({"patient": [1, 2, 3, 9], "ill": ["yes", "", "no", "maybe"]}).to_csv("east.csv", index=False)
    (tmp_path / "large.csv").write_text("person,bid\na,9007199254740993\nb,9007199254740992\n")
    return tmp_path


def test_large_integers_are_not_rounded(folder):
    """2^53 + 1 has no floating-point number."""
    result = json.loads(call("maximum", "large.csv:bid", "--bits", 63, "--format", "json").output)
    assert result["value"] == 9007199254740993


@pytest.mark.thorough
def test_the_answers(folder):
    assert "left is greater        yes" in call("greater", 1200000, 950000, "--seed", 1).output
    assert json.loads(call("greater", 3, 3, "--format", "json").output)["value"] == "no"
    result = json.loads(call("maximum", "north.csv:hours", "--format", "json").output)
    assert (result["value"], result["and_gates"]) == (30, 2 * 32 * 3)
    assert sum(result["messages"].values()) == result["bytes"]
    near = json.loads(call("distance", "-7,0,0", "-4,4,0", "--limit", 5, "--format", "json").output)
    assert (near["value"], near["and_gates"]) == ("yes", 2 * 61)
    assert sum(near["messages"].values()) == near["bytes"]
    assert "within the limit             no" in call("distance", "-7,0,0", "-4,4,1", "--limit", 5).output
    by_key = json.loads(call("count", "north.csv:ill", "south.csv:ill", "--on", "patient", "--format", "json").output)
    in_order = json.loads(call("count", "north.csv:ill", "south.csv:ill", "--format", "json").output)
    assert (by_key["value"], in_order["value"]) == (2, 3)
    ours = json.loads(
        call("correlation", "north.csv:hours", "south.csv:failed", "--on", "patient", "--format", "json").output
    )
    assert ours["value"] == pytest.approx(np.corrcoef([5, 9, 2, 30], [1, 2, 1, 6.5])[0, 1], abs=1e-5)


@pytest.mark.thorough_beyond(7)
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("greater", "--", "-1", 3), "left must be an integer from 0 to 2^32 - 1"),
        (("greater", "-1", 3), "left must be an integer from 0 to 2^32 - 1"),
        (("greater", 3, 16, "--bits", 4), "right must be an integer from 0 to 2^4 - 1"),
        (("distance", "1,2", "1,2,3", "--limit", 1), "of one length, got 2 and 3 coordinates"),
        (("distance", "1,2", "1,x", "--limit", 1), "right must be integers with commas between them"),
        (("distance", "", "1", "--limit", 1), "left must be integers with commas between them"),
        (("distance", "1e3", "1", "--limit", 1), "left must be integers with commas between them"),
        (("distance", "9" * 40, "1", "--limit", 1), "left must hold at least one coordinate, each an integer from -"),
        (
            ("distance", "1", "-1000000000", "--limit", 1),
            "right must hold at least one coordinate, each an integer from -",
        ),
        (("distance", "1", "2", "--limit", 1, "--nodes", 3), "nodes must be an integer of at least 4"),
        (("maximum", "north.csv"), "give a column as FILE:COLUMN"),
        (("maximum", "north.csv:wage"), "there is no column 'wage'; it has patient, ill, hours"),
        (("maximum", "north.csv:ill"), "the column holds text"),
        (("maximum", "nowhere.csv:ill"), "nowhere.csv"),
        (
            ("maximum", "south.csv:failed"),
            "south.csv:failed, row 1: the column must hold integers from 0 to 2^32 - 1",
        ),
        (("maximum", "north.csv:hours", "--bits", 4), "north.csv:hours, row 4: the column must hold integers"),
        (("maximum", "large.csv:bid", "--bits", 53), "large.csv:bid, row 1: the column must hold integers"),
        (("count", "north.csv:ill", "east.csv:ill"), "east.csv, row 2, column ill: the value is missing"),
        (("count", "north.csv:hours", "south.csv:ill"), "north.csv:hours, row 1: the column must hold yes or no"),
        (("correlation", "north.csv:hours", "east.csv:patient", "--on", "patient"), "the same people"),
        (
            ("correlation", "north.csv:hours", "south.csv:failed", "--nodes", 3),
            "nodes must be an integer of at least 4",
        ),
    ],
)
def test_bad_input_is_one_line(folder, arguments, says):
    result = call(*arguments)
    assert result.exit_code == 2
    assert says in result.output
    assert len(result.output.strip().splitlines()) == 1


@pytest.mark.parametrize("number", ["-777", "77.7", "7.77e99", "seven77", str(777 * 10**9)])
def test_errors_do_not_show_a_number(number):
    for arguments in ((number, 3), (3, number)):
        result = call("greater", *arguments)
        assert result.exit_code == 2
        assert (
            result.output
            == f"Error: {'left' if arguments[0] == number else 'right'} must be an integer from 0 to " + ("2^32 - 1\n")
        )
        assert number not in result.output


def test_an_unknown_option_is_refused():
    result = call("greater", 3, 4, "--bitz", 4)
    assert result.exit_code == 2
