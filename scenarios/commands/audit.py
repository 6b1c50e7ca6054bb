"""``tokumei audit``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from leaderboard.pages.number_text import counted
from metrics.columns import refuse
from scenarios.commands.common import (
    GATE_FAILED,
    echo,
    parameter_option,
    warnings_as_lines,
)
from scenarios.running.methods.methods import given_parameters

if TYPE_CHECKING:
    from numpy.random import Generator

    from scenarios.checks.audits.audit import Audit, ClaimAudit, OneRunAudit


# Least expected number of events of probability delta at which a bound can come near the claim.
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

    If the bound is within the claim, the audit is repeated with twice the epsilon, which halves the noise. The output
    says whether this fault would be caught.
    """
    import numpy as np

    from scenarios.checks.audits.names import mechanism_of

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
    """Audit of many runs: values for JSON, a table, and whether the claim holds."""
    from scenarios.checks.audits.audit import audit as run_audit
    from scenarios.checks.audits.subjects import subject

    def examine(examined: Any) -> Audit:
        return run_audit(subject(examined), runs=runs, confidence=confidence, rng=rng)

    result = examine(mechanism)
    pairs = [(pair.title, bound) for pair, bound in zip(result.subject.neighbours, result.bounds, strict=True)]
    note = (
        f"{result.runs:,} runs are too few to see events of probability delta: the bound stays below the true epsilon"
        if 0 < result.subject.delta * result.runs < OBSERVABLE
        else ""
    )
    return _written(
        result,
        {},
        {"neighbours": [{"inputs": title, "epsilon_at_least": bound} for title, bound in pairs]},
        (("neighbours", "epsilon at least"), [[title, f"{bound:.4g}"] for title, bound in pairs]),
        f"{result.runs:,} runs on each input",
        _half_noise(mechanism, result, examine),
        note,
    )


def _one_run(
    mechanism: Any, canaries: int | None, guesses: int | None, runs: int | None, confidence: float, rng: Generator
) -> tuple[dict[str, Any], str, bool]:
    """Audit of one run or a few on many canaries: values for JSON, a table, and whether the claim holds."""
    from scenarios.checks.audits.audit import RUNS, one_run_audit
    from scenarios.checks.audits.canaries import canaries as canaries_of

    def examine(examined: Any) -> OneRunAudit:
        return one_run_audit(
            canaries_of(examined),
            canaries=canaries,
            guesses=guesses,
            runs=RUNS if runs is None else runs,
            confidence=confidence,
            rng=rng,
        )

    result = examine(mechanism)
    plain = [
        {
            "trade_off": part.form,
            "guesses": part.guesses * result.runs,
            "correct": part.correct,
            "epsilon_at_least": part.bound,
        }
        for part in result.parts
    ]
    rows = [
        [FORMS[part.form], f"{part.guesses * result.runs:,}", f"{part.correct:,}", f"{part.bound:.4g}"]
        for part in result.parts
    ]
    return _written(
        result,
        {"canaries": result.canaries, "inputs": result.subject.title},
        {"guesses": plain},
        (("trade-off", "guesses", "correct", "epsilon at least"), rows),
        f"{counted(result.runs, 'run')} with {result.canaries:,} canaries each: {result.subject.title}",
        _half_noise(mechanism, result, examine),
        "One run gives a loose bound; more runs (--runs) give a tighter one." if result.runs == 1 else "",
    )


def _half_noise(mechanism: Any, result: ClaimAudit, examine: Callable[[Any], ClaimAudit]) -> float | None:
    """Bound that the same audit finds with twice the epsilon; None if the claim is refuted.

    It is None, too, if the mechanism has no epsilon to double, or refuses so large a one.
    """
    from scenarios.checks.audits.audit import twice_the_epsilon

    try:
        doubled = twice_the_epsilon(mechanism) if result.holds else None
    except ValueError:
        return None
    return None if doubled is None else examine(doubled).bound


def _written(
    result: ClaimAudit,
    setting: Mapping[str, Any],
    parts: Mapping[str, Any],
    table: tuple[tuple[str, ...], list[list[str]]],
    size: str,
    half_noise: float | None,
    note: str,
) -> tuple[dict[str, Any], str, bool]:
    """An audit as values for JSON and as a table, and whether its claim holds."""
    from leaderboard.pages.tables import text_table

    claim = result.subject
    values = {
        "mechanism": claim.name,
        "epsilon": claim.epsilon,
        "delta": claim.delta,
        "runs": result.runs,
        **setting,
        "confidence": result.confidence,
        **parts,
        "epsilon_at_least": result.bound,
        "violated": not result.holds,
        "half_noise_epsilon_at_least": half_noise,
        "half_noise_caught": None if half_noise is None else half_noise > claim.epsilon,
        **({"note": note} if note else {}),
    }
    verdict = (
        f"no evidence against the claim: epsilon is at least {result.bound:.4g}"
        if result.holds
        else f"FAILED: epsilon is at least {result.bound:.4g}, more than the claimed {claim.epsilon:g}"
    )
    lines = [
        claim.name,
        f"claimed: epsilon {claim.epsilon:g}{f', delta {claim.delta:g}' if claim.delta else ''}",
        "",
        text_table(*table),
        "",
        verdict,
        f"{size}; confidence {result.confidence:g}: a correct mechanism fails with probability at most "
        f"{1 - result.confidence:.2g}",
    ]
    if result.holds:
        lines.append(
            "It is not known what this audit would catch: the mechanism has no epsilon that can be doubled."
            if half_noise is None
            else f"This audit would {'' if half_noise > claim.epsilon else 'not '}catch half the noise: with twice the "
            f"epsilon, it finds at least {half_noise:.4g}."
        )
    return values, "\n".join([*lines, *([note] if note else [])]), result.holds
