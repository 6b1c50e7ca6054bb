"""What a tournament shows: standings, the picture, and each table against each attacker."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import metadata

import leaderboard as lb
from leaderboard.board import ranked
from leaderboard.goals import goal_words
from leaderboard.result import Result
from scenarios.descriptions import one_liners
from scenarios.tournament.folder import PRIVATE, PUBLIC, Tournament, write_whole
from scenarios.tournament.scoring import BASELINE
from scenarios.tournament.standings import Standing, standings

COLUMNS = ("rank", "team", "defense_rank", "defense", "attack_rank", "attack")
MOST_ATTACKERS = 30
"""Teams whose attacks the page shows; the matrix of 200 teams would be 23 MB."""
_DETAILS = ("utility", "utility_table", "utility_record", "worst_attack", "worst_goal", "worst_success", "attacked")


def standings_csv(found: Sequence[Standing]) -> str:
    """Standings as CSV; what is missing is an empty field."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*COLUMNS, *_DETAILS))
    for one in found:
        worst = one.worst
        outcomes = ("", "", "") if worst is None else (worst.attacker, goal_words(worst.goal), _rounded(worst.success))
        utilities = map(_rounded, (one.utility, one.utility_table, one.utility_record))
        ranks = (one.rank, one.team, one.defense_rank, _rounded(one.defense), one.attack_rank, _rounded(one.attack))
        writer.writerow((*ranks, *utilities, *outcomes, one.attacked))
    return text.getvalue()


def standings_table(found: Sequence[Standing]) -> lb.Table:
    """Standings for people."""
    rows = [
        (
            *(one.rank, one.team, one.defense, one.utility, one.utility_table, one.utility_record),
            "–" if one.worst is None else f"{one.worst.attacker} ({goal_words(one.worst.goal)})",
            *(None if one.worst is None else one.worst.success, one.attack, one.attacked),
        )
        for one in found
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
        "defense = utility x (1 - advantage of the worst attack); utility: the smaller of both; attack: mean advantage "
        "over the other teams' tables; #: by the sum of the ranks in defense and attack"
    )
    return lb.Table("Teams", columns, rows, 3, note)


def write_boards(tournament: Tournament, full: Sequence[Result], shown: Sequence[Result], share: float) -> None:
    """Write the host's boards, and everybody's with what may be shown.

    Parameters
    ----------
    tournament : Tournament
        Which.
    full, shown : sequence of Result
        Scores over all rows, and over those that count in public.
    share : float
        Share of the rows that count in public.
    """
    teams = tournament.settings.teams
    for folder, results, part in ((tournament.host, full, 1.0), (tournament.public, shown, share)):
        found = standings(teams, results)
        about = {"teams": str(len(teams)), "version": f"tokumei {metadata.version('tokumei')}"}
        if part < 1:
            about["rows that count"] = f"{part:.0%}, until the close"
        section = lb.Section("Standings", tables=(standings_table(found),))
        pages = {
            "standings.csv": standings_csv(found),
            "standings.html": lb.render_report(tournament.settings.title, about, (section,)),
            "matrix.csv": lb.matrix_to_csv(lb.matrix(results)),
        }
        if results:
            pages["board.html"] = _page(found, results, about)
        for name, text in pages.items():
            write_whole(folder / name, text.encode(), mode=PRIVATE if folder == tournament.host else PUBLIC)


def _page(found: Sequence[Standing], results: Sequence[Result], about: Mapping[str, str]) -> str:
    """The board's page: each team a defense, each team and each baseline attack an attack."""
    places = {one.team: one for one in found}
    about, pairs = dict(about), lb.matrix(results)
    best = sorted((one for one in found if one.attacked), key=lambda one: (one.attack_rank, one.team))
    if len(best) > MOST_ATTACKERS:
        kept = {one.team for one in best[:MOST_ATTACKERS]}
        pairs = [pair for pair in pairs if pair.attack in kept or str(pair.attack).startswith(BASELINE)]
        about["attackers shown"] = (
            f"the baselines and the best {MOST_ATTACKERS} of {len(best)} teams; matrix.csv has all"
        )
    rows = [_as_scored(row, places[row.defense]) for row in lb.rank(results)]
    described = one_liners({str(result.attack).removeprefix(BASELINE) for result in results if result.attack})
    named = {BASELINE + name: text for name, text in described.items()}
    return lb.render_page(ranked(rows), pairs, about, named)


def _as_scored(row: lb.Row, standing: Standing) -> lb.Row:
    """A row of the board with the tournament's own choice of the worst attack.

    A tournament is one play, and a row is whole without the attacks that nobody handed in.
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
