"""``tokumei audit``."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from leaderboard.pages.number_text import counted
from metrics.columns import refuse
from scenarios.commands.common import (
    GATE_FAILED,
    bad_input,
    echo,
    parameter_option,
    warnings_as_lines,
)
from scenarios.running.methods.methods import given_parameters

if TYPE_CHECKING:
    from numpy.random import Generator

    from scenarios.checks.audits.audit import Audit
    from scenarios.checks.audits.one_run import OneRunAudit

# Expected number of events of probability delta from which a bound can come near the claim.
OBSERVABLE = 100
# Trade-off functions that a bound from canaries assumes.
FORMS = {"any": "any", "gaussian": "Gaussian"}
EPILOG = """\b
Examples:
  tokumei audit Laplace -p epsilon=0.5
  tokumei audit OptimizedUnaryEncoding -p epsilon=1 -p d=16 --runs 1000000
  tokumei audit mymodule:MyMechanism -p epsilon=1 --format json
  tokumei audit PrivateMarginals -p epsilon=2 --one-run
"""


@click.command(epilog=EPILOG)
@click.argument("mechanism")
@parameter_option("MECHANISM")
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    help="Runs on each input, at least 8 (default: as many as take some seconds); with --one-run: all runs (default: "
    "20), down to 1.",
)
@click.option("--one-run", is_flag=True, help="Audit from one run or a few, each on many canaries.")
@click.option("--canaries", type=click.IntRange(min=1), help="Canaries of each run, at least 16; with --one-run.")
@click.option(
    "--guesses",
    type=click.IntRange(min=1),
    help="Canaries of each run that are guessed (default: several numbers, with a correction); with --one-run.",
)
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
    mechanism: str,
    parameters: tuple[str, ...],
    runs: int | None,
    one_run: bool,
    canaries: int | None,
    guesses: int | None,
    confidence: float,
    seed: int,
    form: str,
) -> None:
    """Test whether MECHANISM satisfies the epsilon that it claims.

    MECHANISM is a class of defenses.dp or defenses.ldp, a defense, or module:Class for your own. The audit runs it many
    times on neighbouring inputs. On half of the runs it learns an event that distinguishes the inputs. The frequency of
    that event in the other half gives a lower bound on epsilon. The exit code is 1 if the bound exceeds the claim.

    With --one-run, each run contains many canaries, each with probability 1/2. The audit guesses from the output which
    ones were included. The number of correct guesses gives the lower bound.
    """
    import numpy as np

    from scenarios.checks.audits.names import mechanism_of

    with bad_input():
        refuse(not one_run and (canaries is not None or guesses is not None), "--canaries and --guesses need --one-run")
        instance = mechanism_of(mechanism, given_parameters(parameters))
        rng = np.random.default_rng(seed)
        try:
            with warnings_as_lines():
                result = (
                    _one_run(instance, canaries, guesses, runs, confidence, rng)
                    if one_run
                    else _many_runs(instance, runs, confidence, rng)
                )
        except ValueError:
            raise
        except Exception as error:
            raise ValueError(f"{mechanism} cannot be run: {type(error).__name__}: {error}") from error
    values, lines, holds = result
    echo(json.dumps(values, indent=2) if form == "json" else lines)
    sys.exit(0 if holds else GATE_FAILED)


def _many_runs(mechanism: Any, runs: int | None, confidence: float, rng: Generator) -> tuple[dict[str, Any], str, bool]:
    """The audit by many runs on neighbouring inputs, as JSON values and as text, and whether the claim holds."""
    from scenarios.checks.audits.audit import audit as run_audit
    from scenarios.checks.audits.subjects import subject

    result = run_audit(subject(mechanism), runs=runs, confidence=confidence, rng=rng)
    return _plain(result), _table(result), result.holds


def _one_run(
    mechanism: Any, canaries: int | None, guesses: int | None, runs: int | None, confidence: float, rng: Generator
) -> tuple[dict[str, Any], str, bool]:
    """The audit by canaries, as JSON values and as text, and whether the claim holds."""
    from scenarios.checks.audits.canaries import canaries as canaries_of
    from scenarios.checks.audits.one_run import RUNS, one_run_audit

    result = one_run_audit(
        canaries_of(mechanism),
        canaries=canaries,
        guesses=guesses,
        runs=RUNS if runs is None else runs,
        confidence=confidence,
        rng=rng,
    )
    return _plain_of_canaries(result), _table_of_canaries(result), result.holds


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
        "violated": not result.holds,
        **_note(result),
    }


def _plain_of_canaries(result: OneRunAudit) -> dict[str, Any]:
    """The result of an audit by canaries as JSON values."""
    return {
        "mechanism": result.subject.name,
        "epsilon": result.subject.epsilon,
        "delta": result.subject.delta,
        "runs": result.runs,
        "canaries": result.canaries,
        "inputs": result.subject.title,
        "confidence": result.confidence,
        "guesses": [
            {
                "trade_off": part.form,
                "guesses": part.guesses * result.runs,
                "correct": part.correct,
                "epsilon_at_least": part.bound,
            }
            for part in result.parts
        ],
        "epsilon_at_least": result.bound,
        "violated": not result.holds,
        **_note_of_canaries(result),
    }


def _table(result: Audit) -> str:
    """The result as text for a terminal."""
    subject = result.subject
    rows = [[pair.title, f"{bound:.4g}"] for pair, bound in zip(subject.neighbours, result.bounds, strict=True)]
    return _lines(
        result, rows, ("neighbours", "epsilon at least"), f"{result.runs:,} runs on each input", _note(result)
    )


def _table_of_canaries(result: OneRunAudit) -> str:
    """The result of an audit by canaries as text for a terminal."""
    rows = [
        [FORMS[part.form], f"{part.guesses * result.runs:,}", f"{part.correct:,}", f"{part.bound:.4g}"]
        for part in result.parts
    ]
    size = f"{counted(result.runs, 'run')} with {result.canaries:,} canaries each: {result.subject.title}"
    headers = ("trade-off", "guesses", "correct", "epsilon at least")
    return _lines(result, rows, headers, size, _note_of_canaries(result))


def _note(result: Audit) -> dict[str, str]:
    """The reason why the bound stays low if runs are too few, as a JSON value; empty if they are not."""
    if not result.subject.delta or result.subject.delta * result.runs >= OBSERVABLE:
        return {}
    return {
        "note": f"{result.runs:,} runs are too few to see events of probability delta: the bound stays below the true "
        "epsilon"
    }


def _note_of_canaries(result: OneRunAudit) -> dict[str, str]:
    """The reason why the bound stays low after a single run, as a JSON value; empty after more runs."""
    return {"note": "One run gives a loose bound; more runs (--runs) give a tighter one."} if result.runs == 1 else {}


def _lines(
    result: Audit | OneRunAudit, rows: list[list[str]], headers: tuple[str, ...], size: str, note: Mapping[str, str]
) -> str:
    """Claim, bounds, verdict, size and note of an audit."""
    from leaderboard.pages.tables import text_table

    subject = result.subject
    delta = f", delta {subject.delta:g}" if subject.delta else ""
    verdict = (
        f"no evidence against the claim: epsilon is at least {result.bound:.4g}"
        if result.holds
        else f"FAILED: epsilon is at least {result.bound:.4g}, more than the claimed {subject.epsilon:g}"
    )
    lines = [
        subject.name,
        f"claimed: epsilon {subject.epsilon:g}{delta}",
        "",
        text_table(headers, rows),
        "",
        verdict,
        f"{size}; confidence {result.confidence:g}: a correct mechanism fails with probability at most "
        f"{1 - result.confidence:.2g}",
    ]
    return "\n".join([*lines, *note.values()])
