"""Report to each team: scores, strongest attacks on its table, and the columns that leak."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.goals import goal_words
from leaderboard.result import Result
from metrics.printable import one_line
from scenarios.tournament.folder import Tournament, write_whole
from scenarios.tournament.leakage import leaking_columns
from scenarios.tournament.settings import Phase
from scenarios.tournament.standings import Standing, outcome_of, standings
from scenarios.tournament.submission_utility import COMPONENTS


def write_reports(tournament: Tournament, results: Sequence[Result], share: float) -> list[str]:
    """Write each team's report into its folder.

    Returns
    -------
    list of str
        For each report that could not be written, one line that says why. The other teams have theirs.
    """
    skipped = []
    entries = tournament.log.entries()
    tables = tournament.tables(entries)
    closed = tournament.phase(entries) is Phase.CLOSED
    by_team = {one.team: one for one in standings(tournament.settings.teams, results)}
    for team in tournament.settings.teams:
        lines = [f"# Report for {team}", "", _state(closed, share), ""]
        if team in tables:
            lines += _table_report(team, by_team[team], results)
        else:
            lines += ["You have submitted no table. Your defense has no score and ranks last.", ""]
        lines += _attack_report(team, by_team[team], results)
        try:
            write_whole(tournament.team_folder(team) / "report.md", "\n".join(lines).encode(), mode=0o640)
        except (ValueError, OSError) as error:
            skipped.append(f"{team} has no report: {one_line(error)}")
    return skipped


def _state(closed: bool, share: float) -> str:
    if closed:
        return "The tournament is closed; these are the final scores."
    if share < 1:
        return f"The attack phase is open; these scores use {share:.0%} of each table's rows, and do not count members."
    return "The attack phase is open; more attacks may come."


def _table_report(team: str, standing: Standing, results: Sequence[Result]) -> list[str]:
    values = next(result.values for result in results if result.defense == team and result.attack is None)
    lines = [
        "## Your table",
        f"Utility {written(standing.utility)}: of the table {written(standing.utility_table)} ("
        + ", ".join(f"{name} {written(values[f'table_{name}'])}" for name in COMPONENTS if f"table_{name}" in values)
        + f"), of the records {written(standing.utility_record)}; the smaller counts.",
        f"Defense {written(standing.defense)}, rank {standing.defense_rank}.",
        "",
        "## Strongest attacks on it",
        "| attacker | best at | success | advantage |",
        "|---|---|---|---|",
    ]
    outcomes = [outcome_of(result) for result in results if result.defense == team and result.attack is not None]
    lines += [
        f"| {one.attacker} | {goal_words(one.goal)} | {written(one.success)} | {written(one.advantage)} |"
        for one in sorted(outcomes, key=lambda one: (-one.advantage, one.attacker))[:10]
    ]
    lines += [
        "",
        "## Which columns leak",
        "The share of your rows whose original is the nearest candidate (Gower), by all columns and without one.",
        "The larger the drop, the more that column leaks.",
        "",
        "| without | nearest | drop |",
        "|---|---|---|",
        *(f"| {name} | {written(rate)} | {written(drop)} |" for name, rate, drop in leaking_columns(values)),
        "",
    ]
    return lines


def _attack_report(team: str, standing: Standing, results: Sequence[Result]) -> list[str]:
    lines = ["## Your attacks", f"Attack {written(standing.attack)}, rank {standing.attack_rank}.", ""]
    own = [(result.defense, outcome_of(result)) for result in results if result.attack == team]
    if own:
        lines += ["| table | best at | success | advantage |", "|---|---|---|---|"]
        lines += [
            f"| {target} | {goal_words(one.goal)} | {written(one.success)} | {written(one.advantage)} |"
            for target, one in own
        ]
    return [*lines, ""]


def written(value: float | None) -> str:
    """A number as text; a dash if it is missing."""
    return "–" if value is None else f"{value:.3f}"
