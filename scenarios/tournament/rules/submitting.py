"""Submission of files: valid files are archived under the hash of their content, and the log records their teams.

The log alone decides which files are accepted: a file counts once its log entry is complete. Its content is safe on the
disk before that. A crash in between leaves a file without an entry, which is no submission.
"""

from __future__ import annotations

import getpass
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from metrics.columns import one_line, refuse
from scenarios.tournament.rules.folder import Submission, Tournament, store_file
from scenarios.tournament.rules.incidents import record_refusal
from scenarios.tournament.rules.log import LogEntry
from scenarios.tournament.rules.problems import FileError, InvalidFileError
from scenarios.tournament.rules.settings import Phase
from scenarios.tournament.rules.sheets import read_submission
from scenarios.tournament.rules.submission_utility import SubmissionUtility
from scenarios.tournament.rules.validating import Upload, attacked, check_kind, clear_target, validated


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
        Utility of an anonymized table; None for a correspondence table, or if it was not measured.
    notes : tuple of str
        What the team should know about a correspondence table, such as ``50 of 100 rows answered``.
    """

    submission: Submission
    entry: LogEntry
    utility: SubmissionUtility | None
    notes: tuple[str, ...] = ()


def submit(
    tournament: Tournament,
    team: str,
    path: Path,
    now: datetime,
    *,
    against: str | None = None,
    measure: bool = True,
) -> Receipt:
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
    measure : bool
        Measure the utility of a table; see `submit_content`.

    Raises
    ------
    InvalidFileError
        If the file breaks rules, with all problems; then nothing has changed but the list of refused files.
    ValueError
        If team or phase is invalid; likewise.
    OSError
        If the file cannot be written; then nothing has changed.
    """
    tournament.team_folder(team)
    phase = open_phase(tournament, tournament.log.head().lasting, team, now)
    about = clear_target(team, path.name, against) if phase is Phase.ATTACK else None
    try:
        data = read_submission(path)
    except ValueError:
        record_refusal(tournament, team, about, _written(path, now), now)
        raise
    return submit_content(
        tournament, team, path.name, data, now, against=against, measure=measure, written=_written(path, now)
    )


def submit_content(
    tournament: Tournament,
    team: str,
    name: str,
    data: bytes,
    now: datetime,
    *,
    against: str | None = None,
    measure: bool = True,
    written: datetime | None = None,
    phase: Phase | None = None,
    arrival: str = "",
) -> Receipt:
    """Validate and archive the content of a file.

    The file is validated before the tournament is locked, so that others may submit meanwhile.

    Parameters
    ----------
    tournament, team, now, against
        See `submit`.
    name : str
        Name of the file, for messages and to tell whom it attacks.
    data : bytes
        Its content.
    measure : bool
        Measure the utility of a table, which takes longer than all else.
    written : datetime, optional
        When the file was written, `now` by default.
    phase : Phase, optional
        Phase in which the file arrived, if that was recorded then; the host may have closed it since. By default the
        current one.
    arrival : str
        Name of the file in the record of its arrival; empty without one.

    Raises
    ------
    InvalidFileError, ValueError, OSError
        See `submit`.
    """
    tournament.team_folder(team)
    entries = tournament.log.head().lasting
    recorded, phase = phase, open_phase(tournament, entries, team, now, phase)
    try:
        check_kind(tournament, phase, team, name, against)
        target = attacked(tournament, team, name, against, required=True) if phase is Phase.ATTACK else None
        upload = validated(tournament, entries, team, name, data, target)
        utility = upload.utility(tournament) if measure else None
        with tournament.log.locked():
            tournament.sweep()
            entries = tournament.log.head().lasting
            refuse(
                open_phase(tournament, entries, team, now, recorded) is not phase, f"phase {phase} was closed meanwhile"
            )
            entry = archive(tournament, entries, phase, upload, now, arrival=arrival)
    except ValueError:
        about = clear_target(team, name, against) if phase is Phase.ATTACK else None
        record_refusal(tournament, team, about, written or now, now)
        raise
    return Receipt(Submission.of(entry), entry, utility, upload.notes)


