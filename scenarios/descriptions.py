"""What names mean, read from docstrings."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable

from scenarios.methods import exported, suggestion

PACKAGES = ("defenses", "attacks", "scenarios", "experiments")

# Modules of the metrics package that measure nothing themselves.
GROUND = ("metrics.cells", "metrics.domains", "metrics.estimate")


def one_liners(names: Iterable[str]) -> dict[str, str]:
    """First docstring line of each method that is exported under its name; others are left out."""
    known = {name: cls for package in PACKAGES for name, cls in exported(package).items()}
    return {name: summary(known[name]) for name in sorted(names) if name in known}


def summary(thing: object) -> str:
    """First line of a docstring."""
    return (inspect.getdoc(thing) or "").partition("\n")[0]


def metrics() -> dict[str, object]:
    """Exported metrics by name: functions of tables, and the utility that boards show."""
    package = importlib.import_module("metrics")
    found = {name: getattr(package, name) for name in package.__all__}
    return {
        name: value
        for name, value in sorted(found.items())
        if name == "TableUtility" or (inspect.isfunction(value) and value.__module__ not in GROUND)
    }


def look_up(name: str) -> object:
    """The class, function, scenario or data set of a name.

    Raises
    ------
    ValueError
        If nothing has this name; suggests the nearest.
    """
    from scenarios.auditing.names import mechanisms

    things: dict[str, object] = {**metrics(), **mechanisms()}
    for package in PACKAGES:
        things.update(exported(package))
    if name not in things:
        raise ValueError(f"nothing is named {name!r}{suggestion(name, things)}")
    return things[name]
