"""Boards from Python: played, read back, shown in notebooks, and the same as those of the command line."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from multiprocessing.spawn import get_preparation_data

import pandas as pd
import pytest
from bank_tools import few_customers
from comparison_tools import played
from run_tools import environment, invoke

import tokumei
from attacks import NearestNeighbour
from defenses import AdditiveNoise, Defense, Identity, Mondrian, Pipeline, Rounding
from leaderboard import Store
from scenarios import BoardResult, read_board, read_plan, run
from scenarios.running.boards.play_board import _main_is_not_imported, _method

ONE = {"attacks": ["NearestNeighbour"], "plays": 1, "jobs": 1}


@pytest.mark.thorough
def test_python_and_the_command_line_play_the_same(tmp_path, monkeypatch):
    few_customers(monkeypatch)
    command = ("-d", "Identity", "-a", "NearestNeighbour", "--plays", 1, "-j", 1, "--format", "json")
    text = invoke("run", "bank", *command, "--db", tmp_path / "a.db").stdout
    board = run("bank", defenses=["Identity"], db=tmp_path / "b.db", **ONE)
    (tmp_path / "board.json").write_text("")
    rows = json.loads(board.save(tmp_path / "board.json").read_text())
    timeless = [{name: value for name, value in row.items() if name != "seconds"} for row in json.loads(text)]
    assert [{name: value for name, value in row.items() if name != "seconds"} for row in rows] == timeless
    # A second run takes everything from the database, and so does reading it.
    again = run("bank", defenses=[Identity()], db=tmp_path / "b.db", **ONE)
    assert [result.created for result in again.results] == [result.created for result in board.results]
    assert read_board(tmp_path / "b.db", "bank").to_frame().equals(board.to_frame())


@pytest.mark.thorough
def test_objects_are_played_with_their_parameters(monkeypatch):
    few_customers(monkeypatch)
    board = run(defenses=[Mondrian(k=7)], attacks=[NearestNeighbour()], plays=1, jobs=1)
    assert set(board.to_frame()["label"]) == {"Mondrian k=7"}
    assert board.failures == []


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("given", [Mondrian(k=5), Mondrian(), "Mondrian k=5 strict=true"])
def test_a_setting_of_the_scenario_is_named_as_it_names_it(given):
    (entry,) = read_plan("bank").filtered([_method(given, Defense)], []).defenses
    assert (entry.name, entry.parameters, entry.method.k) == ("Mondrian", {"k": 5}, 5)


@pytest.mark.thorough
def test_a_frame_with_roles_is_a_table_of_ones_own():
    ages = [20 + number % 50 for number in range(240)]
    jobs = ["clerk", "cook", "nurse"] * 80
    frame = pd.DataFrame({"age": ages, "job": jobs, "ill": ["yes", "no"] * 120})
    roles = {"quasi_identifiers": ["age", "job"], "sensitive": ["ill"]}
    board = run(data=frame, roles=roles, defenses=["Constant"], **ONE)
    assert {row.scenario for row in board.rows} == {"table on table"}
    assert set(board.to_frame()["utility"]) == {0.0}


def test_parameters_that_are_methods_are_named():
    name = _method(Pipeline(steps=[Rounding(base=5), AdditiveNoise(scale=0.5)]), Defense)
    assert name.name == "Pipeline"
    assert [step["use"] for step in name.parameters["steps"]] == ["Rounding", "AdditiveNoise"]


@pytest.fixture(scope="module")
def board():
    return BoardResult(played(0, weakened=0.2))


def test_frames_hold_every_row_and_every_pair(board):
    frame = board.to_frame()
    assert list(frame["defense"]) == [row.defense for row in board.rows]
    assert frame["score"].dtype == float
    matrix = board.matrix()
    assert len(matrix) == 4 * 2 * 2
    alpha = matrix.query("defense == 'Alpha' and goal == 'reidentification'")["success"]
    assert alpha.between(0.65, 0.75).all()


def test_a_notebook_shows_tables_and_the_picture(board):
    html = board._repr_html_()
    assert html.count("<tr>") == 5
    assert "<h4>bank, decoys=hard</h4>" in html
    assert "20 complete plays" in html
    picture = board.plot("bank, decoys=hard", scale="linear")
    assert picture._repr_svg_() == picture.svg
    assert picture.name.endswith("linear")
    # The chart has two scales, and the matrix a heat map for each of two goals.
    assert [one.name.partition("-")[0] for one in board.pictures()] == ["utility"] * 2 + ["matrix"] * 2
    assert "Alpha" in repr(board)


def test_names_are_escaped_in_a_notebook():
    results = played(0, plays=2, defenses=("<script>",))
    assert "<script>" not in BoardResult(results)._repr_html_()


@pytest.mark.parametrize("suffix", [".html", ".tex", ".md", ".csv", ".json"])
def test_a_board_is_saved_by_its_suffix(board, tmp_path, suffix):
    text = board.save(tmp_path / f"board{suffix}").read_text(encoding="utf-8")
    assert "Alpha" in text
    with pytest.raises(ValueError, match=r"got 'board.xlsx'"):
        board.save(tmp_path / "board.xlsx")


@pytest.mark.thorough
def test_bounds_are_those_of_the_gate(board):
    failed = {check.defense for check in board.gate(max_advantage={"rows": 0.6}) if not check.passed}
    assert failed == {"Alpha"}
    assert all(check.passed for check in board.gate(max_advantage=0.9, min_utility=0.1, max_success=0.9))


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"rowz": 0.1}, "max_advantage: there is no goal 'rowz'; did you mean 'rows'?"),
        ({"rows": 0.1, "reidentification": 0.9}, "max_advantage bounds reidentification twice"),
        ({"rows": 1.5}, "must lie between 0 and 1"),
    ],
)
def test_a_wrong_bound_is_refused(board, bounds, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        board.gate(max_advantage=bounds)


def test_a_goal_that_nobody_measured_fails_the_gate(board):
    checks = board.gate(max_advantage={"values": 0.9, "members": 0.9})
    failed = [check for check in checks if not check.passed]
    assert {check.defense for check in failed} == {check.defense for check in checks}
    assert {check.finding for check in failed} == {"no attack on values was measured by enough trials"}
    assert {check.bound for check in failed} == {"advantage on values at most .9"}


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("status", ["error", "timeout", "oom"])
def test_failed_trials_fail_the_gate(board, status):
    first = next(result for result in board.results if result.attack and result.defense == "Alpha")
    failed = replace(first, status=status, scores={})
    results = [failed if result is first else result for result in board.results]
    for bounds in ({}, {"min_utility": 0.1}, {"max_advantage": 0.9}):
        assert all(check.passed for check in board.gate(**bounds))
        [check] = [check for check in BoardResult(results).gate(**bounds) if not check.passed]
        assert check.reason == "bank, decoys=hard: Alpha: 1 release or trial failed"


def test_the_warning_of_failures_names_the_line_that_plays(monkeypatch):
    from scenarios.running import runner

    results = [replace(result, status="error", scores={}) for result in played(0, plays=1, defenses=("Alpha",))]
    monkeypatch.setattr(runner, "changed_plans", lambda *_: [])
    monkeypatch.setattr(runner, "play_catalogues", lambda *_, **__: runner.Played(results, [], 0))
    with pytest.warns(UserWarning, match=r"failed; board\.failures lists them") as caught:
        assert len(run("bank").failures) == len(results)
    assert [warning.filename for warning in caught] == [__file__]


def test_a_board_without_results_says_so():
    empty = BoardResult([])
    assert (repr(empty), empty.to_frame().empty, empty.matrix().empty) == ("a board without results", True, True)
    assert "without results" in empty._repr_html_()
    for call in (empty.plot, empty.to_html, empty.gate):
        with pytest.raises(ValueError, match="there are no results"):
            call()


@pytest.mark.thorough_beyond(9)
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"defenses": "Mondrian"}, r"defenses must be a list, as in defenses=\['Mondrian'\]"),
        ({"defenses": ["Mondrain"]}, "did you mean 'Mondrian'"),
        ({"defenses": [NearestNeighbour()]}, "is no defense"),
        ({"attacks": [3]}, "3 is no attack"),
        ({"plays": 0}, "plays must be at least 1, got 0"),
        ({"jobs": 0}, "jobs must be at least 1, got 0"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"roles": {}}, "roles describe a table"),
        ({"memory_limit": "much"}, "much"),
        ({"db": "nothing://"}, "database URL cannot be used"),
    ],
)
def test_bad_input_is_refused_in_words(given, message):
    with pytest.raises(ValueError, match=message):
        run("bank", **{"plays": 1, "defenses": ["Constant"], **given})


def test_a_class_that_no_worker_can_import_is_refused():
    class Local(Identity):
        """A defense within a function."""

    with pytest.raises(ValueError, match="Local: worker processes cannot import it"):
        run("bank", defenses=[Local()], plays=1)


def test_reading_refuses_what_is_not_there(board, tmp_path):
    with pytest.raises(ValueError, match="there are no results at"):
        read_board(tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()
    with Store(tmp_path / "a.db") as store:
        store.add(board.results)
    with pytest.raises(ValueError, match=r"no results of scenario 'adult'.*; it has bank"):
        read_board(tmp_path / "a.db", "adult")
    with pytest.raises(ValueError, match=r"there are no results of 'adult'; there are some of bank, decoys=hard"):
        board.plot("adult")
    with pytest.raises(ValueError, match="scale must be"):
        board.plot(scale="log")


def test_the_command_module_has_both_functions():
    assert tokumei.run is run
    assert tokumei.read_board is read_board
    assert {"run", "read_board", "__version__"} <= set(dir(tokumei))


def test_worker_processes_do_not_import_the_main_module(monkeypatch):
    main = sys.modules["__main__"]
    monkeypatch.setattr(main, "__file__", "script.py", raising=False)
    before = {name: getattr(main, name, None) for name in ("__file__", "__spec__")}
    with _main_is_not_imported():
        assert not {name for name in get_preparation_data("worker") if name.startswith("init_main")}
    assert {name: getattr(main, name, None) for name in before} == before


@pytest.mark.long
def test_a_script_without_a_guard_of_its_main_module_is_played_once(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import tokumei\nboard = tokumei.run('bank', defenses=['Constant'], attacks=['NearestNeighbour'], plays=1)\n"
        "print(len(board.results))\n"
    )
    done = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env=environment(),
        timeout=200,
    )
    assert (done.stdout, done.stderr) == ("3\n", "")


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("roles", "words"),
    [
        (None, "no roles are given, so that all columns take part: id, age; name roles="),
        ({"quasi_identifiers": ["age"]}, "columns without a role are left out: id"),
    ],
)
def test_columns_without_a_role_are_warned_of(roles, words):
    frame = pd.DataFrame({"id": range(400), "age": [20 + number % 50 for number in range(400)]})
    with pytest.warns(UserWarning, match=words):
        run(data=frame, roles=roles, defenses=["Identity"], attacks=["NearestNeighbour"], plays=1)


def test_errors_about_objects_name_the_argument():
    frame = pd.DataFrame({"age": range(200), "illness": ["flu", "cold"] * 100})
    with pytest.raises(ValueError, match=r"^roles: .*quasi_identifiers") as refused:
        tokumei.run(data=frame, roles={"quasi_identifiers": "age"})
    assert ".toml" not in str(refused.value)
    with pytest.raises(ValueError, match=r"^data: .*'wage'|'wage'.*data") as refused:
        tokumei.run(data=frame, roles={"quasi_identifiers": ["wage"]})
    assert "parquet" not in str(refused.value)
