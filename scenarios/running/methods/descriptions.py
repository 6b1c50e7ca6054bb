"""Descriptions of names, read from docstrings."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable

from scenarios.running.methods.methods import exported

PACKAGES = ("defenses", "attacks", "scenarios", "experiments")

# Modules of the metrics package that hold no metrics.
GROUND = ("metrics.columns.cells", "metrics.columns.domains", "metrics.estimate")


def one_liners(names: Iterable[str]) -> dict[str, str]:
    """First docstring line of each exported method among the names; other names are left out."""
    methods = {name: cls for package in PACKAGES for name, cls in exported(package).items()}
    return {name: summary(methods[name]) for name in sorted(names) if name in methods}


def defense_kinds() -> dict[str, str]:
    """Folder of each exported defense: ``recoding``, ``grouping``, ``perturbation``, ``pram``, ``synthetic``, ``ldp``.

    Examples
    --------
    >>> defense_kinds()["Mondrian"]
    'grouping'
    """
    return {name: cls.__module__.split(".")[1] for name, cls in exported("defenses").items()}


def summary(thing: object) -> str:
    """First line of a docstring."""
    return (inspect.getdoc(thing) or "").partition("\n")[0]


def metrics() -> dict[str, object]:
    """Exported metrics by name: functions of tables, and the utility that boards show."""
    package = importlib.import_module("metrics")
    exports = {name: getattr(package, name) for name in package.__all__}
    return {
        name: value
        for name, value in sorted(exports.items())
        if name == "TableUtility" or (inspect.isfunction(value) and value.__module__ not in GROUND)
    }
