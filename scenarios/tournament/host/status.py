"""Who has submitted what: the state of a tournament and of one team as tables."""

from __future__ import annotations

from leaderboard.pages.report import Section, Table
from scenarios.tournament.rules.folder import Tournament
from scenarios.tournament.rules.submitting import quota_left


def tournament_status(tournament: Tournament) -> Section:
    """Phase, deadline, and what each team has submitted.

    Parameters
    ----------
    tournament : Tournament
        The tournament.
    """
    entries = tournament.log.entries()
    phase = tournament.phase(entries)
    end = tournament.until(entries, phase)
    titles, out = tournament.titles(entries), tournament.disqualified(entries)
    tables, attacks = tournament.tables(entries), tournament.attacks(entries)
    rows = [
        (
            team,
            titles[team] if titles[team] != team else "",
            tables[team].number if team in tables else None,
            tables[team].rows if team in tables else None,
            sum(attacker == team for attacker, _ in attacks),
            len(tournament.accepted(entries, team)),
            f"disqualified: {out[team]}" if team in out else "",
        )
        for team in tournament.settings.teams
    ]
    absent = sum(team not in tables and team not in out for team in tournament.settings.teams)
    until = f", until {end.isoformat()}" if end is not None else ""
    columns = ("team", "title", "table (entry)", "rows", "attacks", "files", "remark")
    note = f"{absent} of {len(rows)} teams have no table. Attacks are those in force, files all that were accepted."
    return Section(f"Phase {phase}{until}", tables=(Table("Teams", columns, rows, 0, note),))


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
    entries = tournament.log.entries()
    times = {entry.number: entry.arrived for entry in entries}
    in_force = {one.number for one in tournament.in_force(entries).values() if one.team == team}
    rows = [
        (
            *(one.number, times[one.number].replace("T", " "), str(one.phase)),
            "table" if one.against is None else f"attack on {one.against}",
            *(one.rows, one.content[:16], "yes" if one.number in in_force else ""),
        )
        for one in tournament.accepted(entries, team)
    ]
    columns = ("entry", "time", "phase", "file", "rows", "content", "in force")
    left = quota_left(tournament, team, entries)
    note = f"{left:,} bytes of the quota are left. `take` brings an older file into force."
    return Section(tournament.titles(entries)[team], tables=(Table("Submissions", columns, rows, 0, note),))
