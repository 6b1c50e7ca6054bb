"""What the site documents: names of the public packages, by kind and family."""

import functools
import importlib
import inspect
import re
from dataclasses import dataclass
from typing import Any

from page_run import ROOT

from metrics import overview

API_PACKAGES = (
    "defenses",
    "defenses.dp",
    "defenses.ldp",
    "defenses.pram",
    "defenses.federated",
    "attacks",
    "metrics",
    "leaderboard",
    "scenarios",
)
KINDS = {
    "defenses": "Defenses",
    "mechanisms": "Mechanisms",
    "attacks": "Attacks",
    "games": "Games",
    "experiments": "Experiments",
    "metrics": "Metrics",
    "queries": "Queries",
    "datasets": "Data sets",
    "scenarios": "Scenarios",
}
"""Kinds with a page for each name, and the titles of their indexes."""


@dataclass(frozen=True)
class Entry:
    """A name with a page of its own.

    Attributes
    ----------
    name : str
        Short name, as commands and scenario files use it.
    kind : str
        A key of `KINDS`.
    path : str
        Dotted path to import it from; empty for data sets and scenarios.
    thing : object
        The class or function; None for data sets and scenarios.
    family : str
        Title of its family in the package's overview, or empty.
    """

    name: str
    kind: str
    path: str
    thing: Any
    family: str

    @property
    def page(self) -> str:
        """Name of the page from the root of the language."""
        return f"methods/{self.kind}/{self.name}"


def first_line(thing: object) -> str:
    """First docstring line."""
    return (inspect.getdoc(thing) or "").partition("\n")[0]


@functools.cache
def exports(package: str) -> dict[str, Any]:
    """Exported objects of a package by name."""
    module = importlib.import_module(package)
    return {name: getattr(module, name) for name in module.__all__}


@functools.cache
def families(package: str) -> dict[str, list[str]]:
    """Names of a package by the family's title, in the order of the package's overview."""
    found = overview.exports(package)
    return {overview.title(package, family).rstrip("."): list(names) for family, names in found.items() if names}


@functools.cache
def home(name: str) -> str:
    """The first package that exports a name, or an empty text."""
    return next((package for package in API_PACKAGES if name in exports(package)), "")


def _family(package: str, name: str) -> str:
    return next((title for title, names in families(package).items() if name in names), "")


@functools.cache
def entries() -> dict[str, list[Entry]]:
    """All names with a page, by kind."""
    from scenarios.checks.audits.names import mechanisms
    from scenarios.commands.described import queries
    from scenarios.datasets import dataset_names
    from scenarios.running.methods.methods import exported, metrics
    from scenarios.tables.toml import library

    things = {
        "defenses": exported("defenses"),
        "mechanisms": mechanisms(),
        "attacks": exported("attacks"),
        "games": exported("scenarios"),
        "experiments": exported("experiments"),
        "metrics": metrics(),
    }
    result = {
        kind: [
            Entry(name, kind, f"{home(name)}.{name}", thing, _family(home(name), name)) for name, thing in named.items()
        ]
        for kind, named in things.items()
    }
    result["queries"] = [
        Entry(name, "queries", f"{thing.__module__}.{name}", thing, "") for name, thing in queries().items()
    ]
    result["datasets"] = [Entry(name, "datasets", "", None, "") for name in dataset_names()]
    result["scenarios"] = [Entry(name, "scenarios", "", None, "") for name in library()]
    return {kind: result[kind] for kind in KINDS}


@functools.cache
def paths() -> dict[str, str]:
    """Documented dotted path of each public name."""
    result = {name: f"{home(name)}.{name}" for package in API_PACKAGES for name in exports(package)}
    return result | {entry.name: entry.path for kind in entries().values() for entry in kind if entry.path}


@functools.cache
def defined_names() -> frozenset[str]:
    """Names of all functions, classes, methods, constants, attributes and modules in the packages' source."""
    pattern = re.compile(
        r"^\s*(?:async def|def|class)\s+(\w+)|^\s*(?:self\.)?(\w+)\s*(?::[^=\n]+)?=|^\s+(\w+):", re.MULTILINE
    )
    names = set()
    for package in {package.partition(".")[0] for package in API_PACKAGES}:
        for path in (ROOT / package).rglob("*.py"):
            names |= {name for match in pattern.findall(path.read_text(encoding="utf-8")) for name in match if name}
            names |= {path.stem, path.parent.name}
    return frozenset(names)
