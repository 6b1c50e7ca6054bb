"""``tokumei rank``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from metrics.columns import refuse
from scenarios.commands.common import (
    FAILED_TRIALS,
    BadInput,
    check_page,
    db_option,
    echo_each,
    ending_if_interrupted,
    format_option,
    html_option,
    reading_options,
    roles_option,
    suppressed_option,
    write_report,
)

if TYPE_CHECKING:
    from scenarios.assessment.evaluation.ranking import RankedRelease, UnreadRelease

EPILOG = """\b
Examples:
  tokumei rank people.csv releases/*.csv --roles roles.toml --baseline
  tokumei rank people.csv synthetic.csv masked.csv --roles roles.toml --control others.csv --html rank.html
  tokumei rank people.csv releases/*.csv --roles roles.toml --format json > rank.json
"""


@click.command(epilog=EPILOG)
@click.argument("table")
@click.argument("releases", nargs=-1, metavar="RELEASE...")
@roles_option
@reading_options
@suppressed_option
@click.option("--control", help="People of the same population who were not in TABLE, with the same columns.")
@click.option("--baseline", is_flag=True, help="Add releases of built-in defenses of the same table.")
@click.option(
    "--targets", type=click.IntRange(min=1), default=500, show_default=True, help="People whom attacks are about."
)
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of all random draws.")
@click.option(
    "-j", "--jobs", type=click.IntRange(min=1), help="Number of worker processes.  [default: number of cores]"
)
@db_option
@html_option
@format_option
@click.option("--quiet", is_flag=True, help="Show no progress.")
def rank(
    table: str,
    releases: tuple[str, ...],
    roles: Path | None,
    control: str | None,
    targets: int,
    seed: int,
    jobs: int | None,
    db: str,
    html: Path | None,
    form: str,
    *,
    baseline: bool,
    quiet: bool,
    reading: dict[str, Any],
) -> None:
    """Rank finished releases of TABLE, from whatever tool, by utility and by what attacks find out.

    A RELEASE is a CSV or Parquet file. Its columns may have any order, and some may be missing. Rows may be shuffled,
    fewer, more or synthetic. Cells may be intervals ([20,29]), sets ({a|b}) or * (suppressed).

    With --control, attacks on people who were not in TABLE give the chance level. Without it, less can be measured, and
    the notes say what. Without --roles, texts that differ in every record are refused.

    Results are stored: the same command goes on where it was interrupted. Exit code 3 says that a release failed.
    """
    from leaderboard.results.store import Store
    from scenarios.assessment.evaluation.control_people import read_tables
    from scenarios.assessment.evaluation.evaluation_setting import EvaluationSetting
    from scenarios.assessment.evaluation.ranking import Ranking, baseline_releases, ranking_sections
    from scenarios.running.display import Display
    from scenarios.running.workers import cores, start_server
    from scenarios.tables import table_notes, text_notes

    display = Display(quiet=quiet)
    workers = jobs or cores()
    check_page(html)
    refuse(not releases and not baseline, "name at least one release, or --baseline")
    if workers > 1:
        start_server()
    dataset, declared, people, sha256 = read_tables(table, roles, reading, control)
    setting = EvaluationSetting(dataset, declared, people, sha256, seed, targets)
    notes = table_notes(dataset)
    files, failed = _read_files(releases)
    if baseline:
        built_in, refused = baseline_releases(dataset, seed)
        files += built_in
        notes += text_notes(refused)
    display.say_notes(notes)
    with Store(db) as store, ending_if_interrupted(display.say, "goes on where it was"):
        lines = Ranking(setting, store, workers).ranked(files, display.say)
    lines += failed
    reasons = [line.reason for line in lines if line.evaluation is None]
    if len(reasons) == len(lines):
        echo_each("Error", reasons[:-1])
        raise BadInput(reasons[-1])
    about = {"table": Path(table).name, "control": Path(control).name if control else "none", "seed": str(seed)}
    guarantees = [file.guarantee for file in files if file.guarantee is not None]
    page = ranking_sections(lines, full=True, guarantees=guarantees) if html is not None else None
    sections = ranking_sections(lines, full=form != "table", guarantees=guarantees)
    write_report(f"Finished releases of {dataset.name}", about, sections, form, html, page)
    echo_each("failed", reasons)
    sys.exit(FAILED_TRIALS if reasons else 0)


def _read_files(paths: tuple[str, ...]) -> tuple[list[UnreadRelease], list[RankedRelease]]:
    """Content of the files, and lines for those that cannot be read."""
    from scenarios.assessment.evaluation.ranking import RankedRelease, UnreadRelease
    from scenarios.tables.toml.toml_file import read_bytes

    for path in paths:
        refuse(paths.count(path) > 1, f"{path} is named twice")
    files, failed = [], []
    for path in paths:
        try:
            files.append(UnreadRelease(path, read_bytes(Path(path))))
        except (ValueError, OSError) as error:
            failed.append(RankedRelease(path, None, str(error)))
    return files, failed
