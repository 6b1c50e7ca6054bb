"""Handing in: valid files are kept for good under the hash of their content, and the log says whose they are.

The log alone decides: a file counts as accepted once its line is complete, and its content was safe on the disk before.
Whatever stops the program in between leaves a file without a line, which is no submission.
"""

from __future__ import annotations

import getpass
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from scenarios.tournament.folder import Submission, Tournament, write_whole
from scenarios.tournament.log import LogEntry
from scenarios.tournament.settings import Phase
from scenarios.tournament.sheets import read_answers, read_sheet, read_submission
from scenarios.tournament.submission_utility import SubmissionUtility

_ATTACK_FILE = re.compile(r"(?P<attacker>.+)_attack_(?P<target>.+)\.csv")


@dataclass(frozen=True)
class Receipt:
    """What a team gets for an accepted file.

    Attributes
    ----------
    submission : Submission
        What was accepted.
    entry : LogEntry
        Its line in the log; the team may note its hash.
    utility : SubmissionUtility or None
        What an anonymized table is worth.
    """

    submission: Submission
    entry: LogEntry
    utility: SubmissionUtility | None


def submit(tournament: Tournament, team: str, path: Path, now: datetime, *, against: str | None = None) -> Receipt:
    """Validate and keep a file.

    Parameters
    ----------
    tournament : Tournament
        Where.
    team : str
        Who hands in.
    path : Path
        An anonymized table in a phase of anonymizing, a correspondence table in the attack phase.
    now : datetime
        The moment, with a time zone.
    against : str, optional
        Whom a correspondence table is about; read from the file's name ``teamX_attack_teamY.csv`` where not given.

    Raises
    ------
    ValueError
        If team, phase or file is wrong; nothing has changed then.
    OSError
        If it cannot be kept; nothing has changed then.
    """
    tournament.team_folder(team)
    with tournament.log.locked():
        tournament.sweep()
        return _submit(tournament, team, path, now, against)


def submit_all(
    tournament: Tournament, team: str, paths: Sequence[Path], now: datetime
) -> Iterator[Receipt | ValueError]:
    """Validate and keep files one after another; what is wrong with one keeps none of the others back.

    Parameters
    ----------
    tournament, team, now
        See `submit`.
    paths : sequence of Path
        Whom correspondence tables are about is read from their names.

    Yields
    ------
    Receipt or ValueError
        For each file, as soon as it is accepted or refused. The tournament is locked until the last one.

    Raises
    ------
    ValueError
        If there is no such team.
    OSError
        If a file cannot be kept; those before it are.
    """
    tournament.team_folder(team)
    with tournament.log.locked():
        tournament.sweep()
        for path in paths:
            try:
                told: Receipt | ValueError = _submit(tournament, team, path, now, None)
            except ValueError as error:
                told = error
            yield told


def _submit(tournament: Tournament, team: str, path: Path, now: datetime, against: str | None) -> Receipt:
    """Validate and keep a file; the log must be locked."""
    entries = tournament.log.head().lasting
    phase = _open_phase(tournament, entries, now)
    data = read_submission(path)
    target = _target(tournament, team, path, against) if phase is Phase.ATTACK else None
    if target is None and against is not None:
        raise ValueError(f"correspondence tables are handed in while attacking; the phase is {phase}")
    if target is None:
        _check_owner(tournament, team, path)
    rows, utility = _validate(tournament, entries, team, target, path.name, data)
    content = hashlib.sha256(data).hexdigest()
    write_whole(tournament.submissions / content, data, mode=0o400)
    details = {
        "team": team,
        "phase": str(phase),
        "against": target,
        "sha256": content,
        "bytes": len(data),
        "rows": rows,
        "by": _user(),
    }
    entry = tournament.log.append("submitted", details, now)
    return Receipt(Submission(team, phase, target, content, entry.number, rows), entry, utility)


def _open_phase(tournament: Tournament, entries: Sequence[LogEntry], now: datetime) -> Phase:
    phase = tournament.phase(entries)
    if phase is Phase.CLOSED:
        raise ValueError("the tournament is closed; nothing is accepted any more")
    end = tournament.settings.until(phase)
    if end is not None and now >= end:
        raise ValueError(f"phase {phase} ended at {end.isoformat()}; nothing is accepted until the host opens the next")
    return phase


def _check_owner(tournament: Tournament, team: str, path: Path) -> None:
    """Refuse a table that is named as another team's."""
    owner = path.name.removesuffix("_anonymized.csv")
    if owner != team and owner in tournament.settings.teams:
        raise ValueError(f"{path.name}: is named as the table of {owner}, not of {team}")


def _target(tournament: Tournament, team: str, path: Path, against: str | None) -> str:
    found = _ATTACK_FILE.fullmatch(path.name)
    if found is not None and found["attacker"] != team:
        raise ValueError(f"{path.name}: is named as an attack by {found['attacker'][:40]!a}, not by {team}")
    if found is not None and against not in (None, found["target"]):
        raise ValueError(f"{path.name}: is named as an attack on {found['target'][:40]!a}, not on {against}")
    if found is None and against is None:
        raise ValueError(f"{path.name}: whom is it about? Name the file {team}_attack_TEAM.csv or say --against TEAM")
    against = against or str(found["target"] if found else "")
    tournament.team_folder(against)
    if against == team:
        raise ValueError(f"{path.name}: {team} cannot attack its own table")
    return against


def _validate(
    tournament: Tournament, entries: Sequence[LogEntry], team: str, target: str | None, name: str, data: bytes
) -> tuple[int, SubmissionUtility | None]:
    """Check a file; how many rows it has, and what a table is worth."""
    if target is None:
        sheet = read_sheet(name, data, tournament.form(team))
        return len(sheet.frame), tournament.originals(team).utility(sheet.frame, sheet.origin)
    table = tournament.tables(entries).get(target)
    if table is None:
        raise ValueError(f"{target} has handed in no table; there is nothing to attack")
    return read_answers(name, data, table.rows, tournament.settings.candidates).target.size, None


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"
