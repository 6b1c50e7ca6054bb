"""``tokumei compare``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scenarios.commands.common import FORMATS, NOTHING, bad_input, db_option, echo_board

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leaderboard.comparison import Change
    from leaderboard.result import Result

GATE_FAILED = 1
EPILOG = """\b
Examples:
  tokumei compare main.db branch.db
  tokumei compare 3 4                       runs by number (`tokumei board --history DEFENSE` shows them)
  tokumei compare 1f2e3d4 5a6b7c8           the latest runs of two revisions
  tokumei compare main HEAD                 the same by their names in the git repository around
  tokumei compare main.db branch.db --format markdown > comment.md

\b
Exit codes: 0 nothing got worse, 1 something did, 2 bad input, 4 nothing in common to compare.
"""


@click.command(epilog=EPILOG)
@click.argument("base")
@click.argument("head")
@db_option
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    default=0.0,
    show_default=True,
    help="Worsening of utility or success that is let pass.",
)
@click.option(
    "--time-tolerance",
    type=click.FloatRange(min=0),
    help="Slowing down that is let pass, as a share; otherwise 0.05, or 0.5 where nothing tells the machine's pace.",
)
@click.option(
    "--level",
    type=click.FloatRange(min=0, max=1, min_open=True, max_open=True),
    default=0.01,
    show_default=True,
    help="Chance of any false alarm among all measures.",
)
@click.option("--all", "everything", is_flag=True, help="Show what did not change, too.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
def compare(
    base: str,
    head: str,
    db: str,
    tolerance: float,
    time_tolerance: float | None,
    level: float,
    *,
    everything: bool,
    form: str,
) -> None:
    """Compare two sets of results, to see whether a change cost utility, privacy or speed.

    BASE and HEAD are each a database (a file or URL), or a run in --db: its number, or the revision it was played on.
    Shown is what changed by more than chance explains; only plays that both sides have are compared. The machine's pace
    is what the releases of three or more defenses have in common, or else the trials of three or more pairs of defense
    and attack; a speed that is worse by more than --time-tolerance beside it is an alarm.
    """
    import leaderboard as lb

    with bad_input():
        sides = [_results(base, db), _results(head, db)]
        allowed = lb.Tolerance(utility=tolerance, success=tolerance, time=time_tolerance)
        changes = lb.compare(*sides, tolerance=allowed, level=level)
    if not changes:
        click.echo(_nothing(base, head, sides), err=True)
        sys.exit(NOTHING)
    shown = [change for change in changes if everything or change.significant]
    writers = {
        "table": lb.changes_to_terminal,
        "markdown": lb.changes_to_markdown,
        "csv": lb.changes_to_csv,
        "json": lb.changes_to_json,
    }
    if shown or form in ("csv", "json"):
        echo_board(writers[form](shown))
    summary = _summary(changes, lb.pace(*sides), level)
    click.echo(("\n" if shown else "") + summary, err=form in ("csv", "json"))
    sys.exit(GATE_FAILED if any(change.alarm for change in changes) else 0)


def _results(name: str, db: str) -> list[Result]:
    """Results of a database, or of a run in one."""
    from leaderboard.runs import find_run, results_of
    from leaderboard.store import Store
    from scenarios.running.provenance import revision_named

    if "://" in name or Path(name).is_file():
        with Store(name) as store:
            return store.results()
    if Path(name).suffix in (".db", ".sqlite", ".sqlite3"):
        click.echo(f"there are no results at {name}", err=True)
        sys.exit(NOTHING)
    if "://" not in db and not Path(db).is_file():
        click.echo(f"{name!r} is no file, and there are no runs at {db}", err=True)
        sys.exit(NOTHING)
    with Store(db) as store:
        return results_of(store, find_run(store, name, revision_named(Path.cwd(), name)))


def _nothing(base: str, head: str, sides: Sequence[Sequence[Result]]) -> str:
    for name, results in zip((base, head), sides, strict=True):
        if not results:
            return f"there is nothing to compare: {name} has no results"
    return f"there is nothing to compare: {base} and {head} have no defense in common with two plays or more that ended"


def _summary(changes: Sequence[Change], pace: float | None, level: float) -> str:
    defenses = {(change.scenario, change.defense, str(change.parameters)) for change in changes}
    worse = sum(change.alarm for change in changes)
    better = sum(change.significant and not change.worse for change in changes)
    plays = sorted({change.plays for change in changes})
    lines = [
        f"{len(changes)} measures of {len(defenses)} defenses over {plays[0]}"
        f"{'' if len(plays) == 1 else f' to {plays[-1]}'} plays: {worse} worse, {better} better"
        f" (chance of any false alarm {level:g})"
    ]
    if pace is not None and abs(pace - 1) > 0.02:
        lines.append(f"everything took {pace:.2f} times as long, which is taken for the machine's pace")
    if pace is None and any(change.measure == "time" for change in changes):
        lines.append("too little was played anew to tell the machine's pace: times are those of a clock")
    return "\n".join(lines)
