"""``tokumei compare``."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

import leaderboard as lb
from scenarios.commands.common import (
    FORMATS,
    GATE_FAILED,
    NOTHING,
    REPORT_OPTIONS,
    STORED_NAMES,
    db_option,
    echo,
    echo_board,
    exit_without,
    html_option,
    report_checks,
    write_report_page,
    written,
    written_records,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leaderboard.statistics.comparison import Paces

EPILOG = """\b
Examples:
  tokumei compare main.db branch.db
  tokumei compare 3 4                       runs by number (`tokumei board --history DEFENSE` shows them)
  tokumei compare 1f2e3d4 5a6b7c8           the latest runs of two revisions
  tokumei compare main HEAD                 the same by their names in the git repository around
  tokumei compare main.db branch.db --format markdown > comment.md
  tokumei compare k5.db k2.db --pair "Mondrian k=5" "Mondrian k=2"

\b
Exit codes: 0 nothing got worse, 1 something did, 2 bad input, 4 nothing in common to compare, or too few plays.
"""


@click.command(epilog=EPILOG)
@click.argument("base")
@click.argument("head")
@db_option
@click.option(
    "--pair",
    "pairs",
    nargs=2,
    multiple=True,
    metavar="DEFENSE DEFENSE",
    help="Compare this defense of BASE with that of HEAD (repeatable); named as boards show them.",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    default=0.0,
    show_default=True,
    help="Loss of utility, or gain of success, that is tolerated.",
)
@click.option(
    "--time-tolerance",
    type=click.FloatRange(min=0),
    help="Slowdown that is tolerated, as a share.  [default: 0.05, or 0.5 if the machine's speed is unknown]",
)
@click.option(
    "--level",
    type=click.FloatRange(min=0, max=1, min_open=True, max_open=True),
    default=0.01,
    show_default=True,
    help="Family-wise false-alarm probability over all measures.",
)
@click.option("--all", "everything", is_flag=True, help="Also show measures that did not change.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
@html_option
@REPORT_OPTIONS[0]
@REPORT_OPTIONS[1]
def compare(
    base: str,
    head: str,
    db: str,
    pairs: tuple[tuple[str, str], ...],
    tolerance: float,
    time_tolerance: float | None,
    level: float,
    *,
    everything: bool,
    form: str,
    html: Path | None,
    junit: Path | None,
    annotate: bool,
) -> None:
    """Compare two sets of results, and show whether a change cost utility, privacy or speed.

    BASE and HEAD are each a database (a file or URL) or a run in --db. A run is named by its number or by the revision
    that it played. Of a database, results of earlier versions of a method are left out and named. Only plays that both
    sides have are compared, and only significant changes are shown.

    Defenses are compared with their like: the same method with the same parameters. --pair compares two settings.

    The machine's speed is the common factor in the release times of three or more defenses, if three or more pairs of
    defense and attack agree with it. With fewer defenses it is the common factor in the times of the pairs. If they
    disagree, or a third of the defenses beats a slower machine, no time is corrected. A slowdown beyond that factor by
    more than --time-tolerance is an alarm.
    """
    from leaderboard.statistics.comparison import COUNTED, newly_skipped, paces
    from scenarios.running.boards.board_result import shown_rows

    sides = [_results(name, db) for name in (base, head)]
    allowed = lb.Tolerance(utility=tolerance, success=tolerance, time=time_tolerance)
    changes = lb.compare(*sides, tolerance=allowed, level=level, pairs=pairs)
    if not changes:
        exit_without(_nothing(base, head, sides, pairs))
    listed = [change for change in changes if everything or change.significant]
    pure = form in (*STORED_NAMES, "latex")
    if form in STORED_NAMES:
        echo_board(written_records(lb.change_records(listed), form))
    elif listed or pure:
        echo_board(written([lb.Section("Changes", tables=(lb.change_table(shown_rows(listed)),))], form))
    skipped = newly_skipped(sides[0], sides[1], pairs)
    summary = _summary(changes, paces(*sides), level, lb.plays_needed(changes, level), skipped)
    echo(("\n" if listed else "") + summary, err=pure)
    if html is not None:
        from leaderboard.results.store import without_password

        about = {"base": without_password(base), "head": without_password(head)}
        write_report_page("Comparison of two boards", about, lb.change_sections(shown_rows(changes), summary), html)
    report_checks(lb.change_checks(changes), junit, annotate=annotate)
    if any(change.alarm for change in changes):
        sys.exit(GATE_FAILED)
    sys.exit(0 if any(change.judged and change.measure not in COUNTED for change in changes) else NOTHING)


def _results(name: str, db: str) -> list[lb.Result]:
    """Results of a database, each method in its newest version, or of one run in it."""
    from leaderboard.results.store import without_password
    from scenarios.running.runner import revision_named

    if "://" in name or Path(name).is_file():
        with lb.Store(name) as store:
            results = store.results()
            versions = lb.Versions(store, results)
            for one in versions.earlier(results):
                echo(f"{without_password(name)}: {one}", err=True)
            return versions.current(results)
    if Path(name).suffix in (".db", ".sqlite", ".sqlite3"):
        exit_without(f"there are no results at {name}")
    if "://" not in db and not Path(db).is_file():
        exit_without(f"{name!r} is no file, and there are no runs at {db}")
    with lb.Store(db) as store:
        return lb.results_of(store, lb.find_run(store, name, revision_named(Path.cwd(), name)))


def _nothing(base: str, head: str, sides: Sequence[Sequence[lb.Result]], pairs: Sequence[tuple[str, str]]) -> str:
    """Why there is nothing to compare."""
    from leaderboard.results.setting_names import listed

    for name, results in zip((base, head), sides, strict=True):
        if not results:
            return f"there is nothing to compare: {name} has no results"
    scenarios = [sorted({result.scenario for result in results}) for results in sides]
    if not set(scenarios[0]) & set(scenarios[1]):
        plays = [f"{name} has {', '.join(names)}" for name, names in zip((base, head), scenarios, strict=True)]
        return f"there is nothing to compare: the scenarios differ: {'; '.join(plays)}"
    settings = [sorted({lb.label(one.defense, one.parameters) for one in results}) for results in sides]
    if pairs or set(settings[0]) & set(settings[1]):
        return f"there is nothing to compare: {base} and {head} share fewer than two finished plays of any defense"
    has = [
        f"{name} has {listed((one.defense, one.parameters) for one in results)}"
        for name, results in zip((base, head), sides, strict=True)
    ]
    return (
        f"there is nothing to compare: {base} and {head} have no defense in common: {'; '.join(has)}. Name two to "
        f"compare: --pair {shlex.quote(settings[0][0])} {shlex.quote(settings[1][0])}"
    )


def _summary(
    changes: Sequence[lb.Change], timed: Paces, level: float, needed: int | None, skipped: Mapping[str, int]
) -> str:
    """How many measures got worse or better, which could not be judged, and how the machine's speed was allowed for."""
    from leaderboard.pages.number_text import counted, range_text
    from leaderboard.results.goals import goal_words, in_order

    defenses = {(change.scenario, change.defense, str(change.parameters)) for change in changes}
    worse = sum(change.alarm for change in changes)
    better = sum(change.significant and not change.worse for change in changes)
    lines = [
        f"{counted(len(changes), 'measure')} of {counted(len(defenses), 'defense')} over "
        f"{range_text(change.plays for change in changes)} plays: {worse} worse, {better} better"
        f" (false-alarm probability over all measures {level:g})"
    ]
    unjudged = in_order({change.measure for change in changes if not change.judged})
    if unjudged:
        lines.append(f"too few plays to judge {', '.join(map(goal_words, unjudged))}: {needed} plays would do")
    if skipped:
        lines.append(
            f"{counted(sum(skipped.values()), 'trial')} that ended in the base, skipped in the head and not compared: "
            f"{', '.join(skipped)}"
        )
    if timed.machine is not None or any(change.measure == "time" for change in changes):
        lines += _speed(timed)
    return "\n".join(lines)


def _speed(timed: Paces) -> list[str]:
    """How the machine's speed was allowed for; nothing if it did not change."""
    pace, (releases, attacks) = timed.machine, timed.medians
    if pace is not None:
        everything = f"everything took {pace:.2f} times as long, which is attributed to the machine"
        return [everything] if abs(pace - 1) > 0.02 else []
    if releases is None:
        return ["too few trials were played again to estimate the machine's speed: times are not corrected for it"]
    took = f"releases took {timed.releases[0]:.2f} to {timed.releases[-1]:.2f} times as long"
    if attacks is not None:
        took = f"{took}, the median {releases:.2f} times, and attacks {attacks:.2f} times"
    return [f"{took}: they disagree about the machine's speed, so that times are not corrected for it"]
