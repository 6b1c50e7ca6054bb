"""The copy button of a block takes whole commands."""

import ast
import re

import pytest
from run_tools import ROOT

SITE = ROOT / "docs" / "site"


def prompt():
    """The expression by which the button knows lines of commands; it copies these, without their prompts."""
    for statement in ast.parse((SITE / "conf.py").read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "copybutton_prompt_text":
            return re.compile(ast.literal_eval(statement.value))
    raise AssertionError("conf.py sets no prompt")


@pytest.mark.parametrize(
    ("line", "copied"),
    [
        ("$ tokumei check mine:Mine", "tokumei check mine:Mine"),
        (">   --anonymize-until 2030-06-10T12:00", "  --anonymize-until 2030-06-10T12:00"),
        (">>> board.plot()", "board.plot()"),
        ("...     pass", "    pass"),
    ],
)
def test_a_line_of_a_command_is_copied_without_its_prompt(line, copied):
    assert prompt().sub("", line, count=1) == copied
    assert prompt().match(line)


def test_a_line_of_output_is_not_copied():
    assert not prompt().match("wrote released.csv")
