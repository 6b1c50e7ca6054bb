"""``tokumei list``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from scenarios.commands.common import echo

if TYPE_CHECKING:
    from defenses.base import Parametrized

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
    """One line about each name of a kind."""
    if kind == "scenarios":
        from scenarios.tables.toml.scenario_file import library, scenario_tables

        return {name: scenario_tables(path)["scenario"].get("title", "") for name, path in library().items()}
    if kind == "datasets":
        from scenarios.datasets import dataset_names

        return {name: _title(name) for name in dataset_names()}
    from scenarios.running.methods import exported, metrics, summary

    if kind == "mechanisms":
        from scenarios.checks.audits.names import mechanisms

        return {name: _known(mechanism) for name, mechanism in mechanisms().items()}
    if kind == "queries":
        from scenarios.assessment.asking.grammar import PHRASES
        from scenarios.commands.described import queries

        return {name: f"{PHRASES[name]}: {summary(query)}" for name, query in queries().items()}
    if kind == "metrics":
        return {name: summary(metric) for name, metric in metrics().items()}

    return {name: _known(method) for name, method in exported(kind).items()}


def _known(method: type[Parametrized]) -> str:
    """First line about a class, with the name by which the field knows it unless the line says it."""
    from scenarios.running.methods.methods import summary

    line, shown = summary(method), method.shown_name()
    plain = line.casefold().replace("-", " ")
    said = shown == method.__name__ or shown.casefold().replace("-", " ") in plain
    return line if said else f"{shown}: {line}"


def _title(name: str) -> str:
    """Title of a data set, or how to install its package if that is missing."""
    from scenarios.datasets import FOLDER, MADE, load
    from scenarios.tables.roles import read_roles

    try:
        # To read the records as well would take most of the command's time.
        return load(name).title if name in MADE else read_roles(FOLDER / name / "roles.toml").dataset.title
    except ValueError as error:
        return str(error)
