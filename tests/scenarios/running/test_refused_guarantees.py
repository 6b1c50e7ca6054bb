"""A defense whose guarantee cannot be known is refused before the first trial, by name, file and line."""

import pytest
from run_tools import tokumei_here

MINE = """
from defenses import Identity


class Counts(Identity):
    def guarantee(self, records):
        return {"k": 5}


class Fails(Identity):
    def guarantee(self, records):
        return records.frame["aeg"]


class Checks(Identity):
    def check(self, records):
        raise ValueError("too few rows")
"""
FILES = {"mine.py": MINE}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Counts", "mine:Counts.guarantee must return a Guarantee, got dict: return a defenses.Guarantee"),
        ("Counts", "(mine.py, line 6)"),
        ("Fails", "mine:Fails: KeyError: 'aeg' (mine.py, line 12)"),
        ("Checks", "mine:Checks: too few rows (mine.py, line 17)"),
    ],
)
def test_a_guarantee_that_fails_names_class_file_and_line(folder, name, words):
    played = tokumei_here("run", "bank", "-d", "Identity", "-d", f"mine:{name}", "--plays", 1, cwd=folder)
    assert played.exit_code == 2
    assert words in played.stderr
