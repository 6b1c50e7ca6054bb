"""Boards of a tournament: standings, chart, and the matrix of tables and attackers."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import leaderboard as lb
from leaderboard.pages.report import Section, Table
from leaderboard.results.goals import goal_words
from leaderboard.results.result import FAILURES, Result
from leaderboard.results.version import version
from leaderboard.statistics.board import ranked
from metrics.columns import PRIVATE
from scenarios.running.methods.descriptions import one_liners
from scenarios.tournament.rules.folder import PUBLIC, Tournament, write_whole
from scenarios.tournament.rules.incidents import tournament_incidents
from scenarios.tournament.rules.log import LogEntry
from scenarios.tournament.rules.scoring import BASELINE, WAITING
from scenarios.tournament.rules.settings import Phase
from scenarios.tournament.rules.standings import AttackOutcome, Standing, standings

# CSV files that spreadsheets may open: no cell becomes a formula.

SEPARATORS = ",;\t"
"""What separates cells in one country or another."""
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def neutralized(cell: Any, separator: str = ",") -> Any:
    """A cell that no spreadsheet takes for a formula: texts that begin like one get an apostrophe in front.

    Numbers stay as they are. So that a spreadsheet with other habits finds no formula either, the same holds behind a
    line break and behind the separators that the file does not use.

    Parameters
    ----------
    cell : object
        The cell.
    separator : str
        Separator of the file.

    Examples
    --------
    >>> neutralized("=1+1"), neutralized("-5"), neutralized(-5), neutralized("kyoto"), neutralized("x;=1+1")
    ("'=1+1", '-5', -5, 'kyoto', "x;'=1+1")
    """
    if not isinstance(cell, str):
        return cell
    parts = re.split(f"(?<=[{SEPARATORS.replace(separator, '')}\r\n])", cell)
    return "".join(f"'{part}" if _like_a_formula(part) else part for part in parts)


def _like_a_formula(text: str) -> bool:
    """Whether a text begins like a formula and is no number."""
    begins = text[:1] in ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
    return begins and not _NUMBER.fullmatch(text.rstrip(f"{SEPARATORS}\r\n"))


def neutralized_csv(header: Sequence[str], rows: Iterable[Sequence[Any]], separator: str = ",") -> str:
    """A CSV file of neutralized cells; None is an empty field."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    writer.writerows(["" if cell is None else neutralized(cell, separator) for cell in row] for row in (header, *rows))
    return text.getvalue()


# Who has submitted what: the state of a tournament and of one team as tables.


def tournament_status(tournament: Tournament) -> Section:
    """Phase, deadline, and what each team has submitted.

    Parameters
    ----------
    tournament : Tournament
        The tournament.
    """
    state = tournament.state(tournament.log.entries())
    titles, out, tables = state.titles, state.disqualified, state.tables
    rows = [
        (
            team,
            titles[team] if titles[team] != team else "",
            tables[team].number if team in tables else None,
            tables[team].rows if team in tables else None,
            sum(attacker == team for attacker, _ in state.attacks),
            len(state.submissions[team]),
            f"disqualified: {out[team]}" if team in out else "",
        )
        for team in tournament.settings.teams
    ]
    absent = sum(team not in tables and team not in out for team in tournament.settings.teams)
    until = f", until {state.until.isoformat()}" if state.until is not None else ""
    columns = ("team", "title", "table (entry)", "rows", "attacks", "files", "remark")
    note = f"{absent} of {len(rows)} teams have no table. Attacks are those in force, files all that were accepted."
    return Section(f"Phase {state.phase}{until}", tables=(Table("Teams", columns, rows, 0, note),))


