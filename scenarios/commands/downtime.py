"""``tokumei downtime``."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from pathlib import Path

import click

import leaderboard as lb
from metrics.columns import refuse
from scenarios.commands.common import FORMATS, db_option, echo_board, exit_without, report_writers

EPILOG = """\b
Examples:
  tokumei downtime                                  failed trials of tokumei.db
  tokumei downtime --tournament cup --hourly-cost 12000
"""


@click.command(epilog=EPILOG)
@db_option
@click.option(
    "--tournament", "folder", type=click.Path(file_okay=False, path_type=Path), help="Folder of a tournament."
)
@click.option("--hourly-cost", type=click.FloatRange(min=0), help="Cost of an hour of downtime, in any currency.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
def downtime(db: str, folder: Path | None, hourly_cost: float | None, form: str) -> None:
    """Show how long results or submissions were missing because of failures, and what that cost.

    Downtime is incidents x (time to detection + time to repair). Incidents are failed trials in the database's log. A
    tournament adds refused files and failed scorings.
    """
    refuse(
        hourly_cost is not None and not math.isfinite(hourly_cost),
        f"--hourly-cost must be a finite number of at least 0, got {hourly_cost}",
    )
    if folder is None and "://" not in db and not Path(db).exists():
        exit_without(f"there are no results at {db}; `tokumei run` makes some")
    incidents = []
    if "://" in db or Path(db).exists():
        with lb.Store(db) as store:
            incidents += lb.recorded_incidents(store)
    if folder is not None:
        from scenarios.tournament.rules.folder import Tournament
        from scenarios.tournament.rules.incidents import tournament_incidents

        incidents += tournament_incidents(Tournament(folder))
    table = lb.downtime_table(incidents, datetime.now(UTC), hourly_cost)
    echo_board(report_writers()[form]((lb.Section("Failures", tables=(table,)),)))
