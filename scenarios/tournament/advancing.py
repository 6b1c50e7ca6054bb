"""Closing a phase: the accepted files are published without their origins, and the next phase opens.

All published files follow from the accepted files and the secret seed. After an interruption, the same command writes
the same files again and then changes the phase.
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
        The tournament.
    now : datetime
        Current time, with a time zone.
    early : bool
        Allow a phase to close before its announced end.

    Returns
    -------
    Phase
        The phase that is open now.

    Raises
    ------
    ValueError
        If the phase has not ended and `early` is false, or if the tournament is closed.
    """
    with tournament.log.locked():
        tournament.sweep()
        entries = tournament.log.entries()
        phase = tournament.phase(entries)
        if phase is Phase.CLOSED:
            raise ValueError("the tournament is closed")
        end = tournament.until(entries, phase)
        if end is not None and now < end and not early:
            raise ValueError(f"phase {phase} runs until {end.isoformat()}; --early closes it now")
        following = tournament.settings.after(phase)
        if phase is Phase.ANONYMIZE:
            _publish_candidates(tournament)
        if following is Phase.ATTACK:
            _publish_tables(tournament, entries)
        tournament.log.append("advanced", {"from": str(phase), "to": str(following)}, now)
    return following


def publish_again(tournament: Tournament) -> None:
    """Restore published files that were deleted; do nothing before the attack phase."""
    with tournament.log.locked():
        entries = tournament.log.entries()
        if tournament.phase(entries) in (Phase.ATTACK, Phase.CLOSED):
            _publish_candidates(tournament, missing=True)
            _publish_tables(tournament, entries, missing=True)


def _publish_candidates(tournament: Tournament, *, missing: bool = False) -> None:
    """Publish all candidate files, or only the missing ones."""
    for team in tournament.settings.teams:
        path = tournament.candidate_path(team)
        target = tournament.public / path.name
        if not (missing and target.is_file()):
            write_whole(target, read_bytes(path))


def _publish_tables(tournament: Tournament, entries: Sequence[LogEntry], *, missing: bool = False) -> None:
    """Publish the last accepted table of each team, or only the missing ones."""
    for team, submission in tournament.tables(entries).items():
        target = tournament.public / f"{team}_anonymized.csv"
        if not (missing and target.is_file()):
            frame = published(tournament, team, submission.content).frame
            write_whole(target, csv_bytes(tournament.form(team).written.write(frame)))


def published(tournament: Tournament, team: str, content: str) -> Sheet:
    """A team's table as it is published, rows in a secret order, together with its secret origins."""
    sheet = read_sheet(f"{team}_anonymized.csv", tournament.content(content), tournament.form(team))
    order = generator(tournament.secret["seed"], "tournament", "rows", team, content).permutation(len(sheet.frame))
    frame: pd.DataFrame = sheet.frame.iloc[order].reset_index(drop=True)
    return Sheet(frame, sheet.origin[order])
