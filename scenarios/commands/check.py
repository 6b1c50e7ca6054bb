"""``tokumei check``."""

from __future__ import annotations

import sys

import click

from scenarios.commands.common import GATE_FAILED, bad_input, echo


@click.command(epilog="\b\nExamples:\n  tokumei check mymodule:MyDefense\n  tokumei check Mondrian\n")
@click.argument("name")
def check(name: str) -> None:
    """Run the conformance suite on a defense or attack: NAME, or module:Class for your own."""
    from scenarios.conformance.findings import findings
    from scenarios.conformance.suite import checks
    from scenarios.methods import find

    with bad_input():
        method = find(name, "defenses", "attacks")
    found = findings(checks(method), lambda title: echo(f"ok      {title}"))
    for warning in found.warned:
        echo(f"warning {warning}", err=True)
    for reason, titles in found.failures.items():
        if len(titles) == 1:
            echo(f"FAILED  {titles[0]}: {reason}")
            continue
        echo(f"FAILED  {len(titles)} checks failed for one reason: {reason}")
        for title in titles:
            echo(f"        - {title}")
    left_out = f"; {len(found.left_out)} further checks need what failed, and were not run" if found.left_out else ""
    echo(f"{name}: {found.failed} failed{left_out}" if found.failed else f"{name}: conforms")
    sys.exit(GATE_FAILED if found.failed else 0)