def team_status(tournament: Tournament, team: str) -> Section:
    """All submissions of a team, with the one in force, and what is left of its quota.

    Parameters
    ----------
    tournament : Tournament
        The tournament.
    team : str
        The team.

    Raises
    ------
    ValueError
        If there is no such team.
    """
    tournament.team_folder(team)
    state = tournament.state(tournament.log.entries())
    in_force = {one.number for one in state.in_force.values() if one.team == team}
    rows = [
        (
            *(one.number, entry.arrived.replace("T", " "), str(one.phase)),
            one.kind,
            *(one.rows, one.content[:16], "yes" if one.number in in_force else ""),
        )
        for one, entry in state.submissions[team]
    ]
    columns = ("entry", "time", "phase", "file", "rows", "content", "in force")
    note = f"{state.left(team):,} bytes of the quota are left. `take` brings an older file into force."
    return Section(state.titles[team], tables=(Table("Submissions", columns, rows, 0, note),))


COLUMNS = ("rank", "team", "defense_rank", "defense", "attack_rank", "attack")
MOST_ATTACKERS = 30
"""Number of teams whose attacks the page shows; the matrix of 200 teams would take 23 MB."""
_DETAILS = (
    *("utility", "utility_table", "utility_record", "worst_attack", "worst_goal", "worst_success", "attacked"),
    *("title", "remark", "status"),
)
OF_ANSWERED = ("precision", "top3")
"""Measures that public boards hold only after the close."""
PAGES = ("standings.csv", "standings.html", "matrix.csv", "board.html")
"""Names of the boards' files."""
FOR_THE_HOST = (
    "These standings count all rows and membership, which stay secret until the close: they are for the host only."
)
SCORING_GOES_ON = "Scoring goes on: results are missing, and ranks will change."
FAILED = (
    "These submissions made their scoring fail. They count as not scored, and stop nothing else. "
    "`score --retry` scores them again."
)


def standings_csv(
    ordered: Sequence[Standing],
    titles: Mapping[str, str] | None = None,
    *,
    closed: bool = False,
    partial: bool = False,
) -> str:
    """Standings as CSV; a missing value is an empty field, and no cell begins like a formula.

    The column ``status`` is ``partial`` while results are missing. Afterwards it is ``final`` once the tournament is
    closed, and ``provisional`` before.

    Parameters
    ----------
    ordered, titles
        See `standings_table`.
    closed, partial : bool
        See `what_counts`.
    """
    status = "partial" if partial else "final" if closed else "provisional"
    rows = [
        (
            *(one.rank, one.team, one.defense_rank, _rounded(one.defense), one.attack_rank, _rounded(one.attack)),
            *map(_rounded, (one.utility, one.utility_table, one.utility_record)),
            *_worst_cells(one.worst),
            *(one.attacked, (titles or {}).get(one.team, one.team), remark(one), status),
        )
        for one in ordered
    ]
    return neutralized_csv((*COLUMNS, *_DETAILS), rows)


def _worst_cells(worst: AttackOutcome | None) -> tuple[object, ...]:
    """Attacker, goal and success of the worst attack; empty cells without one."""
    return ("", "", "") if worst is None else (worst.attacker, goal_words(worst.goal), _rounded(worst.success))


def remark(one: Standing) -> str:
    """What a team's rank does not say: a disqualification, nothing handed in, files without a score, or a tie."""
    if one.disqualified:
        return f"disqualified: {one.disqualified}"
    if one.missing:
        return one.unscored or "handed in nothing"
    return "; ".join(filter(None, (one.unscored, one.tie)))


def is_partial(results: Sequence[Result]) -> bool:
    """Whether results that the log asks for are missing, so that scoring goes on."""
    return any(one.status == WAITING for one in results)


def what_counts(share: float, *, closed: bool, partial: bool = False) -> str:
    """What standings count now, in words.

    Parameters
    ----------
    share : float
        Share of the rows that counts.
    closed : bool
        Whether the tournament is closed.
    partial : bool
        Whether results are missing; see `is_partial`.
    """
    if closed and not partial:
        return "All rows and membership count; these standings are final."
    if closed or share >= 1:
        text = "All rows and membership count" + ("." if closed else "; more files may come.")
    else:
        text = (
            f"Until the tournament closes, a secret {share:.0%} of each table's rows counts, and membership does not."
        )
    return f"{SCORING_GOES_ON} {text}" if partial else text