def submit_all(
    tournament: Tournament, team: str, paths: Sequence[Path], now: datetime, *, against: str | None = None
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
        For each file, as soon as it is accepted or refused.

    Raises
    ------
    ValueError
        If there is no such team.
    OSError
        If a file cannot be written; earlier files stay accepted.
    """
    tournament.team_folder(team)
    refuse(against is not None and len(paths) > 1, f"--against is for one file, but {len(paths)} are given")
    for path in paths:
        try:
            yield submit(tournament, team, path, now, against=against)
        except ValueError as error:
            yield error


def take_into_force(tournament: Tournament, team: str, number: int, now: datetime) -> Submission:
    """Take an older submission of a team into force again; quotas are unaffected.

    Parameters
    ----------
    tournament : Tournament
        The tournament.
    team : str
        The team.
    number : int
        Number of the log entry that accepted the submission, as its receipt names it.
    now : datetime
        Current time, with a time zone.

    Returns
    -------
    Submission
        The submission, which now counts.

    Raises
    ------
    ValueError
        If the team has no such submission, its phase is not open, it counts already, or it attacks a table that has
        changed.
    """
    tournament.team_folder(team)
    with tournament.log.locked():
        state = tournament.state(tournament.log.entries())
        phase = open_phase(tournament, state.entries, team, now)
        own = {one.number: one for one, _ in state.submissions[team]}
        if number not in own:
            numbers = ", ".join(map(str, list(own)[-20:])) or "none"
            raise ValueError(f"team {team} has no submission {number}; its submissions are {numbers}")
        one = own[number]
        if (one.against is None) == (phase is Phase.ATTACK):
            kind = "table" if one.against is None else "attack"
            raise ValueError(f"submission {number} is a{'n' * (kind == 'attack')} {kind}; the phase is {phase}")
        target = state.tables.get(one.against) if one.against is not None else None
        if one.against is not None and (target is None or one.table not in (None, target.content)):
            raise ValueError(f"submission {number} attacks a table that {one.against} has withdrawn or replaced")
        refuse(state.in_force.get((team, one.against)) == one, f"submission {number} counts already")
        details = {
            "team": team,
            "phase": str(phase),
            "against": one.against,
            "sha256": one.content,
            "rows": one.rows,
            "number": number,
            "by": _user(),
        }
        tournament.log.append("taken", details | ({"table": one.table} if one.table else {}), now)
    return one


def archive(
    tournament: Tournament,
    entries: Sequence[LogEntry],
    phase: Phase,
    upload: Upload,
    now: datetime,
    *,
    late: str | None = None,
    arrival: str = "",
) -> LogEntry:
    """Archive a valid file and log it; the log must be locked, and `entries` be its lasting ones.

    Raises
    ------
    ValueError
        If the file exceeds the team's quota, or the table that it attacks has changed.
    """
    if upload.target is not None:
        table = tournament.state(entries).tables.get(upload.target)
        if table is None or table.content != upload.table:
            raise ValueError(f"the table of {upload.target} has changed meanwhile; attack the new one")
    _check_quota(tournament, upload)
    content = store_file(tournament.submissions, upload.data, mode=0o400)
    details = {
        "team": upload.team,
        "phase": str(phase),
        "against": upload.target,
        "sha256": content,
        "bytes": len(upload.data),
        "rows": upload.rows,
        "by": _user(),
        **({"table": upload.table} if upload.table else {}),
        **({"late": late} if late is not None else {}),
        **({"arrival": arrival} if arrival else {}),
    }
    return tournament.log.append("submitted", details, now)


def _check_quota(tournament: Tournament, upload: Upload) -> None:
    """Refuse a file that does not fit into the bytes kept for its team."""
    quota, team, size = tournament.settings.quota, upload.team, len(upload.data)
    if tournament.log.head().sent.get(team, 0) + size <= quota:
        return
    archived = tournament.state(tournament.log.entries()).archived(team)
    used = sum(archived.values())
    if hashlib.sha256(upload.data).hexdigest() not in archived and used + size > quota:
        raise FileError(
            upload.name, f"its {size} bytes exceed what is left to {team}; {used} of {quota} bytes are used"
        )


def open_phase(
    tournament: Tournament, entries: Sequence[LogEntry], team: str, now: datetime, recorded: Phase | None = None
) -> Phase:
    """The phase, if it takes files of the team: the current one, or the recorded one in which a file arrived.

    Raises
    ------
    ValueError
        If the phase has ended, the tournament is closed, or the team is disqualified.
    """
    state = tournament.state(entries)
    phase = recorded or state.phase
    refuse(phase is Phase.CLOSED, "the tournament is closed; no file is accepted any more")
    refuse(team in state.disqualified, f"team {team} is disqualified: {state.disqualified.get(team)}")
    end = state.end(phase)
    if end is not None and now >= end:
        raise ValueError(f"phase {phase} ended at {end.isoformat()}; no file is accepted until the host opens the next")
    return phase


def _written(path: Path, now: datetime) -> datetime:
    """When a file was written; `now` if there is no such file."""
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError:
        return now


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


# Outcomes of submitted files as JSON, for pages and scripts.


def accepted_outcome(name: str, receipt: Receipt) -> dict[str, Any]:
    """Outcome of an accepted file as JSON.

    Parameters
    ----------
    name : str
        Name of the file.
    receipt : Receipt
        Its receipt.

    Returns
    -------
    dict
        ``file``, ``accepted`` (true), ``message``, ``problems`` (none) and ``receipt``.
    """
    submission = receipt.submission
    plural = "" if submission.rows == 1 else "s"
    return {
        "file": name,
        "accepted": True,
        "message": ", ".join(["accepted", *(receipt.notes or [f"{submission.rows} row{plural}"])]),
        "problems": [],
        "receipt": {
            "number": submission.number,
            "time": receipt.entry.arrived,
            "sha256": submission.content,
            "log": receipt.entry.hash,
            "rows": submission.rows,
            "against": submission.against,
        },
    }


def outcome(name: str, one: Receipt | ValueError | OSError) -> dict[str, Any]:
    """Outcome of a file as JSON, whether it was accepted or refused."""
    return accepted_outcome(name, one) if isinstance(one, Receipt) else refused_outcome(name, one)


def refused_outcome(name: str, error: ValueError | OSError) -> dict[str, Any]:
    """Outcome of a refused file as JSON.

    Parameters
    ----------
    name : str
        Name of the file.
    error : ValueError or OSError
        Why it was refused.

    Returns
    -------
    dict
        ``file``, ``accepted`` (false), ``message`` and ``problems``, each with row, column and what would be right. If
        the file breaks rules, also ``total``, the number of all problems.
    """
    if isinstance(error, InvalidFileError):
        refused = unsubmitted(f"{counted_problems(error)}; nothing was submitted", name)
        return {**refused, **error.as_json(), "file": name}
    return unsubmitted(one_line(error), name)


def unsubmitted(message: str, name: str) -> dict[str, Any]:
    """Outcome, as JSON, of a file that was not submitted for one reason."""
    return {"file": name, "accepted": False, "message": message, "problems": []}


def counted_problems(error: InvalidFileError) -> str:
    """Number of a file's problems, such as ``1 problem``."""
    return f"{error.total} problem{'' if error.total == 1 else 's'}"
