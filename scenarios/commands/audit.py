"""``tokumei audit``."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from scenarios.commands.common import bad_input

if TYPE_CHECKING:
    from scenarios.auditing.audit import Audit

GATE_FAILED = 1
# How often an event of probability delta must be expected for a bound to come near the claim.
SEEN = 100
EPILOG = """\b
Examples:
  tokumei audit Laplace -p epsilon=0.5
  tokumei audit OptimizedUnaryEncoding -p epsilon=1 -p d=16 --runs 1000000
  tokumei audit mymodule:MyMechanism -p epsilon=1 --format json
"""


@click.command(epilog=EPILOG)
@click.argument("mechanism")
@click.option(
    "-p", "--parameter", "parameters", multiple=True, metavar="NAME=VALUE", help="Parameter of MECHANISM (repeatable)."
)
@click.option("--runs", type=click.IntRange(min=8), help="Runs on each input; what takes some seconds otherwise.")
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.999,
    show_default=True,
    help="Of the lower bounds together; an honest mechanism fails with the rest.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of all randomness.")
@click.option("--format", "form", type=click.Choice(("table", "json")), default="table", show_default=True)
def audit(
    mechanism: str, parameters: tuple[str, ...], runs: int | None, confidence: float, seed: int, form: str
) -> None:
    """Measure whether MECHANISM keeps the epsilon that it claims.

    MECHANISM is a class of defenses.dp or defenses.ldp, a defense, or module:Class for your own. It runs many times on
    neighbouring inputs; an event that tells them apart is learned on a half of the runs, and how often it happens in
    the other half proves a lower bound on epsilon. Exit code 1 if that exceeds the claim.
    """
    import numpy as np

    from scenarios.auditing.audit import audit as measure
    from scenarios.auditing.names import mechanism_of
    from scenarios.auditing.subjects import subject
    from scenarios.commands.defend import given_parameters

    with bad_input():
        made = mechanism_of(mechanism, given_parameters(parameters))
        try:
            found = measure(subject(made), runs=runs, confidence=confidence, rng=np.random.default_rng(seed))
        except ValueError:
            raise
        except Exception as error:
            raise ValueError(f"{mechanism} cannot be run: {type(error).__name__}: {error}") from error
    click.echo(json.dumps(_plain(found), indent=2) if form == "json" else _table(found))
    sys.exit(0 if found.holds else GATE_FAILED)


def _plain(found: Audit) -> dict[str, Any]:
    return {
        "mechanism": found.subject.name,
        "epsilon": found.subject.epsilon,
        "delta": found.subject.delta,
        "runs": found.runs,
        "confidence": found.confidence,
        "neighbours": [
            {"inputs": pair.title, "epsilon_at_least": bound}
            for pair, bound in zip(found.subject.neighbours, found.bounds, strict=True)
        ],
        "epsilon_at_least": found.bound,
        "holds": found.holds,
    }


def _table(found: Audit) -> str:
    from tabulate import tabulate

    subject = found.subject
    rows = [[pair.title, f"{bound:.4g}"] for pair, bound in zip(subject.neighbours, found.bounds, strict=True)]
    delta = f", delta {subject.delta:g}" if subject.delta else ""
    verdict = (
        f"nothing speaks against the claim: epsilon is at least {found.bound:.4g}"
        if found.holds
        else f"FAILED: epsilon is at least {found.bound:.4g}, more than the claimed {subject.epsilon:g}"
    )
    return "\n".join(
        [
            subject.name,
            f"claimed: epsilon {subject.epsilon:g}{delta}",
            "",
            tabulate(rows, headers=("neighbours", "epsilon at least"), disable_numparse=True),
            "",
            verdict,
            f"{found.runs:,} runs on each input; confidence {found.confidence:g}, so that an honest mechanism fails "
            f"in at most {1 - found.confidence:.2g} of audits",
            *(
                [f"events as rare as delta are not seen in {found.runs:,} runs: the bound stays below what is spent"]
                if subject.delta and subject.delta * found.runs < SEEN
                else []
            ),
        ]
    )
