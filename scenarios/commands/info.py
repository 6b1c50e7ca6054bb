"""``tokumei info``."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable

import click

from scenarios.commands.common import echo

EPILOG = """\b
Examples:
  tokumei info Mondrian
  tokumei info bank
  tokumei info k_anonymity
  tokumei info Correlation
  tokumei info mymodule:MyAttack
"""


@click.command(epilog=EPILOG)
@click.argument("name")
def info(name: str) -> None:
    """Describe NAME: a defense, mechanism, query, attack, game, metric, scenario or data set, or your module:Class."""
    from scenarios.datasets import dataset_names
    from scenarios.tables.toml import library

    # A scenario and a data set may share a name; both are then shown.
    is_scenario, is_dataset = name in library(), name in dataset_names()
    if is_scenario:
        echo(library()[name].read_text(encoding="utf-8"))
    if is_dataset:
        _show_dataset(name)
    if not is_scenario and not is_dataset:
        _show_export(name)


def _show_export(name: str) -> None:
    """Signature, docstring and source file of an exported class or function, or of a user's class."""
    from scenarios.commands.described import look_up, queries

    export = look_up(name)
    assert inspect.isclass(export) or inspect.isfunction(export)  # noqa: S101 (look_up returns nothing else)
    signature = inspect.signature(export)
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    shown = name if ":" in name else export.__name__
    echo(f"{shown}{signature.replace(parameters=bare, return_annotation=inspect.Signature.empty)}", bold=True)
    # A class without a docstring would show that of its base class.
    echo(f"\n{inspect.cleandoc(export.__doc__ or 'It has no docstring.')}\n")
    if called := vars(export).get("called"):
        echo(f"Known as {', '.join(called)}.\n")
    if query := queries().get(export.__name__):
        from defenses.curators.planning import PLANNERS
        from scenarios.assessment.asking.phrases import PHRASES

        echo(f"In `tokumei ask`: {PHRASES[export.__name__]}\n")
        planner = inspect.getdoc(PLANNERS[query])
        echo(f"How a curator answers it, `defenses.curators.planning`:\n{planner}\n")
    origin = export.__module__ if ":" in name else _importable_from(export)
    echo(f"from {origin} import {export.__name__}    # {inspect.getsourcefile(export)}")


def _importable_from(export: type | Callable[..., object]) -> str:
    """The outermost package or module around a class or function from which it can be imported by its name."""
    parts = export.__module__.split(".")
    modules = [".".join(parts[:end]) for end in range(1, len(parts) + 1)]
    return next(one for one in modules if getattr(importlib.import_module(one), export.__name__, None) is export)


def _show_dataset(name: str) -> None:
    """Title, source, licence, number of records and columns of a data set."""
    from tabulate import tabulate

    from scenarios.datasets import load
    from scenarios.tables.review.summary import ColumnSummary, summary

    dataset = load(name)
    echo(f"{name}: {dataset.title}", bold=True)
    echo(f"{dataset.citation}\nLicence: {dataset.licence}\n{len(dataset.records)} records\n")
    echo(tabulate(summary(dataset), headers=ColumnSummary._fields, tablefmt="simple", maxcolwidths=40))
