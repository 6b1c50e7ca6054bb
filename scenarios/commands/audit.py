"""``tokumei audit``."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from scenarios.commands.common import GATE_FAILED, bad_input, echo, given_parameters, parameter_option

if TYPE_CHECKING:
    from scenarios.auditing.audit import Audit

# Expected number of events of probability delta from which a bound can come near the claim.
OBSERVABLE = 100
EPILOG = """\b
Examples:
  tokumei audit Laplace -p epsilon=0.5
  tokumei audit OptimizedUnaryEncoding -p epsilon=1 -p d=16 --runs 1000000
  tokumei audit mymodule:MyMechanism -p epsilon=1 --format json
"""


@click.command(epilog=EPILOG)
@click.argument("mechanism")
@parameter_option("MECHANISM")
@click.option("--runs", type=click.IntRange(min=8), help="Runs on each input.  [default: as many as take some seconds]")
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.999,
    show_default=True,
    help="Joint confidence of the lower bounds; a correct mechanism fails with probability at most 1 minus this.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of all randomness.")
@click.option("--format", "form", type=click.Choice(("table", "json")), default="table", show_default=True)
def audit(
    mechanism: str, parameters: tuple[str, ...], runs: int | None, confidence: float, seed: int, form: str
) -> None:
    """Test whether MECHANISM satisfies the epsilon that it claims.

    MECHANISM is a class of defenses.dp or defenses.ldp, a defense, or module:Class for your own. The audit runs it many
    times on neighbouring inputs. On half of the runs it learns an event that distinguishes the inputs. The frequency of
    that event in the other half gives a lower bound on epsilon. The exit code is 1 if the bound exceeds the claim.
    """
    import numpy as np

    from scenarios.auditing.audit import audit as run_audit
    from scenarios.auditing.names import mechanism_of
    from scenarios.auditing.subjects import subject

    with bad_input():
        instance = mechanism_of(mechanism, given_parameters(parameters))
        try:
            result = run_audit(subject(instance), runs=runs, confidence=confidence, rng=np.random.default_rng(seed))
        except ValueError:
            raise
        except Exception as error:
            raise ValueError(f"{mechanism} cannot be run: {type(error).__name__}: {error}") from error
    echo(json.dumps(_plain(result), indent=2) if form == "json" else _table(result))
    sys.exit(0 if result.holds else GATE_FAILED)


def _plain(result: Audit) -> dict[str, Any]:
    """The result as JSON values."""
    return {
        "mechanism": result.subject.name,
        "epsilon": result.subject.epsilon,
        "delta": result.subject.delta,
        "runs": result.runs,
        "confidence": result.confidence,
        "neighbours": [
            {"inputs": pair.title, "epsilon_at_least": bound}
            for pair, bound in zip(result.subject.neighbours, result.bounds, strict=True)
        ],
        "epsilon_at_least": result.bound,
        "holds": result.holds,
    }


def _table(result: Audit) -> str:
    """The result as text for a terminal."""
    from tabulate import tabulate

    subject = result.subject
    rows = [[pair.title, f"{bound:.4g}"] for pair, bound in zip(subject.neighbours, result.bounds, strict=True)]
    delta = f", delta {subject.delta:g}" if subject.delta else ""
    verdict = (
        f"no evidence against the claim: epsilon is at least {result.bound:.4g}"
        if result.holds
        else f"FAILED: epsilon is at least {result.bound:.4g}, more than the claimed {subject.epsilon:g}"
    )
    rare = (
        [f"{result.runs:,} runs are too few to see events of probability delta: the bound stays below the true epsilon"]
        if subject.delta and subject.delta * result.runs < OBSERVABLE
        else []
    )
    return "\n".join(
        [
            subject.name,
            f"claimed: epsilon {subject.epsilon:g}{delta}",
            "",
            tabulate(rows, headers=("neighbours", "epsilon at least"), disable_numparse=True),
            "",
            verdict,
            f"{result.runs:,} runs on each input; confidence {result.confidence:g}: a correct mechanism fails with "
            f"probability at most {1 - result.confidence:.2g}",
            *rare,
        ]
    )
