"""``tokumei list``."""

from __future__ import annotations

import tomllib

import click

from metrics.overview import SourceClass, classes, functions, source_class
from scenarios.commands.common import echo

KINDS = ("defenses", "mechanisms", "queries", "attacks", "metrics", "scenarios", "datasets")
EPILOG = """\b
Examples:
  tokumei list
  tokumei list attacks
  tokumei list queries
"""


@click.command(name="list", epilog=EPILOG)
@click.argument("kind", type=click.Choice(KINDS), required=False)
def list_(kind: str | None) -> None:
    """List defenses, mechanisms, queries, attacks, metrics, scenarios and data sets, or only those of one KIND.

    Queries are shown as `tokumei ask` reads them. Mechanisms are those of central (`defenses.dp`) and local
    (`defenses.ldp`) differential privacy.
    """
    from tabulate import tabulate

    for name in [kind] if kind else KINDS:
        if kind is None:
            echo(name, bold=True)
        echo(tabulate(sorted(_entries(name).items()), tablefmt="plain", maxcolwidths=[None, 76]))
        if kind is None:
            echo()


def _entries(kind: str) -> dict[str, str]:
    """One line about each name of a kind, from the sources: to import all methods would take seconds."""
    if kind == "scenarios":
        from scenarios.tables.toml import library

        # The title stands above the lists of methods, which take most of the time.
        heads = {name: path.read_text(encoding="utf-8").partition("\n[[")[0] for name, path in library().items()}
        return {name: tomllib.loads(head)["scenario"].get("title", "") for name, head in heads.items()}
    if kind == "datasets":
        from scenarios.datasets import dataset_names

        return {name: _title(name) for name in dataset_names()}
    if kind == "queries":
        from scenarios.assessment.asking.phrases import PHRASES

        kinds = {name: source_class("defenses.base.queries", name) for name in PHRASES}
        return {name: f"{PHRASES[name]}: {query.line}" for name, query in kinds.items() if query}
    if kind == "metrics":
        from scenarios.running.methods.methods import GROUND

        utility = source_class("metrics", "TableUtility")
        return functions("metrics", *GROUND) | ({"TableUtility": utility.line} if utility else {})
    if kind == "mechanisms":
        from scenarios.checks.audits.names import PACKAGES

        found = [classes(package, "Parametrized") for package in PACKAGES]
    else:
        found = [classes(kind, {"defenses": "Defense", "attacks": "Attack"}[kind])]
    return {name: _known(name, one) for methods in found for name, one in methods.items()}


def _known(name: str, method: SourceClass) -> str:
    """First line about a class, with the name by which the field knows it unless the line says it."""
    shown, plain = [*method.called, name][0], method.line.casefold().replace("-", " ")
    said = shown == name or shown.casefold().replace("-", " ") in plain
    return method.line if said else f"{shown}: {method.line}"


def _title(name: str) -> str:
    """Title of a data set, or how to install its package if that is missing."""
    from scenarios.datasets import title

    try:
        return title(name)
    except ValueError as error:
        return str(error)
