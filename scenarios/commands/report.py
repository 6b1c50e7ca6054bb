"""``tokumei report``."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from metrics.columns import refuse
from scenarios.commands.common import (
    GATE_FAILED,
    echo,
    echo_each,
    parameter_option,
    reading_options,
    roles_option,
    share,
    suppressed_option,
)
from scenarios.running.methods.methods import given_parameters

if TYPE_CHECKING:
    from defenses.base import MicrodataDefense

EPILOG = """\b
Examples:
  tokumei report people.csv released.csv --roles roles.toml -o report.html
  tokumei report people.csv released.csv --roles roles.toml --control others.csv --profile wp29 -o report.html
  tokumei report people.csv released.csv --roles roles.toml --threshold 0.2 --defense Mondrian -p k=5 -o report.pdf
"""
_PROFILES = ("wp29", "japan", "health")


@click.command(epilog=EPILOG)
@click.argument("table")
@click.argument("released")
@roles_option
@reading_options
@suppressed_option
@click.option("--control", help="People of the same population who were not in TABLE, with the same columns.")
@click.option(
    "--truth", help="The record of each released row, as `tokumei defend --truth` writes it: links are measured."
)
@click.option(
    "--threshold",
    type=float,
    default=0.09,
    show_default=True,
    callback=share,
    help="Largest acceptable risk of a person. Usual ones: 0.05, 0.09, 0.2, 0.33.",
)
@click.option(
    "--profile", "profiles", multiple=True, type=click.Choice(_PROFILES), help="Criteria of a rule (repeatable)."
)
@click.option("--defense", "defense_name", help="The defense that made RELEASED; the report states what it guarantees.")
@parameter_option("--defense")
@click.option("-o", "--output", required=True, help="The report: .html, or .pdf with the extra `pdf`.")
@click.option(
    "--targets",
    type=click.IntRange(min=1),
    help="People whom attacks are about.  [default: half of the control group, 500 at least]",
)
@click.option(
    "--releases",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Releases judged on this control group so far, this one included: each is judged more strictly.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Seed of all random draws; the report states who chose it.  [default: given by TABLE and RELEASED]",
)
@click.option("--force", is_flag=True, help="Replace the report if it exists.")
def report(
    table: str,
    released: str,
    roles: Path | None,
    control: str | None,
    truth: str | None,
    threshold: float,
    profiles: tuple[str, ...],
    defense_name: str | None,
    parameters: tuple[str, ...],
    output: str,
    targets: int | None,
    releases: int,
    seed: int | None,
    *,
    force: bool,
    reading: dict[str, Any],
) -> None:
    """Report on RELEASED, a finished release of TABLE: a verdict to sign, and the evidence for it.

    The verdict compares each risk with the threshold, worst first: classes of people alike, and attacks with intervals.
    With --control, attacks on people who were not in TABLE give the chance level. Exit code 1 says that the release is
    not shown to keep within the threshold. Without --roles, texts that differ in every record are refused.
    """
    from leaderboard.results.version import version
    from scenarios.assessment.evaluation.control_people import read_tables
    from scenarios.assessment.evaluation.evaluation_setting import TARGETS, EvaluationSetting, most_asked
    from scenarios.assessment.reporting.findings import full_verdict, passes
    from scenarios.assessment.reporting.release_reading import report_content
    from scenarios.assessment.reporting.release_report import report_sections, seed_words, unchecked
    from scenarios.tables import number_of_people, refuse_existing

    refuse(Path(output).suffix not in (".html", ".pdf"), f"-o {output}: a report is an .html or a .pdf file")
    refuse_existing([output], inputs=[table, released, roles, control, truth], force=force)
    defense = _defense(defense_name, parameters)
    write = _writer(output)
    dataset, declared, people, sha256 = read_tables(table, roles, reading, control)
    targets = targets or max(TARGETS, 0 if people is None else most_asked(number_of_people(people)))
    setting = EvaluationSetting(dataset, declared, people, sha256, seed or 0, targets)
    optional = (("--roles", roles), ("--control", control), ("--truth", truth))
    files = {"table": table, "released": released}
    files |= {name: str(path) for name, path in optional if path}
    name = " ".join([defense_name or "", *parameters]).strip()
    options = _options(profiles, defense_name, parameters)
    content = report_content(setting, files, threshold, defense, name, options, releases, seed_chosen=seed is not None)
    about = {
        "original": Path(table).name,
        "release": Path(released).name,
        "date": datetime.now(UTC).date().isoformat(),
        "version": f"tokumei {version()}",
        "seed": str(content.measured.setting.seed),
    }
    write(f"Report on {Path(released).name}", about, report_sections(content, profiles))
    measured = content.measured
    echo(full_verdict(measured))
    echo_each("note", filter(None, (*content.advice, unchecked(content))))
    echo_each("warning", content.warnings)
    echo_each("note", [None if seed is None else seed_words(seed, chosen=True)])
    echo(f"report written to {output}", err=True)
    sys.exit(0 if passes(measured.findings, measured.unknown) else GATE_FAILED)


def _options(profiles: tuple[str, ...], defense: str | None, parameters: tuple[str, ...]) -> str:
    """Options of the command that have no place of their own in the report."""
    import shlex

    given = [("--profile", profile) for profile in profiles]
    given += [("--defense", defense)] if defense is not None else []
    given += [("-p", parameter) for parameter in parameters]
    return "".join(f" {option} {shlex.quote(value)}" for option, value in given)


def _defense(name: str | None, parameters: tuple[str, ...]) -> MicrodataDefense | None:
    from scenarios.commands.defend import named_defense

    if name is None:
        refuse(parameters, "-p gives parameters of --defense; name it")
        return None
    return named_defense(name, given_parameters(parameters))


def _writer(output: str) -> Any:
    """Function that writes the report; a PDF needs the extra `pdf`."""
    from leaderboard.pages.report import render_report
    from metrics.columns import write_atomically

    if Path(output).suffix == ".html":
        return lambda *parts: write_atomically(Path(output), render_report(*parts).encode())
    try:
        from weasyprint import HTML
    except (ImportError, OSError):
        raise ValueError(
            f"-o {output}: needs the extra `pdf` (pip install 'tokumei[pdf]') and Pango; .html needs neither"
        ) from None
    return lambda *parts: write_atomically(Path(output), HTML(string=render_report(*parts)).write_pdf())
