"""What users may rely on stands in `public_interface.txt`: names of the packages with parameters, and commands.

A name or parameter may be added at any time. A release writes the list again by running this file.
"""

import importlib
import inspect
from pathlib import Path

import pytest
from test_overview import PACKAGES

from scenarios.commands.cli import COMMANDS, cli

LIST = Path(__file__).with_name("public_interface.txt")


def parameters(thing):
    """Names of the parameters with which users call a class or a function."""
    try:
        return [name for name in inspect.signature(thing).parameters if name not in ("self", "args", "kwargs")]
    except (TypeError, ValueError):
        return []


def options(name):
    """Options and arguments of a command, or the names of its commands."""
    command = cli.get_command(None, name)
    return [opt for one in command.params for opt in one.opts] + sorted(getattr(command, "commands", ()))


def public():
    """Every public name or command with what it takes."""
    found = {f"tokumei {name}": options(name) for name in sorted(COMMANDS)}
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in sorted(module.__all__):
            thing = getattr(module, name)
            found[f"{package}.{name}"] = parameters(thing) if callable(thing) else []
    return found


@pytest.mark.thorough
def test_nothing_that_users_may_rely_on_is_gone():
    now, gone = public(), []
    for line in LIST.read_text(encoding="utf-8").splitlines():
        name, _, taken = line.partition(": ")
        if name not in now:
            gone.append(name)
        gone += [f"{name}: {one}" for one in taken.split() if name in now and one not in now[name]]
    assert gone == []


def test_the_list_has_every_package_and_command():
    listed = [line.partition(": ")[0] for line in LIST.read_text(encoding="utf-8").splitlines()]
    assert set(PACKAGES) == {name.rpartition(".")[0] for name in listed} - {""}
    assert len(listed) == len(set(listed)) > 400
    assert {"tokumei run", "metrics.Score"} <= set(listed)


if __name__ == "__main__":
    LIST.write_text("".join(f"{name}: {' '.join(taken)}\n" for name, taken in public().items()), encoding="utf-8")
