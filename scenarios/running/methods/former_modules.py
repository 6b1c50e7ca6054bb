"""Former module paths, which databases, scenario files and scripts may name, and the modules that succeed them."""

from __future__ import annotations

import csv
from functools import cache
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

PACKAGES = ("metrics", "defenses", "attacks", "leaderboard", "scenarios")


class FormerModules(MetaPathFinder, Loader):
    """Imports a module of this project by its former path: it holds what its successor holds."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """A module that Python did not find, if it has a successor."""
        moved = fullname.startswith(tuple(f"{package}." for package in PACKAGES)) and successor(fullname) != fullname
        return ModuleSpec(fullname, self, is_package=True) if moved else None

    def exec_module(self, module: ModuleType) -> None:
        """Give a module the names of its successor."""
        present = import_module(successor(module.__name__))
        vars(module).update({name: value for name, value in vars(present).items() if not name.startswith("__")})


def successor(path: str) -> str:
    """Path of the module that holds today what a module held; the path itself if the module has not moved.

    Examples
    --------
    >>> successor("leaderboard.store")
    'leaderboard.results.store'
    >>> successor("scenarios.tables.parts.rowwise.steps")
    'defenses.base.blocks'
    """
    former, rest = path, ""
    while former and former not in _moves():
        former, dot, last = former.rpartition(".")
        rest = f"{dot}{last}{rest}"
    return _moves().get(former, "") + rest if former else path


def class_successor(name: str) -> str:
    """What stands today for a class that its module, or its module's successor, holds no more; empty if nothing does.

    Classes are named ``module:Class``.

    Examples
    --------
    >>> class_successor("scenarios.games.candidates_game:CandidatesGame")
    'scenarios.games.table_game:QuestionGame'
    """
    return _table("former_classes.csv").get(name, "")


def lasting_name(name: str) -> str:
    """Name under which a part of a method was first stored, ``module:Class``; seeds and keys derive from it.

    Examples
    --------
    >>> lasting_name("defenses.ldp.bit_vectors:SubsetSelection")
    'defenses.ldp.subset_selection:SubsetSelection'
    """
    return _table("part_names.csv").get(name, name)


def _moves() -> dict[str, str]:
    """Modules and folders that moved, by former path."""
    return _table("former_modules.csv")


@cache
def _table(name: str) -> dict[str, str]:
    """Successors of a file beside this module, by former name."""
    with Path(__file__).with_name(name).open(encoding="utf-8", newline="") as file:
        return dict(csv.reader(file))
