"""Disqualification of teams: their files do not count, and everybody sees why."""

from __future__ import annotations

from datetime import datetime

from scenarios.tournament.rules.advancing import publish_again
from scenarios.tournament.rules.folder import Tournament
from scenarios.tournament.rules.names import checked_reason


def disqualify(tournament: Tournament, team: str, reason: str, now: datetime) -> None:
    """Disqualify a team: its table and attacks do not count, nobody attacks it, and it submits nothing more.

    Its files stay in the archive, and what was published of it stays.

    Parameters
    ----------
    tournament : Tournament
        The tournament.
    team : str
        The team.
    reason : str
        Reason, which everybody sees.
    now : datetime
        Current time, with a time zone.

    Raises
    ------
    ValueError
        If there is no such team, it is disqualified already, or the reason is invalid.
    """
    _decide(tournament, team, reason, now, "disqualified")


def readmit(tournament: Tournament, team: str, reason: str, now: datetime) -> None:
    """Readmit a disqualified team: its files count again, and its table is published; see `disqualify`."""
    _decide(tournament, team, reason, now, "readmitted")
    publish_again(tournament)


def _decide(tournament: Tournament, team: str, reason: str, now: datetime, kind: str) -> None:
    tournament.team_folder(team)
    reason = checked_reason(reason)
    with tournament.log.locked():
        out = team in tournament.disqualified(tournament.log.head().lasting)
        if out == (kind == "disqualified"):
            raise ValueError(f"team {team} is {'' if out else 'not '}disqualified{' already' if out else ''}")
        tournament.log.append(kind, {"team": team, "reason": reason}, now)
