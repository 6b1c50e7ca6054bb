"""Refusals name file, column and row, and never repeat a value of a record: messages may be logged."""

import re

import pandas as pd
import pytest
from finished_tools import few_attacks
from run_tools import invoke

SECRET = "zqxsecret"
NUMBER = "98761234"
ROLES = """
quasi_identifiers = ["age", "job", "seen", "code"]
sensitive = ["ill"]
[columns.age]
type = "number"
integer = true
low = 0
high = 99
cuts = [50]
[columns.job]
type = "category"
categories = ["cook", "nurse", "clerk"]
hierarchy = { rows = [["cook", "*"], ["nurse", "*"], ["clerk", "*"]] }
[columns.seen]
type = "date"
[columns.code]
type = "category"
hierarchy = { rows = [["a", "*"], ["b", "*"]] }
[columns.ill]
type = "category"
categories = ["flu", "cold", "none"]
ordered = true
"""
ROWS = 60
COMMANDS = {
    "defend": ("defend", "Mondrian", "-p", "k=2", "{bad}"),
    "defend in parts": ("defend", "Mondrian", "-p", "k=2", "{bad}", "--memory", "600MiB"),
    "defend in blocks": ("defend", "Microaggregation", "-p", "k=2", "{bad}", "--memory", "600MiB", "--blocks", "100"),
    "validate": ("validate", "{bad}"),
    "describe": ("describe", "{bad}"),
    "ask": ("ask", "{bad}", "count", "--epsilon", "1", "--account", "a.toml", "--budget", "2"),
    "risk": ("risk", "{bad}"),
    "risk in parts": ("risk", "{bad}", "--memory", "600MiB"),
    "utility of originals": ("utility", "{bad}", "good.csv"),
    "utility of a release": ("utility", "good.csv", "{bad}"),
    "report on originals": ("report", "{bad}", "good.csv", "-o", "report.html"),
    "report on a release": ("report", "good.csv", "{bad}", "-o", "report.html", "--targets", "20"),
    "report with control people": ("report", "good.csv", "good.csv", "--control", "{bad}", "-o", "report.html"),
    "rank": ("rank", "good.csv", "{bad}"),
    "attack on a release": ("attack", "AssignmentLinkage", "-r", "{bad}", "-c", "good.csv"),
    "attack with candidates": ("attack", "AssignmentLinkage", "-r", "good.csv", "-c", "{bad}"),
    "choose": ("choose", "{bad}"),
    "run": ("run", "--data", "{bad}"),
    "split": ("split", "{bad}", "--share", "0.5", "-o", "kept.csv", "--control", "others.csv"),
}
READERS = (
    "defend", "defend in parts", "validate", "ask", "utility of originals", "utility of a release", "run",
    "report on originals", "report with control people",
)  # fmt: skip
"""One command of each way to read a table; what they print of one wrong value, the others print too."""
WRONG = {
    "text for a number": {"age": SECRET},
    "a number outside": {"age": NUMBER},
    "a fraction": {"age": "31.98761234"},
    "an infinity": {"age": "1e98761234"},
    "an unknown category": {"job": SECRET},
    "no date": {"seen": SECRET},
    "an impossible date": {"seen": "9876-12-34"},
    "beyond its hierarchy": {"code": SECRET},
    "an unknown sensitive value": {"ill": SECRET},
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    # What commands print of a value does not depend on how many attacks they play.
    few_attacks(monkeypatch)
    monkeypatch.chdir(tmp_path)
    good = pd.DataFrame(
        {
            "age": [str(20 + row % 50) for row in range(ROWS)],
            "job": [("cook", "nurse", "clerk")[row % 3] for row in range(ROWS)],
            "seen": [f"2024-01-{1 + row % 28:02}" for row in range(ROWS)],
            "code": ["ab"[row % 2] for row in range(ROWS)],
            "ill": [("flu", "cold", "none")[row // 2 % 3] for row in range(ROWS)],
        }
    )
    good.to_csv("good.csv", index=False)
    (tmp_path / "roles.toml").write_text(ROLES)
    return good


def pairs():
    """All commands with the first wrong value, and one of each way to read with the others."""
    for number, wrong in enumerate(WRONG):
        yield pytest.param(wrong, READERS if number else COMMANDS, id=wrong)
        if number:
            others = [command for command in COMMANDS if command not in READERS]
            yield pytest.param(wrong, others, id=f"{wrong}, other commands", marks=pytest.mark.long)


@pytest.mark.thorough_beyond(1)
@pytest.mark.long_for("a fraction", "an infinity", "an unknown sensitive value", "an impossible date")
@pytest.mark.parametrize(("wrong", "commands"), list(pairs()))
def test_no_command_prints_a_value_that_it_refuses(folder, wrong, commands):
    bad = folder.copy()
    for name, value in WRONG[wrong].items():
        bad.loc[41, name] = value
    bad.to_csv("bad.csv", index=False)
    ((name, value),) = WRONG[wrong].items()
    refused = 0
    for command in commands:
        result = invoke(*(one.format(bad="bad.csv") for one in COMMANDS[command]), "--roles", "roles.toml")
        printed = result.stderr if result.exit_code == 0 else result.output
        assert not re.search(rf"{SECRET}|{NUMBER}|{re.escape(value)}", printed), (command, printed)
        if result.exit_code == 2 and "bad.csv" in printed:
            assert name in printed, (command, printed)
            assert "row 42" in printed, (command, printed)
            refused += 1
    # A release may hold what its roles do not say, and an inferred roles file is only drafted.
    assert refused >= 6
