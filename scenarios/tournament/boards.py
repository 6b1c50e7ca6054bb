"""Boards of a tournament: standings, chart, and the matrix of tables and attackers."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import leaderboard as lb
from leaderboard.board import ranked
from leaderboard.goals import goal_words
from leaderboard.result import Result
from leaderboard.version import version
from metrics.files import PRIVATE
from scenarios.descriptions import one_liners
from scenarios.tournament.folder import PUBLIC, Tournament, write_whole
from scenarios.tournament.incidents import tournament_incidents
from scenarios.tournament.scoring import BASELINE
from scenarios.tournament.standings import Standing, standings

COLUMNS = ("rank", "team", "defense_rank", "defense", "attack_rank", "attack")
MOST_ATTACKERS = 30
"""Number of teams whose attacks the page shows; the matrix of 200 teams would take 23 MB."""
_DETAILS = ("utility", "utility_table", "utility_record", "worst_attack", "worst_goal", "worst_success", "attacked")


def standings_csv(ordered: Sequence[Standing]) -> str:
    """Standings as CSV; a missing value is an empty field."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*COLUMNS, *_DETAILS))
    for one in ordered:
        worst = one.worst
        outcomes = ("", "", "") if worst is None else (worst.attacker, goal_words(worst.goal), _rounded(worst.success))
        utilities = map(_rounded, (one.utility, one.utility_table, one.utility_record))
        ranks = (one.rank, one.team, one.defense_rank, _rounded(one.defense), one.attack_rank, _rounded(one.attack))
        writer.writerow((*ranks, *utilities, *outcomes, one.attacked))
    return text.getvalue()


def standings_table(ordered: Sequence[Standing]) -> lb.Table:
    """Standings as a table of a report."""
    rows = [
        (
            *(one.rank, one.team, one.defense, one.utility, one.utility_table, one.utility_record),
            "–" if one.worst is None else f"{one.worst.attacker} ({goal_words(one.worst.goal)})",
            *(None if one.worst is None else one.worst.success, one.attack, one.attacked),
        )
        for one in ordered
    ]
    columns = (
        "#",
        "team",
        "defense",
        "utility",
        "of table",
        "of records",
        "worst attack",
        "success",
        "attack",
        "tables",
    )
    note = (
        "Defense = utility x (1 - advantage of the worst attack). Utility is the smaller one of table and records. "
        "Attack is the mean advantage over the other teams' tables. # is the rank by the sum of the ranks in defense "
        "and attack."
    )
    return lb.Table("Teams", columns, rows, 3, note)


def write_boards(tournament: Tournament, full: Sequence[Result], public: Sequence[Result], share: float) -> None:
    """Write the host's boards over all rows, and the public boards over the public share of the rows.

    Parameters
    ----------
    tournament : Tournament
        The tournament.
    full, public : sequence of Result
        Scores over all rows, and over the rows that count in public.
    share : float
        Share of the rows that count in public.
    """
    teams = tournament.settings.teams
    for folder, results, part in ((tournament.host, full, 1.0), (tournament.public, public, share)):
        ordered = standings(teams, results)
        about = {"teams": str(len(teams)), "version": f"tokumei {version()}"}
        if part < 1:
            about["rows that count"] = f"{part:.0%} until the tournament closes"
        section = lb.Section("Standings", tables=(standings_table(ordered),))
        pages = {
            "standings.csv": standings_csv(ordered),
            "standings.html": lb.render_report(tournament.settings.title, about, (section,)),
            "matrix.csv": lb.matrix_to_csv(lb.matrix(results)),
        }
        if results:
            pages["board.html"] = _page(ordered, results, about)
        for name, text in pages.items():
            write_whole(folder / name, text.encode(), mode=PRIVATE if folder == tournament.host else PUBLIC)


def write_host_report(tournament: Tournament, ordered: Sequence[Standing], now: datetime) -> lb.Table:
    """Write the host's report, with the standings and the downtime by failures, and return the latter's table."""
    table = lb.downtime_table(tournament_incidents(tournament), now)
    sections = (
        lb.Section("Standings", tables=(standings_table(ordered),)),
        lb.Section(
            "Failures",
            (
                "A refused file has been wrong since it was written. It is repaired by the team's next accepted file. "
                "Its team had no valid table, or an older one, in the meantime.",
            ),
            (table,),
        ),
    )
    about = {"teams": str(len(tournament.settings.teams)), "version": f"tokumei {version()}"}
    page = lb.render_report(tournament.settings.title, about, sections)
    write_whole(tournament.host / "report.html", page.encode(), mode=PRIVATE)
    return table


def _page(ordered: Sequence[Standing], results: Sequence[Result], about: Mapping[str, str]) -> str:
    """HTML page of the board, with teams as defenses, and teams and baselines as attacks."""
    by_team = {one.team: one for one in ordered}
    about, pairs = dict(about), lb.matrix(results)
    best = sorted((one for one in ordered if one.attacked), key=lambda one: (one.attack_rank, one.team))
    if len(best) > MOST_ATTACKERS:
        listed = {one.team for one in best[:MOST_ATTACKERS]}
        pairs = [pair for pair in pairs if pair.attack in listed or str(pair.attack).startswith(BASELINE)]
        about["attackers shown"] = (
            f"the baselines and the best {MOST_ATTACKERS} of {len(best)} teams; matrix.csv has all"
        )
    rows = [_as_scored(row, by_team[row.defense]) for row in lb.rank(results)]
    one_line = one_liners({str(result.attack).removeprefix(BASELINE) for result in results if result.attack})
    descriptions = {BASELINE + name: text for name, text in one_line.items()}
    return lb.render_page(ranked(rows), pairs, about, descriptions)


def _as_scored(row: lb.Row, standing: Standing) -> lb.Row:
    """A row of the board with the tournament's own choice of the worst attack.

    A tournament is one play, and a row is complete without the attacks that no team submitted.
    """
    row = replace(row, plays=1, complete=True)
    worst = standing.worst
    if worst is None:
        return row
    return replace(
        row,
        worst_attack=worst.attacker,
        goal=worst.goal,
        success=worst.success,
        success_low=None,
        success_high=None,
        chance=worst.chance,
        advantage=worst.advantage,
        score=standing.defense,
    )


def _rounded(value: float | None) -> float | str:
    return "" if value is None else round(value, 6) + 0.0
