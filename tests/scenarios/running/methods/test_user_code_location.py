"""Errors of a user's own code name its file and line."""

import re

import pytest
from bank_tools import few_customers
from run_tools import invoke

from scenarios.running.methods.source_locations import reason_of, user_code_location

CODE = '''from defenses import MicrodataDefense


class Wrong(MicrodataDefense):
    """A defense with a mistake."""

    def apply(self, records, rng):
        return records.frame["aeg"]
'''


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("TOKUMEI_TRACEBACK", raising=False)
    (tmp_path / "wrong_code.py").write_text(CODE)
    return "wrong_code:Wrong"


def caught(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def test_the_line_is_the_users_not_that_of_a_library(module):
    from wrong_code import Wrong

    from scenarios import load

    error = caught(Wrong().apply, load("bank").records, None)
    assert user_code_location(error) == " (wrong_code.py, line 8)"
    assert reason_of(error).partition("\n")[0] == "KeyError: 'aeg' (wrong_code.py, line 8)"


def test_check_names_file_and_line(module):
    result = invoke("check", module)
    assert result.exit_code == 1
    assert "KeyError: 'aeg' (wrong_code.py, line 8)" in result.output


def test_a_check_that_hangs_is_named_while_it_runs_and_ends_in_time(module, tmp_path):
    (tmp_path / "endless.py").write_text(
        "from defenses import Identity\n\n\nclass Endless(Identity):\n    def apply(self, records, rng):\n"
        "        while True:\n            pass\n"
    )
    result = invoke("check", "endless:Endless", "--timeout", "0.5")
    assert result.exit_code == 1
    assert re.search(r"^waiting for the check '.+', 0\.5 s at most \(--timeout\)$", result.stderr, re.MULTILINE)
    assert "took longer than 0.5 s" in result.output


def test_our_own_errors_name_no_line(module):
    from scenarios import load

    error = caught(load, "no such data set")
    # The frame of this test is the only one of foreign code.
    assert "test_user_code_location.py" in user_code_location(error)
    assert invoke("info", "Mondrain").output.count("line") == 0


@pytest.mark.thorough
def test_a_run_shows_the_traceback_on_request(module, monkeypatch):
    few_customers(monkeypatch)
    options = ("-d", module, "-a", "NearestNeighbour", "--plays", "1", "-j", "1")
    short = invoke("run", "bank", *options)
    assert short.exit_code == 3
    assert "(wrong_code.py, line 8)" in short.output
    assert "in apply" not in short.output
    monkeypatch.setenv("TOKUMEI_TRACEBACK", "")
    long = invoke("--traceback", "run", "bank", *options, "--fresh")
    assert 'wrong_code.py", line 8, in apply' in long.output
