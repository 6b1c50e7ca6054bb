"""Titles of teams in any script, beside the names that their files bear."""

from __future__ import annotations

from datetime import datetime

from scenarios.tournament.rules.folder import Tournament
from scenarios.tournament.rules.names import checked_title


def give_title(tournament: Tournament, team: str, title: str, now: datetime) -> str:
    """Give a team a title, which everybody sees.

    Parameters
    ----------
    tournament : Tournament
        The tournament.
    team : str
        Name of the team.
    title : str
        Its title.
    now : datetime
        Current time, with a time zone.

    Returns
    -------
    str
        The title in canonical form.

    Raises
    ------
    ValueError
        If there is no such team, or the title is invalid or taken.
    """
    tournament.team_folder(team)
    with tournament.log.locked():
        title = checked_title(title, team, tournament.state().titles)
        tournament.log.append("titled", {"team": team, "title": title}, now)
    return title
