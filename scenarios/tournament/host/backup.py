"""Backup of a tournament's folder while it is in use, and its restoration."""

from __future__ import annotations

import io
import os
import sqlite3
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path

from metrics.columns import PRIVATE, UNFINISHED, refuse, refuse_any, require
from scenarios.tournament.host.exporting import new_archive
from scenarios.tournament.host.presenting import presented_file, presented_names, wrong_presentation
from scenarios.tournament.rules.advancing import publish_again, wrongly_published
from scenarios.tournament.rules.arrivals import arrivals
from scenarios.tournament.rules.folder import Tournament, new_folder
from scenarios.tournament.rules.log import LogEntry
from scenarios.tournament.rules.opening_record import changed_copies
from scenarios.tournament.rules.settings import Phase

# Verification of a tournament's log and files.

_UNRECORDED = "originals, candidates, others and roles were not recorded at init, so changes of them are not seen"


def verify(tournament: Tournament) -> str:
    """Verify the log, the settings, accepted files and what is published; return a summary in one line.

    The host's files must be as the opening logged them: originals, candidate files, other people, roles, and the
    secret. So must be their copies in the teams' folders, as far as they are there. Earlier versions logged no hashes.

    Every file must have been submitted by a team while its phase was open, or been admitted late by the host. Phases
    must follow each other, or have been opened again by the host. From the attack phase on, the published tables must
    be those in force.

    Raises
    ------
    ValueError
        If an entry was changed, dropped or inserted, or contradicts an earlier one; if a setting was changed by hand.
        If an accepted or published file, or one of the host's, is missing or was changed.
    """
    entries = tournament.log.entries()
    phase = tournament.state(entries).phase
    refuse(
        tournament.log.head().lasting != tuple(entry for entry in entries if entry.lasting),
        f"{tournament.log.path}.checkpoint: contradicts the log; remove it",
    )
    tournament.check_opening()
    _check_order(tournament, entries)
    accepted = [entry.details["sha256"] for entry in entries if entry.kind == "submitted"]
    for content in dict.fromkeys(accepted):
        tournament.content(content)
    for name in presented_names(entries):
        presented_file(tournament, name)
    refuse_any(
        wrongly_published(tournament), lambda path: f"{path}: is not the file that counts; `score` publishes that one"
    )
    refuse_any(changed_copies(tournament.folder, tournament.recorded_files), str)
    moved = sum(entry.kind in ("extended", "reopened") for entry in entries)
    changes = f"; deadlines were moved {moved} time{'' if moved == 1 else 's'}" if moved else ""
    waiting = len(arrivals(tournament))
    waits = f"; {waiting} upload{'' if waiting == 1 else 's'} not checked yet" if waiting else ""
    hashed = len(tournament.recorded_files)
    host = f"{hashed} files of the host are as at the opening" if hashed else _UNRECORDED
    return (
        f"{len(entries)} entries and {len(accepted)} accepted files are unchanged; {host}; phase {phase}{changes}"
        f"{waits}; last hash {entries[-1].hash}"
    )


def _check_order(tournament: Tournament, entries: Sequence[LogEntry]) -> None:
    """Compare every entry with the phase and the deadline of its time."""
    order = tournament.settings.phases
    # Hosts of earlier versions moved deadlines by hand; their logs have no settings.
    stated = "settings" in entries[0].details
    deadlines = {one: tournament.settings.until(one) if stated else None for one in order}
    phase = Phase.ANONYMIZE
    left: dict[Phase, datetime] = {}
    out: set[str] = set()
    numbers: dict[int, LogEntry] = {}
    for entry in entries[1:]:
        details = entry.details
        wrong = ""
        if entry.kind in ("submitted", "taken"):
            numbers[entry.number] = entry
            wrong = _wrong_submission(entry, _phase_of(entry, phase, left), deadlines, out)
            if entry.kind == "taken" and not _same(entry, numbers.get(details["number"])):
                wrong = "takes a submission into force that is none"
        elif entry.kind == "presented":
            wrong = wrong_presentation(entry, phase, deadlines[phase], out)
        elif entry.kind == "advanced":
            if (details["from"], details["to"]) != (phase, tournament.settings.after(phase)) or phase is Phase.CLOSED:
                wrong = f"closes phase {details['from']} while the phase is {phase}"
            left[phase], phase = datetime.fromisoformat(entry.arrived), Phase(details["to"])
        elif entry.kind in ("extended", "reopened"):
            moved = Phase(details["phase"])
            if (order.index(moved) < order.index(phase)) != (entry.kind == "reopened"):
                wrong = f"moves the end of phase {moved} while the phase is {phase}"
            deadlines[moved] = datetime.fromisoformat(details["until"])
            if entry.kind == "reopened":
                left[phase], phase = datetime.fromisoformat(entry.arrived), moved
        elif entry.kind == "disqualified":
            out.add(details["team"])
        elif entry.kind == "readmitted":
            out.discard(details["team"])
        refuse(wrong, f"{tournament.log.path}, line {entry.number}: {wrong}")


def _phase_of(entry: LogEntry, phase: Phase, left: Mapping[Phase, datetime]) -> Phase:
    """Phase in which a file was accepted: the current one, or the one in which it arrived at the site before the close.

    `left` says when each phase was left last.
    """
    own = Phase(entry.details["phase"])
    arrived = datetime.fromisoformat(entry.arrived)
    return own if "arrival" in entry.details and own in left and arrived <= left[own] else phase


