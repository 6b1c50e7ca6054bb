"""Submission of files: valid files are archived under the hash of their content, and the log records their teams.

The log alone decides which files are accepted: a file counts once its log entry is complete. Its content is safe on the
disk before that. A crash in between leaves a file without an entry, which is no submission.
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
from scenarios.tournament.incidents import record_refusal
from scenarios.tournament.log import LogEntry
from scenarios.tournament.settings import Phase
from scenarios.tournament.sheets import read_answers, read_sheet, read_submission
from scenarios.tournament.submission_utility import SubmissionUtility

_ATTACK_FILE = re.compile(r"(?P<attacker>.+)_attack_(?P<target>.+)\.csv")


@dataclass(frozen=True)
class Receipt:
    """Receipt of an accepted file.

    Attributes
    ----------
    submission : Submission
        The accepted file.
    entry : LogEntry
        Its entry in the log; the team may note its hash.
    utility : SubmissionUtility or None
        Utility of an anonymized table; None for a correspondence table.
    """

    submission: Submission
    entry: LogEntry
    utility: SubmissionUtility | None


def submit(tournament: Tournament, team: str, path: Path, now: datetime, *, against: str | None = None) -> Receipt:
    """Validate and archive a file.

    Parameters
    ----------
    tournament : Tournament
        The tournament.
    team : str
        The team that submits.
    path : Path
        An anonymized table while anonymizing, a correspondence table in the attack phase.
    now : datetime
        Current time, with a time zone.
    against : str, optional
        Team that a correspondence table attacks; by default read from the file's name, ``teamX_attack_teamY.csv``.

    Raises
    ------
    ValueError
        If team, phase or file is invalid; then nothing has changed but the list of refused files.
    OSError
        If the file cannot be written; then nothing has changed.
    """
    tournament.team_folder(team)
    with tournament.log.locked():
        tournament.sweep()
        return _submit(tournament, team, path, now, against)


def submit_all(
    tournament: Tournament, team: str, paths: Sequence[Path], now: datetime
) -> Iterator[Receipt | ValueError]:
    """Validate and archive files one after another; a refused file does not affect the others.

    Parameters
    ----------
    tournament, team, now
        See `submit`.
    paths : sequence of Path
        The files; the targets of correspondence tables are read from the file names.

    Yields
    ------
    Receipt or ValueError
        For each file, as soon as it is accepted or refused. The tournament is locked until the last one.

    Raises
    ------
    ValueError
        If there is no such team.
    OSError
        If a file cannot be written; earlier files stay accepted.
    """
    tournament.team_folder(team)
    with tournament.log.locked():
        tournament.sweep()
        for path in paths:
            try:
                outcome: Receipt | ValueError = _submit(tournament, team, path, now, None)
            except ValueError as error:
                outcome = error
            yield outcome


def _submit(tournament: Tournament, team: str, path: Path, now: datetime, against: str | None) -> Receipt:
    """Validate and archive a file; the log must be locked."""
    entries = tournament.log.head().lasting
    phase = _open_phase(tournament, entries, now)
    try:
        return _accepted(tournament, entries, phase, team, path, now, against)
    except ValueError:
        match = _ATTACK_FILE.fullmatch(path.name)
        about = (against or (match["target"] if match else "")) if phase is Phase.ATTACK else None
        record_refusal(tournament, team, about, path, now)
        raise


def _accepted(
    tournament: Tournament,
    entries: Sequence[LogEntry],
    phase: Phase,
    team: str,
    path: Path,
    now: datetime,
    against: str | None,
) -> Receipt:
    """Validate and archive a file of an open phase."""
    submitted = read_submission(path)
    data = without_blank_lines(submitted)
    target = _target(tournament, team, path, against) if phase is Phase.ATTACK else None
    if target is None and against is not None:
        raise ValueError(f"correspondence tables are submitted while attacking; the phase is {phase}")
    if target is None:
        _check_owner(tournament, team, path)
    try:
        rows, utility = _validate(tournament, entries, team, target, path.name, data)
    except ValueError:
        # The message names lines of the file as it was submitted.
        _validate(tournament, entries, team, target, path.name, submitted)
        raise
    content = hashlib.sha256(data).hexdigest()
    _check_quota(tournament, entries, team, path.name, content, len(data))
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


def without_blank_lines(data: bytes) -> bytes:
    """A CSV file without its blank lines, which say nothing; line breaks inside quotes stay."""
    lines, quoted = [], False
    for line in data.splitlines(keepends=True):
        if quoted or line.strip(b"\r\n"):
            lines.append(line)
        quoted ^= line.count(b'"') % 2 == 1
    return b"".join(lines)


def _check_quota(
    tournament: Tournament, entries: Sequence[LogEntry], team: str, name: str, content: str, size: int
) -> None:
    """Refuse a file that does not fit into the bytes kept for its team; equal files are kept once."""
    archived = {
        entry.details["sha256"]: entry.details["bytes"]
        for entry in entries
        if entry.kind == "submitted" and entry.details["team"] == team
    }
    used, quota = sum(archived.values()), tournament.settings.quota
    if content not in archived and used + size > quota:
        raise ValueError(f"{name}: its {size} bytes exceed what is left to {team}; {used} of {quota} bytes are used")


def _open_phase(tournament: Tournament, entries: Sequence[LogEntry], now: datetime) -> Phase:
    phase = tournament.phase(entries)
    if phase is Phase.CLOSED:
        raise ValueError("the tournament is closed; no file is accepted any more")
    end = tournament.settings.until(phase)
    if end is not None and now >= end:
        raise ValueError(f"phase {phase} ended at {end.isoformat()}; no file is accepted until the host opens the next")
    return phase


def _check_owner(tournament: Tournament, team: str, path: Path) -> None:
    """Refuse a table whose file name is that of another team's table."""
    owner = path.name.removesuffix("_anonymized.csv")
    if owner != team and owner in tournament.settings.teams:
        raise ValueError(f"{path.name}: is named as the table of {owner}, not of {team}")


def _target(tournament: Tournament, team: str, path: Path, against: str | None) -> str:
    match = _ATTACK_FILE.fullmatch(path.name)
    if match is not None and match["attacker"] != team:
        raise ValueError(f"{path.name}: is named as an attack by {match['attacker'][:40]!a}, not by {team}")
    if match is not None and against not in (None, match["target"]):
        raise ValueError(f"{path.name}: is named as an attack on {match['target'][:40]!a}, not on {against}")
    if match is None and against is None:
        raise ValueError(
            f"{path.name}: which team does it attack? Name it {team}_attack_TEAM.csv, or use --against TEAM"
        )
    against = against or str(match["target"] if match else "")
    tournament.team_folder(against)
    if against == team:
        raise ValueError(f"{path.name}: {team} cannot attack its own table")
    return against


def _validate(
    tournament: Tournament, entries: Sequence[LogEntry], team: str, target: str | None, name: str, data: bytes
) -> tuple[int, SubmissionUtility | None]:
    """Check a file; return its number of rows, and the utility of an anonymized table."""
    if target is None:
        sheet = read_sheet(name, data, tournament.form(team))
        return len(sheet.frame), tournament.originals(team).utility(sheet.frame, sheet.origin)
    table = tournament.tables(entries).get(target)
    if table is None:
        raise ValueError(f"{target} has submitted no table; there is nothing to attack")
    return read_answers(name, data, table.rows, tournament.settings.candidates).target.size, None


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"
