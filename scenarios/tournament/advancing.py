"""Closing a phase and opening the next one: what was handed in is published, without whose it is.

Everything that is published follows from the accepted files and the secret seed: after an interruption the same command
writes the same files again and then moves the phase.
"""

from __future__ import annotations

from datetime import datetime

import pandas as pd

from scenarios.seeds import generator
from scenarios.toml_file import read_bytes
from scenarios.tournament.folder import Tournament, csv_bytes, write_whole
from scenarios.tournament.settings import Phase
from scenarios.tournament.sheets import Sheet, read_sheet


def advance(tournament: Tournament, now: datetime, *, early: bool = False) -> Phase:
    """Close the phase and open the next.

    Parameters
    ----------
    tournament : Tournament
        Which.
    now : datetime
        The moment, with a time zone.
    early : bool
        Close a phase before its announced end.

    Returns
    -------
    Phase
        The one that is open now.

    Raises
    ------
    ValueError
        If the phase has not ended and is not to be closed early, or the tournament is closed.
    """
    with tournament.log.locked():
        tournament.sweep()
        entries = tournament.log.entries()
        phase = tournament.phase(entries)
        if phase is Phase.CLOSED:
            raise ValueError("the tournament is closed")
        end = tournament.settings.until(phase)
        if end is not None and now < end and not early:
            raise ValueError(f"phase {phase} runs until {end.isoformat()}; --early closes it before")
        following = tournament.settings.after(phase)
        if phase is Phase.ANONYMIZE:
            for team in tournament.settings.teams:
                path = tournament.candidate_path(team)
                write_whole(tournament.public / path.name, read_bytes(path))
        if following is Phase.ATTACK:
            for team, submission in tournament.tables(entries).items():
                sheet = published(tournament, team, submission.content)
                write_whole(tournament.public / f"{team}_anonymized.csv", csv_bytes(sheet.frame))
        tournament.log.append("advanced", {"from": str(phase), "to": str(following)}, now)
    return following


def published(tournament: Tournament, team: str, content: str) -> Sheet:
    """A team's table as everybody sees it, in its secret order, with the origins that nobody sees."""
    sheet = read_sheet(f"{team}_anonymized.csv", tournament.content(content), tournament.form(team))
    order = generator(tournament.secret["seed"], "tournament", "rows", team, content).permutation(len(sheet.frame))
    frame: pd.DataFrame = sheet.frame.iloc[order].reset_index(drop=True)
    return Sheet(frame, sheet.origin[order])
