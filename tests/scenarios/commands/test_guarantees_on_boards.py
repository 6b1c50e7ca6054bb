"""Boards and reports of a table of one's own say what guarantees cover."""

import json
import shutil
import sqlite3
from contextlib import chdir

import pytest
from finished_tools import few_attacks
from own_table_tools import ROLES, people
from run_tools import invoke

SCENARIO = """
[scenario]
name = "small"
game = { use = "CandidateFile", originals = 20, candidates = 40, decoys = ["random", "hard"] }
plays = 1
[[defense]]
use = "Mondrian"
k = [2, 5]
[[defense]]
use = "AdditiveNoise"
scale = 0.5
[[defense]]
use = "Shuffle"
[[attack]]
use = "NearestNeighbour"
"""
RUN = ("run", "small.toml", "--data", "people.csv", "--roles", "roles.toml", "--quiet", "-j", 1)
TITLE = "What the guarantees cover"
NOTE = "Quasi-identifiers: age, job. Unprotected: illness. Without a role, in no release: note."
REASON = "the noise is scaled by the spread of the records themselves"


@pytest.fixture(scope="module")
def played_folder(tmp_path_factory):
    """A table, its scenario, and a database with the results of all plays."""
    folder = tmp_path_factory.mktemp("guarantees")
    table = people(200)
    table.assign(note=[f"word {index % 7}" for index in range(200)]).to_csv(folder / "people.csv", index=False)
    (folder / "roles.toml").write_text(ROLES.replace("sensitive =", "unprotected ="))
    (folder / "small.toml").write_text(SCENARIO)
    with chdir(folder):
        call(*RUN)
    return folder


@pytest.fixture
def folder(played_folder, tmp_path, monkeypatch):
    """A copy, whose runs play nothing again."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(played_folder, tmp_path, dirs_exist_ok=True)
    return tmp_path


def call(*arguments):
    result = invoke(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def section(text):
    """The lines under the board, in one line."""
    assert text.count(TITLE) == 1
    return " ".join(text.partition(TITLE)[2].split())


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("form", ["table", "markdown"])
def test_text_boards_end_with_what_guarantees_cover(folder, form):
    played = call(*RUN, "--format", form)
    shown = section(played)
    assert "k-anonymity over age, job" in shown
    assert "Mondrian" in shown
    assert REASON in shown.replace("  ", " ") or form == "table"
    assert shown.index("k-anonymity") < shown.index("the noise is") < shown.index("the method gives no guarantee")
    assert shown.endswith(NOTE)
    # Shown later from the database, the board is the same.
    assert call("board", "--format", form) == played


@pytest.mark.thorough
def test_json_has_a_field_and_csv_and_latex_stay_as_they_are(folder):
    rows = json.loads(call(*RUN, "--format", "json"))
    assert rows == json.loads(call("board", "--format", "json"))
    stated = {row["defense"]: row["coverage"] for row in rows}
    assert stated["Mondrian"]["statement"].endswith("-anonymity over age, job")
    assert REASON in stated["AdditiveNoise"]["statement"]
    assert stated["Shuffle"]["statement"] == ""
    assert all((one["left_out"], one["unprotected"]) == (["note"], ["illness"]) for one in stated.values())
    for form in ("csv", "latex"):
        assert "anonymity" not in call("board", "--format", form)
    assert TITLE not in call("board", "--matrix")


@pytest.mark.thorough
def test_the_page_has_the_section_for_each_variant(folder):
    call(*RUN, "--html", "run.html")
    call("board", "--html", "later.html")
    page = (folder / "run.html").read_text()
    assert page == (folder / "later.html").read_text()
    assert page.count(f"<h3>{TITLE}</h3>") == 2
    assert page.count(NOTE) == 2


@pytest.mark.thorough
def test_a_database_without_statements_shows_the_board_as_before(folder):
    call(*RUN)
    with_section = call("board")
    database = sqlite3.connect("tokumei.db")
    before = database.execute("SELECT key FROM tokumei_results ORDER BY key").fetchall()
    database.execute("DELETE FROM tokumei_documents WHERE content LIKE '%\"statement\"%'")
    database.commit()
    without = call("board")
    assert TITLE not in without
    assert with_section.startswith(without.rstrip())
    assert "coverage" not in json.loads(call("board", "--format", "json"))[0]
    # The next run plays nothing, and adds the statements.
    call(*RUN)
    assert call("board") == with_section
    assert database.execute("SELECT key FROM tokumei_results ORDER BY key").fetchall() == before
    database.close()


@pytest.mark.thorough
def test_defenses_played_apart_stand_in_one_section(folder):
    for defense in ("Mondrian", "AdditiveNoise", "Shuffle"):
        call(*RUN, "-d", defense, "--db", "apart.db")
    call(*RUN)
    assert section(call("board", "--db", "apart.db")) == section(call("board"))


@pytest.mark.thorough
def test_other_roles_replace_what_is_said(folder):
    call(*RUN)
    (folder / "roles.toml").write_text(ROLES)
    call(*RUN)
    assert section(call("board")).endswith(NOTE.replace("Unprotected", "Sensitive"))


@pytest.mark.thorough
def test_a_ranking_says_what_built_in_defenses_guarantee(folder, monkeypatch):
    few_attacks(monkeypatch)
    (folder / "copy.csv").write_text((folder / "people.csv").read_text())
    arguments = ("rank", "people.csv", "copy.csv", "--roles", "roles.toml", "--targets", 20, "--quiet", "-j", 1)
    tables = {table["title"]: table for table in json.loads(call(*arguments, "--baseline", "--format", "json"))}
    rows = {row[2]: row[1] for row in tables[TITLE]["rows"]}
    assert rows["Mondrian"] == "5-anonymity over age, job"
    assert rows["Constant, Identity"] == "the method gives no guarantee"
    assert tables[TITLE]["note"] == NOTE
    assert TITLE not in call(*arguments)
