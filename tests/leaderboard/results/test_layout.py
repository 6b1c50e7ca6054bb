"""Databases of other versions: migrated, or refused in words and left as they were."""

import re
import sqlite3
from pathlib import Path

import pytest
from comparison_tools import played
from run_tools import invoke

from leaderboard import Store, rank, recorded_runs
from leaderboard.results.store import LAYOUT

STORED = Path(__file__).parents[1] / "databases"


def filled(path, name, *statements):
    """A database of an earlier version, with changes."""
    connection = sqlite3.connect(path)
    connection.executescript((STORED / f"{name}.sql").read_text(encoding="utf-8"))
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return path


def rows(path, table):
    connection = sqlite3.connect(path)
    try:
        return connection.execute(f"SELECT * FROM {table}").fetchall()
    finally:
        connection.close()


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    "statements", [(), ("ALTER TABLE tokumei_results DROP COLUMN parts",)], ids=["as it is", "older"]
)
def test_results_of_version_0_1_are_read_and_added_to(tmp_path, statements):
    path = filled(tmp_path / "old.db", "version_0_1", *statements)
    with Store(path) as store:
        board = rank(store.results())
        assert {row.defense: row.success for row in board}["Identity"] == 1.0
        assert [run.about["version"] for run in recorded_runs(store)] == ["0.1.0"]
        before = len(store.results())
        store.add(played(0, plays=1))
        assert len(store.results()) == before + 12
    done = invoke("board", "--db", path)
    assert done.exit_code == 0
    assert "Identity" in done.stdout


def test_reading_a_database_of_version_0_1_writes_nothing(tmp_path):
    path = filled(tmp_path / "old.db", "version_0_1")
    with Store(path):
        pass
    before = path.read_bytes()
    assert invoke("board", "--db", path).exit_code == 0
    assert path.read_bytes() == before


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("command", [("board",), ("run", "bank", "--plays", 1), ("doctor", "--quick")])
def test_results_without_scores_are_refused_in_words(tmp_path, command):
    path = filled(tmp_path / "old.db", "without_scores")
    before = path.read_bytes()
    done = invoke(*command, "--db", path)
    text = done.stdout + done.stderr
    assert done.exit_code == (1 if command[0] == "doctor" else 2)
    assert "holds results of another version (a development version before 0.1 wrote it, without scores)" in text
    assert "name another file to play again" in text
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("number", "age", "advice"),
    [(7, "a newer", "upgrade tokumei, or name"), (0, "an older", "read it with that version, or name")],
)
def test_a_layout_of_another_age_is_refused_with_what_helps(tmp_path, number, age, advice):
    path = tmp_path / "other.db"
    with Store(path) as store:
        store.add(played(0, plays=1))
    assert [layout for layout, _ in rows(path, "tokumei_layout")] == [LAYOUT]
    connection = sqlite3.connect(path)
    connection.execute(f"UPDATE tokumei_layout SET number = {number}, version = '9.1'")
    connection.commit()
    connection.close()
    message = (
        f"holds results of {age} version (tokumei 9.1 wrote layout {number}, this version reads layout 1); "
        f"{advice} another file to play again"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        Store(path)


def test_an_unknown_column_is_named(tmp_path):
    path = filled(tmp_path / "odd.db", "version_0_1", "ALTER TABLE tokumei_results ADD COLUMN colour TEXT")
    with pytest.raises(ValueError, match="it has an unknown column 'colour'"):
        Store(path)


def test_a_new_database_says_which_version_made_it(tmp_path):
    from leaderboard.results.version import version

    with Store(tmp_path / "a.db"):
        pass
    assert rows(tmp_path / "a.db", "tokumei_layout") == [(LAYOUT, version())]
