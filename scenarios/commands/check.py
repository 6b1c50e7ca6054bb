"""``tokumei check``."""

from __future__ import annotations

import sys

import click

from scenarios.commands.common import bad_input

GATE_FAILED = 1


@click.command(epilog="\b\nExamples:\n  tokumei check mymodule:MyDefense\n  tokumei check Mondrian\n")
@click.argument("name")
def check(name: str) -> None:
    """Run the conformance suite on a defense or attack: NAME, or module:Class for your own."""
    from scenarios.conformance.suite import checks
    from scenarios.methods import find

    with bad_input():
        try:
            method = find(name, "defenses")
        except ValueError as unknown:
            try:
                method = find(name, "attacks")
            except ValueError:
                raise unknown from None
    failures = 0
    for title, run in checks(method):
        try:
            run()
        except AssertionError as error:
            failures += 1
            click.echo(f"FAILED  {title}: {error}")
        except Exception as error:  # a method may fail in any way
            failures += 1
            click.echo(f"FAILED  {title}: {type(error).__name__}: {error}")
        else:
            click.echo(f"ok      {title}")
    click.echo(f"{name}: {failures} failed" if failures else f"{name}: conforms")
    sys.exit(GATE_FAILED if failures else 0)
