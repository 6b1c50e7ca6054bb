"""`info` prints a line by which what it describes can be imported."""

import importlib

import pytest
from run_tools import invoke

from scenarios.checks.audits.names import mechanisms
from scenarios.commands.described import queries
from scenarios.running.methods.methods import PACKAGES, exported, metrics


def described():
    """Everything that `info` describes, by name."""
    found = {**metrics(), **mechanisms(), **queries()}
    for package in PACKAGES:
        found.update(exported(package))
    return found


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("part", range(4))
def test_each_printed_import_line_runs(part):
    things = described()
    assert len(things) > 130
    for name in sorted(things)[part::4]:
        done = invoke("info", name)
        assert done.exit_code == 0, done.output
        (line,) = [line for line in done.output.splitlines() if line.startswith("from ") and " import " in line]
        _, package, _, imported, *_ = line.split()
        assert getattr(importlib.import_module(package), imported) is things[name], line


def test_a_class_of_a_package_is_imported_from_the_package():
    assert "from defenses import Mondrian " in invoke("info", "Mondrian").output
