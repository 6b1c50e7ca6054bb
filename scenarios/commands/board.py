"""``tokumei board``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import leaderboard as lb
from metrics.columns import refuse
from scenarios.commands.common import (
    STORED_NAMES,
    db_option,
    echo,
    echo_earlier,
    echo_with_earlier,
    exit_without,
    format_option,
    html_option,
    matrix_option,
    shows_summary,
    write_page,
    write_report,
    written_board,
    written_records,
    written_summary,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


EPILOG = """\b
Examples:
  tokumei board
  tokumei board bank --matrix
  tokumei board bank -d "Mondrian k=5" -a NearestNeighbour -a LikelihoodAssignment
  tokumei board bank --baseline NearestNeighbour
  tokumei board bank --baseline NearestNeighbour --by-defense
  tokumei board "arena on bank" --full
  tokumei board --summary --format latex > summary.tex
  tokumei board --format csv --db results.db > board.csv
  tokumei board --html board.html
  tokumei board --history Mondrian --html history.html
"""


@click.command(epilog=EPILOG)
@click.argument("scenarios", nargs=-1, metavar="[SCENARIO...]")
@db_option
@click.option(
    "-d",
    "--defense",
    "defenses",
    multiple=True,
    help="Show only this defense (repeatable), by its name or as 'Mondrian k=5'.",
)
@click.option("-a", "--attack", "attacks", multiple=True, help="Show only this attack (repeatable).")
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
@click.option("--by-defense", is_flag=True, help="With --baseline: compare on each defense alone.")
@click.option(
    "--history",
    metavar="DEFENSE",
    help="Show this defense, named as boards show it, in each recorded run.",
)
def board(
    scenarios: tuple[str, ...],
    db: str,
    defenses: tuple[str, ...],
    attacks: tuple[str, ...],
    form: str,
    html: Path | None,
    history: str | None,
    baseline: str | None,
    *,
    by_defense: bool,
    matrix: bool,
    summary: bool,
    full: bool,
) -> None:
    """Show the board of stored results, of all scenarios or only those named.

    Several data sets or more than two goals are summarized on the terminal. The summary shows the utility that each
    family of defenses keeps within bounds of the worst advantage, its mean rank, and the usefulness of attacks. --full
    shows the boards.

    Of each defense and each attack, only results of its newest version are shown. The same holds for the seed, the data
    and the game of a scenario. A table names the results of earlier ones.

    An experiment is named alone; its last complete report is then shown.
    """
    if "://" not in db and not Path(db).exists():
        exit_without(f"there are no results at {db}; `tokumei run` makes some")
    refuse(by_defense and baseline is None, "--by-defense: goes with --baseline ATTACK")
    chosen = {"--defense": bool(defenses), "--attack": bool(attacks)}
    _check_view({"--matrix": matrix, "--summary": summary, "--full": full}, chosen, baseline, history)
    if history is not None:
        _show_history(history, scenarios, db, form, html)
        return
    # The baseline stays if others are named.
    named = (*attacks, baseline) if attacks and baseline is not None else attacks
    stored = _stored_board(scenarios, db, defenses, named)
    if stored is None:
        _show_reports(scenarios, db, form, html)
        return
    if not stored.results:
        echo_earlier(stored.earlier)
        exit_without(f"there are no results at {db}")
    if baseline is not None:
        _show_baseline(baseline, stored, db, form, html, by_defense=by_defense)
        return
    results = stored.results
    if summary or (not full and shows_summary(results, form, matrix=matrix)):
        echo_with_earlier(written_summary(results, form), stored.earlier, form)
        if not summary:
            echo("--full shows the boards; --summary --format markdown (csv, json, latex) each goal", err=True)
    else:
        echo_with_earlier(
            written_board(results, form, matrix=matrix, guarantees=stored.guarantees), stored.earlier, form
        )
    if html is not None:
        write_page(results, html, stored.guarantees, stored.earlier)
        echo(f"page written to {html}", err=True)


def _check_view(boards: dict[str, bool], chosen: dict[str, bool], baseline: str | None, history: str | None) -> None:
    """Refuse options that show other tables than those of ``--history`` or ``--baseline``."""
    views = {
        "--history": (history, "shows one defense over runs", {**boards, **chosen}),
        "--baseline": (baseline, "compares attacks with one of them", boards),
    }
    for view, (name, does, excluded) in views.items():
        others = {**excluded, **{other: value is not None for other, (value, *_) in views.items() if other != view}}
        taken = next((option for option, given in others.items() if given), None)
        refuse(name is not None and taken, f"{view} {does}, it takes no {taken}")


def _stored_board(
    scenarios: tuple[str, ...], db: str, defenses: Sequence[str], attacks: Sequence[str]
) -> lb.StoredBoard | None:
    """Board of the scenarios named, or of all scenarios; None if reports of experiments are to be shown instead."""
    from scenarios.tables.near_names import suggestion

    with lb.Store(db) as store:
        results = store.results()
        names = sorted({result.scenario for result in results})
        for name in scenarios:
            refuse(name not in names, f"there are no results of scenario {name!r}{suggestion(name, names)}")
        wanted = [result for result in results if not scenarios or result.scenario in scenarios]
        played = [result for result in wanted if not result.is_measurement]
        if len(played) < len(wanted) and (scenarios or not played):
            refuse(played, "name an experiment alone, since its report is no board")
            for option, given in (("--defense", defenses), ("--attack", attacks)):
                refuse(given, f"{option}: chooses from a board, and an experiment has a report of its own")
            return None
        return lb.stored_board(store, played, defenses=defenses, attacks=attacks)


def _show_reports(scenarios: tuple[str, ...], db: str, form: str, html: Path | None) -> None:
    """Show the stored reports of experiments."""
    from leaderboard.pages.report import stored_reports

    with lb.Store(db) as store:
        reports = stored_reports(store, scenarios)
    if not reports:
        exit_without(f"no experiment at {db} is complete; `tokumei run` makes the measurements that are missing")
    refuse(html is not None and len(reports) > 1, "--html: name one experiment")
    for report in reports:
        write_report(report.title, report.about, report.sections, form, html)


def _show_baseline(
    baseline: str, stored: lb.StoredBoard, db: str, form: str, html: Path | None, *, by_defense: bool
) -> None:
    """Compare every attack with a baseline."""
    from scenarios.running.boards.board_result import shown_rows

    in_text = form in ("table", "markdown")
    rows = lb.compare_with_baseline(stored.results, baseline, by_defense=by_defense)
    if not rows or not in_text:
        echo_earlier(stored.earlier)
    if not rows:
        exit_without(f"no other attack shares a goal, and two plays or more, with {baseline}")
    sections = lb.baseline_sections(shown_rows(rows))
    with_earlier = [*sections, *lb.earlier_sections(stored.earlier)]
    text = written_records(lb.baseline_records(rows), form) if form in STORED_NAMES else None
    shown = with_earlier if in_text else sections
    write_report(f"Attacks compared with {baseline}", {"database": db}, shown, form, html, page=with_earlier, text=text)


def _show_history(defense: str, scenarios: tuple[str, ...], db: str, form: str, html: Path | None) -> None:
    """Report the results of one defense, run by run."""
    with lb.Store(db) as store:
        entries = lb.history_of(store, defense)
    entries = [entry for entry in entries if not scenarios or entry.row.scenario in scenarios]
    if not entries:
        exit_without(f"no run at {db} has results of defense {defense!r}")
    write_report(f"{defense} over runs", {"database": db}, lb.history_report(entries), form, html)
