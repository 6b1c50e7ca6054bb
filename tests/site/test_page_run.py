"""Commands and code of a page: real output, failures, nothing private, and the cache."""

import pytest
from page_run import PageRun, RunError


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
