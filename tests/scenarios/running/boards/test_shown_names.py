"""A class of one's own is shown by its class name, and stored by its full name."""

from dataclasses import replace

import pytest
from comparison_tools import played
from run_tools import invoke

from leaderboard import Store
from scenarios.running.boards.board_result import BoardResult

OWN = {"Alpha": "mine:Alpha", "Greedy": "rarity:RarityLinkage"}


def own_results(names=OWN):
    return [
        replace(one, defense=names.get(one.defense, one.defense), attack=names.get(one.attack, one.attack))
        for one in played(0, plays=3)
    ]


@pytest.fixture
def db(tmp_path):
    with Store(tmp_path / "own.db") as store:
        store.add(own_results())
    return tmp_path / "own.db"


@pytest.mark.thorough_beyond(3)
@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
@pytest.mark.parametrize("what", ["--matrix", "--summary", "--full"])
def test_tables_show_the_class_name(db, form, what):
    done = invoke("board", "--db", db, what, "--format", form)
    assert done.exit_code == 0, done.output
    assert "Alpha" in done.stdout
    assert "Rarity" in done.stdout
    assert "mine:" not in done.stdout
    assert "rarity:" not in done.stdout


@pytest.mark.parametrize("form", ["csv", "json"])
def test_files_for_programs_keep_the_stored_name(db, form):
    done = invoke("board", "--db", db, "--matrix", "--format", form)
    assert "mine:Alpha" in done.stdout
    assert "rarity:RarityLinkage" in done.stdout


def test_pages_and_boards_in_python_show_the_class_name():
    board = BoardResult(own_results())
    for text in (board.to_html(), board.to_latex(), board.to_markdown(), repr(board), board._repr_html_()):
        assert "Alpha" in text
        assert "mine:Alpha" not in text
    assert board.to_frame()["defense"].tolist().count("mine:Alpha") == 1


@pytest.mark.parametrize(
    "names",
    [{"Alpha": "mine:Own", "Beta": "other:Own"}, {"Alpha": "mine:Mondrian"}, {"Alpha": "mine:Beta"}],
)
def test_a_class_name_that_could_be_another_method_is_shown_in_full(names):
    text = BoardResult(own_results(names)).to_markdown()
    assert all(name in text for name in names.values())


def test_methods_among_parameters_are_shown_by_class_name_too():
    steps = {"steps": [{"use": "mine:Rounded", "unit": 10}, {"use": "Shuffle"}]}
    text = BoardResult([replace(one, parameters=steps) for one in own_results()]).to_markdown()
    assert "Beta (Rounded unit=10) + Shuffle" in text
