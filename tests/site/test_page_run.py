"""Commands and code of a page: real output, failures, nothing private, and the cache."""

import json
import os
import socket
import threading

import pytest
from page_run import FORKS, PageRun, RunError


@pytest.fixture
def page(tmp_path):
    runs = []

    def opened(key="1"):
        runs.append(PageRun(tmp_path / "page.json", key))
        return runs[-1]

    yield opened
    for run in runs:
        run.close()


def command(run, line, exit_codes=(0,), errors=True):
    return run.command(line, exit_codes=list(exit_codes), errors=errors, seconds=20)


def test_commands_share_a_folder_and_show_both_streams(page):
    run = page()
    run.file("a/b.txt", "x\n")
    assert command(run, "cat a/b.txt; echo note >&2") == "x\nnote"
    assert command(run, "cat a/b.txt; echo note >&2", errors=False) == "x"
    assert command(run, r"printf '\033[31mred\033[0m'; pwd") == "red."


def test_another_exit_code_fails_the_build(page):
    assert command(page(), "exit 3", exit_codes=[3]) == ""
    with pytest.raises(RunError, match=r"exit code 1, not \[0\]"):
        command(page(), "false")
    with pytest.raises(RunError, match=r"exit code 0, not \[2\]"):
        command(page(), "true", exit_codes=[2])


@pytest.mark.parametrize("line", ["echo $PYTHONPATH", "date -u +%F"])
def test_paths_of_the_machine_and_dates_are_refused(page, line):
    with pytest.raises(RunError, match="contains"):
        command(page(), line)


@pytest.mark.thorough
def test_python_blocks_share_their_names(page):
    run = page()
    assert run.python(code="x = 2\nprint('two')\nx + 1") == [
        {"kind": "text", "content": "two"},
        {"kind": "text", "content": "3"},
    ]
    assert run.python(expression="f'{x:.1f}'")[0]["content"] == "2.0"
    (table,) = run.python(code="import pandas as pd\npd.DataFrame({'a': [x]})")
    assert table["kind"] == "table"
    (error,) = run.python(code="1 / 0", raises="ZeroDivisionError")
    assert error["content"] == "ZeroDivisionError: division by zero"


@pytest.mark.thorough
@pytest.mark.parametrize(("code", "raises"), [("1 / 0", None), ("1", "ValueError"), ("1 / 0", "KeyError")])
def test_unexpected_exceptions_fail_the_build(page, code, raises):
    with pytest.raises(RunError):
        page().python(code=code, raises=raises)


def test_results_are_kept_until_the_key_changes(page, tmp_path):
    counted = f"echo x >> {tmp_path}/count; wc -l < {tmp_path}/count"
    line = counted.replace(str(tmp_path), "$D")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("D", str(tmp_path))
        for key, expected in [("1", "1"), ("1", "1"), ("2", "2")]:
            run = page(key)
            assert command(run, line).strip() == expected
            run.close()


def test_a_failed_page_is_not_kept(page):
    run = page()
    command(run, "true")
    with pytest.raises(RunError):
        command(run, "false")
    run.close()
    assert not run._record.exists()


def test_the_program_is_forked_from_a_server_if_there_is_one(page, monkeypatch):
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    monkeypatch.setenv(FORKS, str(theirs.fileno()))
    requests = []

    def answer():
        message, (*streams, report), _, _ = socket.recv_fds(ours, 2**20, 4)
        requests.append(json.loads(message))
        os.write(streams[1], b"to output\n")
        os.write(streams[2], b"to errors\n")
        for stream in streams:
            os.close(stream)
        with socket.socket(fileno=report) as reported:
            reported.send(b"1")
            reported.send(str(3 << 8).encode())

    server = threading.Thread(target=answer)
    server.start()
    run = page()
    said = command(run, "tokumei validate 'a b.csv' > output.txt; code=$?; cat output.txt; exit $code", exit_codes=[3])
    server.join(20)
    assert said == "to errors\nto output"
    (request,) = requests
    assert request["command"] == ["tokumei", "validate", "a b.csv"]
    assert request["folder"] == str(run.folder)
    assert request["environment"]["COLUMNS"] == "88"
    assert FORKS not in request["environment"]


@pytest.mark.thorough
def test_the_program_runs_as_a_new_process_without_a_server(page, monkeypatch):
    monkeypatch.delenv(FORKS, raising=False)
    said = command(page(), "tokumei validate nowhere.csv < /dev/null", exit_codes=[2])
    assert said.startswith("Error: ")
    assert "nowhere.csv" in said
