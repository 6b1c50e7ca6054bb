"""``tokumei board``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scenarios.commands.common import (
    NOTHING,
    bad_input,
    check_page,
    db_option,
    echo,
    echo_board,
    format_option,
    html_option,
    matrix_option,
    shows_summary,
    write_page,
    write_report,
    written_board,
    written_summary,
)

if TYPE_CHECKING:
    from leaderboard.promises import Promise
    from leaderboard.result import Result

EPILOG = """\b
Examples:
  tokumei board
  tokumei board bank --matrix
  tokumei board bank --baseline NearestNeighbour
  tokumei board "arena on bank" --full
  tokumei board --summary --format latex > summary.tex
  tokumei board --format csv --db results.db > board.csv
  tokumei board --html board.html
  tokumei board --history Mondrian --html history.html
"""


@click.command(epilog=EPILOG)
@click.argument("scenarios", nargs=-1, metavar="[SCENARIO...]")
@db_option
@format_option
@matrix_option
@html_option
@click.option("--summary", is_flag=True, help="Show utility left at risk, mean ranks and the usefulness of attacks.")
@click.option("--full", is_flag=True, help="Show whole boards where the summary is the default.")
@click.option(
    "--baseline",
    metavar="ATTACK",
    help="Compare the success of every attack with this one, play by play; named as boards show it.",
)
@click.option("--history", "defense", metavar="DEFENSE", help="Show the results of this defense in each recorded run.")
def board(
    scenarios: tuple[str, ...],
    db: str,
    form: str,
    html: Path | None,
    defense: str | None,
    baseline: str | None,
    *,
    matrix: bool,
    summary: bool,
    full: bool,
) -> None:
    """Show the board of stored results, of all scenarios or only those named.

    Several data sets or more than two goals are summarized on the terminal. The summary shows the utility that each
    family of defenses keeps within bounds of the worst advantage, its mean rank, and the usefulness of attacks. --full
    shows the boards.

    An experiment is named alone; its last complete report is then shown.
    """
    with bad_input():
        check_page(html)
    if "://" not in db and not Path(db).exists():
        echo(f"there are no results at {db}; `tokumei run` makes some", err=True)
        sys.exit(NOTHING)
    with bad_input():
        _check_view({"--matrix": matrix, "--summary": summary, "--full": full}, baseline, defense)
    if defense is not None:
        _show_history(defense, scenarios, db, form, html)
        return
    with bad_input():
        results, promises = _stored_results(scenarios, db)
    played = [result for result in results if not result.is_measurement]
    if len(played) < len(results) and (scenarios or not played):
        with bad_input():
            if played:
                raise ValueError("name an experiment alone, since its report is no board")
        _show_reports(scenarios, db, form, html)
        return
    results = played
    if not results:
        echo(f"there are no results at {db}", err=True)
        sys.exit(NOTHING)
    if baseline is not None:
        _show_baseline(baseline, results, db, form, html)
        return
    if summary or (not full and shows_summary(results, form, matrix=matrix)):
        echo_board(written_summary(results, form))
        if not summary:
            echo("--full shows the boards; --summary --format markdown (csv, json, latex) each goal", err=True)
    else:
        echo_board(written_board(results, form, matrix=matrix, promises=promises))
    if html is not None:
        with bad_input():
            write_page(results, html, promises)
        echo(f"page written to {html}", err=True)


def _check_view(boards: dict[str, bool], baseline: str | None, defense: str | None) -> None:
    """Refuse options that show other tables than those of ``--history`` or ``--baseline``."""
    views = {
        "--history": (defense, "shows one defense over runs"),
        "--baseline": (baseline, "compares attacks with one of them"),
    }
    for view, (name, does) in views.items():
        others = {**boards, **{other: value is not None for other, (value, _) in views.items() if other != view}}
        for option in (option for option, given in others.items() if given and name is not None):
            raise ValueError(f"{view} {does}, it takes no {option}")


def _stored_results(scenarios: tuple[str, ...], db: str) -> tuple[list[Result], list[Promise]]:
    """Results of the scenarios named, or of all scenarios, and the promises of their defenses."""
    from leaderboard.promises import stored_promises
    from leaderboard.store import Store
    from scenarios.near_names import suggestion

    with Store(db) as store:
        results = store.results()
        stored = sorted({result.scenario for result in results})
        for name in scenarios:
            if name not in stored:
                raise ValueError(f"there are no results of scenario {name!r}{suggestion(name, stored)}")
        chosen = [result for result in results if not scenarios or result.scenario in scenarios]
        return chosen, stored_promises(store, chosen)


def _show_reports(scenarios: tuple[str, ...], db: str, form: str, html: Path | None) -> None:
    """Show the stored reports of experiments."""
    from leaderboard.store import Store
    from leaderboard.stored_report import stored_reports

    with bad_input(), Store(db) as store:
        reports = stored_reports(store, scenarios)
    if not reports:
        echo(f"no experiment at {db} is complete; `tokumei run` makes the measurements that are missing", err=True)
        sys.exit(NOTHING)
    with bad_input():
        if html is not None and len(reports) > 1:
            raise ValueError("--html: name one experiment")
    for report in reports:
        write_report(report.title, report.about, report.sections, form, html)


def _show_baseline(baseline: str, results: list[Result], db: str, form: str, html: Path | None) -> None:
    """Compare every attack with a baseline."""
    import leaderboard as lb
    from scenarios.boards.shown_names import shown_rows

    with bad_input():
        rows = lb.compare_with_baseline(results, baseline)
    if not rows:
        echo(f"no other attack shares a goal, and two plays or more, with {baseline}", err=True)
        sys.exit(NOTHING)
    records = {"csv": lb.baseline_to_csv, "json": lb.baseline_to_json}
    sections = lb.baseline_sections(shown_rows(rows))
    text = records[form](rows) if form in records else None
    write_report(f"Attacks compared with {baseline}", {"database": db}, sections, form, html, text=text)


def _show_history(defense: str, scenarios: tuple[str, ...], db: str, form: str, html: Path | None) -> None:
    """Report the results of one defense, run by run."""
    import leaderboard as lb

    with bad_input(), lb.Store(db) as store:
        entries = lb.history_of(store, defense)
    entries = [entry for entry in entries if not scenarios or entry.row.scenario in scenarios]
    if not entries:
        echo(f"no run at {db} has results of defense {defense!r}", err=True)
        sys.exit(NOTHING)
    write_report(f"{defense} over runs", {"database": db}, lb.history_report(entries), form, html)
