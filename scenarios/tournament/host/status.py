"""Who has submitted what: the state of a tournament and of one team as tables."""

from __future__ import annotations

from leaderboard.pages.report import Section, Table
from scenarios.tournament.rules.folder import Tournament


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
    left = tournament.settings.quota - state.used(team)
    note = f"{left:,} bytes of the quota are left. `take` brings an older file into force."
    return Section(state.titles[team], tables=(Table("Submissions", columns, rows, 0, note),))
