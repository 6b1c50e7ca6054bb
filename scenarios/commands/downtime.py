"""``tokumei downtime``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import click

import leaderboard as lb
from metrics.columns import refuse, require
from scenarios.commands.common import FORMATS, db_option, echo_board, exit_without, written

EPILOG = """\b
Examples:
  tokumei downtime                                  failed trials of tokumei.db
  tokumei downtime --tournament cup --hourly-cost 12000
  tokumei downtime --incidents incidents.csv --people 2,4000,0.25 --people 10,5000,0.2 --reduction 0.2
"""
TIMES, HOURS = ("began", "found", "repaired"), ("number", "detection", "repair")


def _people(ctx: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> list[tuple[float, float, float]]:
    """Groups of people whom downtime costs time: their number, wage in an hour, and share of the time."""
    groups = []
    for text in texts:
        try:
            number, wage, share = map(float, text.split(","))
        except ValueError:
            words = "must be three numbers, such as 10,5000,0.2: people, wage in an hour, share of the time"
            raise click.BadParameter(f"{text!r} {words}") from None
        if not (0 <= number < math.inf and 0 <= wage < math.inf and 0 <= share <= 1):
            words = "people and wage must be finite and at least 0, the share must lie between 0 and 1"
            raise click.BadParameter(f"{text!r}: {words}")
        groups.append((number, wage, share))
    return groups


@click.command(epilog=EPILOG)
@db_option
@click.option(
    "--tournament", "folder", type=click.Path(file_okay=False, path_type=Path), help="Folder of a tournament."
)
@click.option(
    "--incidents",
    "files",
    type=click.Path(dir_okay=False, path_type=Path),
    multiple=True,
    help="CSV file of further incidents, such as those that users report: incident, began, found, repaired (times); or "
    "incident, number, detection, repair (hours). May be repeated.",
)
@click.option(
    "--hourly-cost",
    type=click.FloatRange(min=0),
    help="Cost of an hour of downtime, in any currency; with --people, what it costs beside their wages.",
)
@click.option(
    "--people",
    callback=_people,
    metavar="N,WAGE,SHARE",
    multiple=True,
    help="People whom downtime costs time: their number, wage in an hour, and share of the downtime. May be repeated.",
)
@click.option(
    "--reduction", type=click.FloatRange(0, 1), help="Share of the downtime that might be saved, to show what it costs."
)
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
def downtime(
    db: str,
    folder: Path | None,
    files: tuple[Path, ...],
    hourly_cost: float | None,
    people: list[tuple[float, float, float]],
    reduction: float | None,
    form: str,
) -> None:
    """Show how long results or submissions were missing because of failures, and what that cost.

    Downtime is incidents x (time to detection + time to repair). Incidents are failed trials in the database's log, and
    those of a file. A tournament adds refused files and failed scorings.
    """
    refuse(
        hourly_cost is not None and not math.isfinite(hourly_cost),
        f"--hourly-cost must be a finite number of at least 0, got {hourly_cost}",
    )
    cost = lb.hourly_cost(people, hourly_cost or 0.0) if people or hourly_cost is not None else None
    refuse(reduction is not None and cost is None, "--reduction needs the cost of an hour: --people or --hourly-cost")
    stored = "://" in db or Path(db).exists()
    if folder is None and not files and not stored:
        exit_without(f"there are no results at {db}; `tokumei run` makes some")
    incidents = [incident for path in files for incident in incidents_in_file(path)]
    if stored:
        with lb.Store(db) as store:
            incidents += lb.recorded_incidents(store)
    if folder is not None:
        from scenarios.tournament.rules import Tournament, tournament_incidents

        incidents += tournament_incidents(Tournament(folder))
    now = datetime.now(UTC)
    costs = [] if cost is None else [lb.downtime_cost_table(incidents, now, cost, reduction)]
    echo_board(written([lb.Section("Failures", tables=(lb.downtime_table(incidents, now), *costs))], form))


def incidents_in_file(path: Path) -> list[lb.Incident]:
    """Incidents of a CSV file, a row each: what failed, and its times or its hours to detection and to repair.

    Raises ValueError if a column is unknown or missing, a time or number cannot be read, hours are negative, or an
    incident ends before it begins; the message names file, row and column.
    """
    from scenarios.tables import read_bytes
    from scenarios.tables.reading import read_text_table

    columns = read_text_table(path, read_bytes(path), released=True).columns
    given = {name: column.text_values() for name, column in columns.items()}
    known = [("incident", *TIMES), ("incident", *HOURS), ("incident", *HOURS[1:])]
    wanted = " or ".join(", ".join(names) for names in known[:2])
    require(set(given) in map(set, known), f"{path}: has the columns {', '.join(given)}; they must be {wanted}")
    rows = zip(*given.values(), strict=True)
    return [_incident(dict(zip(given, row, strict=True)), f"{path}, row {i}") for i, row in enumerate(rows, 1)]


def _incident(fields: Mapping[str, str | None], place: str) -> lb.Incident:
    """The incident of a row, which `place` names."""
    kind = fields["incident"]
    require(kind, f"{place}, column 'incident': names nothing; write what failed")
    if "began" not in fields:
        number, detection, repair = (_number(fields.get(name, "1"), f"{place}, column {name!r}") for name in HOURS)
        return lb.Incident.lasting(str(kind), detection, repair, number)
    began, found = (_time(fields[name], f"{place}, column {name!r}") for name in TIMES[:2])
    text = fields["repaired"]
    repaired = None if text is None else _time(text, f"{place}, column 'repaired'")
    require(began <= found, f"{place}: is found before it began")
    refuse(repaired is not None and repaired < found, f"{place}: is repaired before it is found")
    return lb.Incident(str(kind), began, found, repaired)


def _number(text: str | None, place: str) -> float:
    try:
        number = float(text or "")
    except ValueError:
        number = math.nan
    require(0 <= number < math.inf, f"{place}: must be a number of at least 0")
    return number


def _time(text: str | None, place: str) -> datetime:
    """A time in the machine's zone, unless it names another."""
    try:
        return datetime.fromisoformat(text or "").astimezone()
    except (ValueError, OverflowError, OSError):
        raise ValueError(f"{place}: must be a time such as 2027-05-31 09:30") from None
