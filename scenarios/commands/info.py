"""``tokumei info``."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import click

from scenarios.commands.common import bad_input


@click.command(epilog="\b\nExamples:\n  tokumei info Mondrian\n  tokumei info bank\n  tokumei info k_anonymity\n")
@click.argument("name")
def info(name: str) -> None:
    """Say what NAME is (defense, mechanism, attack, game, metric, scenario or data set), its parameters and source."""
    from scenarios.datasets import dataset_names
    from scenarios.files.scenario_file import library

    found = False
    if name in library():
        click.echo(library()[name].read_text(encoding="utf-8"))
        found = True
    if name in dataset_names():
        with bad_input():
            _dataset(name)
        found = True
    if not found:
        with bad_input():
            _thing(name)


def _thing(name: str) -> None:
    from scenarios.descriptions import look_up

    thing = look_up(name)
    assert inspect.isclass(thing) or inspect.isfunction(thing)  # noqa: S101 (look_up gives nothing else)
    signature = inspect.signature(thing)
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    click.secho(f"{name}{signature.replace(parameters=bare, return_annotation=inspect.Signature.empty)}", bold=True)
    click.echo(f"\n{inspect.getdoc(thing)}\n")
    click.echo(f"from {_exporter(thing)} import {name}    # {inspect.getsourcefile(thing)}")


def _exporter(thing: type | Callable[..., object]) -> str:
    """The package that exports a class or function: the innermost one around its module."""
    package, _, module = thing.__module__.rpartition(".")
    return package or module


def _dataset(name: str) -> None:
    from tabulate import tabulate

    from scenarios.datasets import load
    from scenarios.tables.summary import ColumnSummary, summary

    dataset = load(name)
    click.secho(f"{name}: {dataset.title}", bold=True)
    click.echo(f"{dataset.citation}\nLicence: {dataset.licence}\n{len(dataset.records)} records\n")
    click.echo(tabulate(summary(dataset), headers=ColumnSummary._fields, tablefmt="simple", maxcolwidths=40))
