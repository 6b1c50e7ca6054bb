"""``tokumei check``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from scenarios.commands.common import GATE_FAILED, bad_input, echo

if TYPE_CHECKING:
    from scenarios.conformance.checks import Check
    from scenarios.methods import Method


@click.command(epilog="\b\nExamples:\n  tokumei check mymodule:MyDefense\n  tokumei check Mondrian\n")
@click.argument("name")
def check(name: str) -> None:
    """Run the conformance suite on a defense or attack: NAME, or module:Class for your own."""
    from scenarios.conformance.suite import checks

    with bad_input():
        method = _method(name)
    failures = 0
    for named_check in checks(method):
        failure = _failure(named_check)
        failures += failure is not None
        echo(f"ok      {named_check[0]}" if failure is None else f"FAILED  {named_check[0]}: {failure}")
    echo(f"{name}: {failures} failed" if failures else f"{name}: conforms")
    sys.exit(GATE_FAILED if failures else 0)


def _method(name: str) -> type[Method]:
    """The defense or attack of this name; the error about an unknown name is that of defenses."""
    from scenarios.methods import find

    try:
        return find(name, "defenses")
    except ValueError as unknown:
        try:
            return find(name, "attacks")
        except ValueError:
            raise unknown from None


def _failure(named_check: Check) -> str | None:
    """Reason why a check fails, None if it passes."""
    try:
        named_check[1]()
    except AssertionError as error:
        return str(error)
    except Exception as error:  # a method under test may raise anything
        from scenarios.running.foreign_code import foreign_place

        return f"{type(error).__name__}: {error}{foreign_place(error)}"
    return None