def standings_table(ordered: Sequence[Standing], titles: Mapping[str, str] | None = None, counts: str = "") -> lb.Table:
    """Standings as a table of a report.

    Parameters
    ----------
    ordered : sequence of Standing
        The standings, best first.
    titles : mapping of str to str, optional
        Title by team.
    counts : str
        What the standings count; see `what_counts`.
    """
    rows = [
        (
            "–" if one.disqualified else one.rank,
            _called(one.team, titles or {}),
            *(one.defense, one.utility, one.utility_table, one.utility_record),
            "–" if one.worst is None else f"{one.worst.attacker} ({goal_words(one.worst.goal)})",
            *(None if one.worst is None else one.worst.success, one.attack, one.attacked),
            remark(one),
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
        "remark",
    )
    note = (
        f"{counts}{' ' * bool(counts)}"
        "Defense = utility x (1 - advantage of the worst attack). Utility is the smaller one of table and records. "
        "Attack is the mean advantage over the other teams' tables. # is the rank by the sum of the ranks in defense "
        "and attack. Of equal sums, the higher defense comes first, then the higher attack, then the higher utility. "
        "Teams without any score come last."
    )
    return lb.Table("Teams", columns, rows, 3, note)


def _called(team: str, titles: Mapping[str, str]) -> str:
    """Title and name of a team; the name alone if it has no title."""
    title = titles.get(team, team)
    return team if title == team else f"{title} ({team})"


def write_boards(
    tournament: Tournament, entries: Sequence[LogEntry], full: Sequence[Result], public: Sequence[Result], share: float
) -> None:
    """Write the host's boards over all rows, and the public boards over the public share of the rows.

    If standings are hidden, public boards are written only once the tournament is closed.

    Parameters
    ----------
    tournament : Tournament
        The tournament.
    entries : sequence of LogEntry
        Lasting entries of its log, in the phase of the scoring.
    full, public : sequence of Result
        Scores over all rows, and over the rows that count in public.
    share : float
        Share of the rows that count in public.
    """
    closed = tournament.state(entries).phase is Phase.CLOSED
    pages: dict[str, str] = {}
    for folder, results, part in ((tournament.host, full, 1.0), (tournament.public, public, share)):
        if folder == tournament.public and tournament.settings.hide_standings and not closed:
            for name in PAGES:
                (folder / name).unlink(missing_ok=True)
            continue
        # Where all rows count in public, too, both boards are the same.
        if folder == tournament.host or (part, results) != (1.0, full):
            pages = _pages(tournament, entries, results, part, closed=closed)
        for name, text in pages.items():
            write_whole(folder / name, text.encode(), mode=PRIVATE if folder == tournament.host else PUBLIC)


def _pages(
    tournament: Tournament, entries: Sequence[LogEntry], results: Sequence[Result], part: float, *, closed: bool
) -> dict[str, str]:
    """Content of each board by its file name, over a share of the rows."""
    state, teams = tournament.state(entries), tournament.settings.teams
    titles, out = state.titles, state.disqualified
    partial = is_partial(results)
    ordered = standings(teams, results, out)
    results = [one for one in results if one.status == "ok" and not {one.defense, one.attack} & set(out)]
    about = {"teams": str(len(teams)), "version": f"tokumei {version()}"}
    if part < 1:
        results = [_without_answered(one) for one in results]
        about["rows that count"] = f"{part:.0%} until the tournament closes"
    table = standings_table(ordered, titles, what_counts(part, closed=closed, partial=partial))
    pages = {
        "standings.csv": standings_csv(ordered, titles, closed=closed, partial=partial),
        "standings.html": lb.render_report(
            tournament.settings.title, about, (lb.Section("Standings", tables=(table,)),)
        ),
        "matrix.csv": lb.matrix_to_csv(lb.matrix(results)),
    }
    if results:
        pages["board.html"] = _page(tournament.settings.title, titles, ordered, results, about)
    return pages


def _without_answered(result: Result) -> Result:
    """A result without the measures of answered rows alone, which would tell of a file of one row whether it is right.

    They would also tell whether that row counts before the close.
    """
    return replace(result, values={name: value for name, value in result.values.items() if name not in OF_ANSWERED})


def write_host_report(
    tournament: Tournament,
    entries: Sequence[LogEntry],
    ordered: Sequence[Standing],
    results: Sequence[Result],
    now: datetime,
) -> None:
    """Write the host's report: standings over all rows, failed scorings, and downtime by failures.

    Parameters
    ----------
    tournament : Tournament
        The tournament.
    entries : sequence of LogEntry
        Lasting entries of its log, in the phase of the scoring.
    ordered : sequence of Standing
        Standings over all rows.
    results : sequence of Result
        Scores over all rows, failed scorings included.
    now : datetime
        Current time, with a time zone.
    """
    closed = tournament.state(entries).phase is Phase.CLOSED
    counts = what_counts(1.0, closed=closed, partial=is_partial(results))
    sections = (
        lb.Section(
            "Standings",
            () if closed else (FOR_THE_HOST,),
            tables=(standings_table(ordered, tournament.state(entries).titles, counts),),
        ),
        *failures_section([one for one in results if one.status in FAILURES], FAILED),
        lb.Section(
            "Failures",
            (
                "A refused file has been wrong since it was written. It is repaired by the team's next accepted file, "
                "which is a table, or an attack on the same team. Its team had no valid file, or an older one, in the "
                "meantime. A refusal that stays open counts until the attack phase ends.",
            ),
            (lb.downtime_table(tournament_incidents(tournament), now),),
        ),
    )
    about = {"teams": str(len(tournament.settings.teams)), "version": f"tokumei {version()}"}
    page = lb.render_report(tournament.settings.title, about, sections)
    write_whole(tournament.host / "report.html", page.encode(), mode=PRIVATE)


def failures_table(failed: Sequence[Result]) -> lb.Table:
    """Submissions whose scoring failed: the table, the attack on it, and why, in one line."""
    rows = [(one.defense, one.attack or "(the table)", one.status, one.reason.partition("\n")[0]) for one in failed]
    return lb.Table("Failed scorings", ("table", "attack", "status", "reason"), rows, 3, "")


def failures_section(failed: Sequence[Result], *paragraphs: str) -> tuple[lb.Section, ...]:
    """Section about scorings that failed; none without any."""
    return (lb.Section("Failed scorings", paragraphs, (failures_table(failed),)),) if failed else ()


def _page(
    title: str,
    titles: Mapping[str, str],
    ordered: Sequence[Standing],
    results: Sequence[Result],
    about: Mapping[str, str],
) -> str:
    """HTML page of the board, with teams as defenses, and teams and baselines as attacks.

    It is headed by the tournament's title, and shows the titles of teams.
    """
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
    attacks = {str(result.attack).removeprefix(BASELINE) for result in results if result.attack}
    descriptions = {BASELINE + name: text for name, text in one_liners(attacks).items()}
    shown_rows = [
        replace(
            row,
            scenario=title,
            defense=_called(row.defense, titles),
            worst_attack=None if row.worst_attack is None else _called(row.worst_attack, titles),
        )
        for row in ranked(rows)
    ]
    shown_pairs = [
        replace(pair, scenario=title, defense=_called(pair.defense, titles), attack=_called(pair.attack, titles))
        for pair in pairs
    ]
    return lb.render_page(shown_rows, shown_pairs, about, descriptions)


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
        advantage_unbiased=False,
        score=standing.defense,
    )


def _rounded(value: float | None) -> float | str:
    return "" if value is None else round(value, 6) + 0.0
