"""``tokumei check``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from threading import Timer
from typing import Any

import click

from scenarios.commands.common import GATE_FAILED, echo

PATIENCE = 3.0
"""Seconds after which a line says which check runs."""
EPILOG = """\b
Examples:
  tokumei check mymodule:MyDefense
  tokumei check Mondrian
  tokumei check "mymodule:MyAttack width=7"
"""


@click.command(epilog=EPILOG)
@click.argument("name")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Largest time of one check of your own class.",
)
def check(name: str, timeout: float) -> None:
    """Run the conformance suite on a defense, an attack or a utility measure: NAME, or module:Class for your own.

    Parameters follow the name as NAME=VALUE within the same quotes. What the method prints goes to standard error. Of
    a guarantee, k, l and t are measured; a guaranteed epsilon or Pk is named as not tested.
    """
    from scenarios.checks.conformance.findings import findings
    from scenarios.checks.conformance.suite import named_class, raised_exits, suite_outcomes

    def passed(title: str) -> None:
        echo(f"ok      {title}")

    with raised_exits():
        named_class(name)
    found = findings(_announced(suite_outcomes(name, timeout), timeout), passed)
    for part in found.untested:
        audit = f"; tokumei audit {name.partition(' ')[0]} tests it" if part == "epsilon" else ""
        echo(f"note    its {part} is not tested here{audit}")
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
    left_out += "; the checks after it were not run" if found.died else ""
    echo(f"{name}: {found.failed} failed{left_out}" if found.failed else f"{name}: conforms")
    sys.exit(GATE_FAILED if found.failed else 0)


def _announced(found: Iterable[Any], timeout: float) -> Iterator[Any]:
    """What checks find; standard error says what takes long, and how long it may."""
    from scenarios.checks.conformance.findings import Begun

    waiting = Timer(0, bool)
    try:
        for one in found:
            waiting.cancel()
            if isinstance(one, Begun):
                text = f"waiting for the check {one.title!r}, {timeout:g} s at most (--timeout)"
                waiting = Timer(min(PATIENCE, timeout / 2), echo, (text,), {"err": True})
                waiting.start()
            yield one
    finally:
        waiting.cancel()
