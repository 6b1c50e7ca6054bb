"""A defense whose guarantee or parameters cannot be known is refused before the first trial, by name and line."""

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
STORED = """
from defenses import Identity


class OtherName(Identity):
    def __init__(self, *, base=3):
        self._base = base


class Divides(Identity):
    def __init__(self, *, base=0):
        self.base = 1 / base
"""
FILES = {"mine.py": MINE, "stored.py": STORED}


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mine:Counts", "mine:Counts.guarantee must return a Guarantee, got dict: return a defenses.Guarantee"),
        ("mine:Counts", "(mine.py, line 6)"),
        ("mine:Fails", "mine:Fails: KeyError: 'aeg' (mine.py, line 12)"),
        ("mine:Checks", "mine:Checks: too few rows (mine.py, line 17)"),
        ("stored:OtherName", "OtherName: store parameter base as self.base (stored.py, line 6)"),
        ("stored:Divides", "stored:Divides: the constructor must raise ValueError, got ZeroDivisionError: division by"),
        ("stored:Divides", "(stored.py, line 11)"),
    ],
)
def test_a_fault_before_the_first_trial_names_class_file_and_line(folder, name, words):
    played = tokumei_here("run", "bank", "-d", "Identity", "-d", name, "--plays", 1, cwd=folder)
    assert played.exit_code == 2
    assert words in played.stderr


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    "declared", ['kind, goal = "microdata", "re-identification"', 'kind, goal = "table", "membership"']
)
def test_a_kind_or_goal_that_no_game_knows_is_refused(folder, declared):
    """Every trial of it would be skipped, and the board would look complete."""
    (folder / "theirs.py").write_text(
        f"from attacks import NearestNeighbour\n\n\nclass Misspelt(NearestNeighbour):\n    {declared}\n"
    )
    played = tokumei_here("run", "bank", "-d", "Identity", "-a", "theirs:Misspelt", "--plays", 1, cwd=folder)
    assert played.exit_code == 2
    assert "Misspelt: there is no " in played.stderr
    assert "(theirs.py, line 4)" in played.stderr