def _wrong_submission(entry: LogEntry, phase: Phase, deadlines: Mapping[Phase, datetime | None], out: set[str]) -> str:
    """What contradicts a submission; empty if nothing does."""
    details, end = entry.details, deadlines[phase]
    if details["team"] in out:
        return f"is of team {details['team']}, which is disqualified"
    if "late" in details:
        return ""
    if details["phase"] != phase or phase is Phase.CLOSED:
        return f"is of phase {details['phase']}, but the phase is {phase}"
    if (details["against"] is None) == (phase is Phase.ATTACK):
        return f"is no submission of phase {phase}"
    if end is not None and datetime.fromisoformat(entry.arrived) >= end:
        return f"is of {entry.arrived}, after the end of phase {phase} at {end.isoformat()}"
    return ""


def _same(taken: LogEntry, first: LogEntry | None) -> bool:
    """Whether an entry takes this submission into force."""
    return (
        first is not None
        and first.kind == "submitted"
        and all(taken.details[name] == first.details[name] for name in ("team", "against", "sha256", "rows"))
    )


_SQLITE = b"SQLite format 3\0"
_LEFT_OUT = (UNFINISHED, ".lock", ".checkpoint", "-wal", "-shm", "-journal")


def backup(tournament: Tournament, path: Path) -> int:
    """Write the whole folder into a tar archive; files may be submitted and scored meanwhile.

    The log is read first. A submitted file is stored before its log entry is written, and it never changes. Every file
    that the log of the backup names is therefore in the backup. Presentations and accounts are, too. Databases are
    copied by SQLite itself. The archive holds all secrets; only its owner can read it.

    Parameters
    ----------
    tournament : Tournament
        The tournament.
    path : Path
        The archive, a new file outside the tournament's folder.

    Returns
    -------
    int
        Number of entries in the log of the backup.

    Raises
    ------
    ValueError
        If the archive exists already, or lies in the tournament's folder.
    OSError
        If it cannot be written; then there is no archive.
    """
    refuse(
        tournament.folder in path.resolve().parents, f"{path}: lies in the tournament's folder; name a file elsewhere"
    )
    with new_archive(path, PRIVATE) as file, tarfile.open(fileobj=file, mode="w") as archive:
        log = tournament.log.complete()
        moment = tournament.log.path.stat().st_mtime
        _add(archive, tournament.log.path.relative_to(tournament.folder), log, PRIVATE, moment)
        for one in _files(tournament.folder):
            if one != tournament.log.path:
                status = one.stat()
                name, mode = one.relative_to(tournament.folder), status.st_mode & 0o777
                _add(archive, name, _content(one), mode, status.st_mtime)
    return log.count(b"\n")


def restore(path: Path, folder: Path) -> str:
    """Restore a backup into a new folder and verify it; return what `verify` says.

    Parameters
    ----------
    path : Path
        An archive that `backup` wrote.
    folder : Path
        Must not exist.

    Raises
    ------
    ValueError
        If the folder exists, or the archive is no valid backup; then there is no folder.
    """
    refuse(os.path.lexists(folder), f"{folder}: exists already; name a new folder")
    require(path.exists(), f"{path}: there is no such file")
    with new_folder(folder) as unfinished:
        unfinished.mkdir(mode=0o700)
        try:
            with tarfile.open(path, "r:") as archive:
                for member in archive:
                    require(member.isfile(), f"{path}: {member.name!r} is no file")
                    archive.extract(member, unfinished, filter="data")
                    (unfinished / member.name).chmod(member.mode & 0o777)
        except (tarfile.TarError, FileNotFoundError, EOFError) as error:
            raise ValueError(f"{path}: is no backup of a tournament ({error})") from None
        _protect(unfinished)
        try:
            # What is published follows from the log, and may have changed while the backup was written.
            publish_again(Tournament(unfinished))
            return verify(Tournament(unfinished))
        except ValueError as error:
            # The folder is temporary; what is damaged is the file of that name in the archive.
            raise ValueError(f"{path}: {str(error).replace(f'{unfinished.resolve()}/', '')}") from None


def _files(folder: Path) -> Iterator[Path]:
    """Ordinary files of a folder and its subfolders; links are left out, and what commands make anew."""
    for place, folders, names in os.walk(folder):
        # Earlier versions copied databases to such folders, and left them behind when they were killed.
        folders[:] = [name for name in folders if not name.endswith(UNFINISHED)]
        for name in sorted(names):
            one = Path(place) / name
            if not one.is_symlink() and one.is_file() and not name.endswith(_LEFT_OUT):
                yield one


def _content(path: Path) -> bytes:
    """Content of a file; that of a database as of one moment."""
    with path.open("rb") as file:
        if file.read(len(_SQLITE)) != _SQLITE:
            return path.read_bytes()
    # In memory, so that a backup that is killed leaves no copy behind.
    with closing(sqlite3.connect(path, timeout=60)) as source, closing(sqlite3.connect(":memory:")) as target:
        source.backup(target)
        return bytes(target.serialize())


def _add(archive: tarfile.TarFile, name: Path, data: bytes, mode: int, moment: float) -> None:
    """Add a file with its moment, by which the site sees whether boards were written after the close."""
    member = tarfile.TarInfo(name.as_posix())
    member.size, member.mode, member.mtime = len(data), mode, moment
    archive.addfile(member, io.BytesIO(data))


def _protect(folder: Path) -> None:
    """Permissions of the folders as at the opening."""
    folder.chmod(0o755)
    for name in ("public", "teams", "host/submissions", "host/originals", "host/candidates"):
        (folder / name).mkdir(exist_ok=True, parents=True)
    for place in (path for path in folder.rglob("*") if path.is_dir()):
        top = place.relative_to(folder).parts
        place.chmod(0o700 if top[0] == "host" else 0o755 if len(top) == 1 else 0o750)
