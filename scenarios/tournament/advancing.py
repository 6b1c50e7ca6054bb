"""Closing a phase and opening the next one: what was handed in is published, without whose it is.

Everything that is published follows from the accepted files and the secret seed: after an interruption the same command
writes the same files again and then moves the phase.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import pandas as pd

from scenarios.files.toml_file import read_bytes
from scenarios.seeds import generator
from scenarios.tournament.folder import Tournament, csv_bytes, write_whole
from scenarios.tournament.log import LogEntry
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
            _publish_candidates(tournament)
        if following is Phase.ATTACK:
            _publish_tables(tournament, entries)
        tournament.log.append("advanced", {"from": str(phase), "to": str(following)}, now)
    return following


def publish_again(tournament: Tournament) -> None:
    """Put back what was published and is no longer there; before the attack phase nothing."""
    with tournament.log.locked():
        entries = tournament.log.entries()
        if tournament.phase(entries) in (Phase.ATTACK, Phase.CLOSED):
            _publish_candidates(tournament, missing=True)
            _publish_tables(tournament, entries, missing=True)


def _publish_candidates(tournament: Tournament, *, missing: bool = False) -> None:
    """Publish all candidate files, or those that are missing."""
    for team in tournament.settings.teams:
        path = tournament.candidate_path(team)
        place = tournament.public / path.name
        if not (missing and place.is_file()):
            write_whole(place, read_bytes(path))


def _publish_tables(tournament: Tournament, entries: Sequence[LogEntry], *, missing: bool = False) -> None:
    """Publish all tables that count, or those that are missing."""
    for team, submission in tournament.tables(entries).items():
        place = tournament.public / f"{team}_anonymized.csv"
        if not (missing and place.is_file()):
            write_whole(place, csv_bytes(published(tournament, team, submission.content).frame))


def published(tournament: Tournament, team: str, content: str) -> Sheet:
    """A team's table as everybody sees it, in its secret order, with the origins that nobody sees."""
    sheet = read_sheet(f"{team}_anonymized.csv", tournament.content(content), tournament.form(team))
    order = generator(tournament.secret["seed"], "tournament", "rows", team, content).permutation(len(sheet.frame))
    frame: pd.DataFrame = sheet.frame.iloc[order].reset_index(drop=True)
    return Sheet(frame, sheet.origin[order])
