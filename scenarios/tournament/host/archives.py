"""Archives of a tournament: backup and its verification, restoration, and export for others."""

from __future__ import annotations

import csv
import io
import json
import os
import secrets
import sqlite3
import tarfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

import pandas as pd

from metrics.columns import PRIVATE, UNFINISHED, check_new_file, refuse, refuse_any, require
from scenarios.tables.reading.csv_text import inferred_separator
from scenarios.tournament.host.boards import PAGES, neutralized_csv
from scenarios.tournament.host.presenting import (
    mean_points,
    media_type,
    presentations,
    presented_file,
    presented_names,
    shown_presentations,
    wrong_presentation,
)
from scenarios.tournament.host.publications import changed_publications
from scenarios.tournament.rules import (
    PUBLIC,
    LogEntry,
    Phase,
    State,
    Submission,
    Tournament,
    changed_copies,
    csv_bytes,
    folder_files,
    named_file,
    new_folder,
    publish_again,
    wrongly_published,
)
from scenarios.tournament.rules.arrivals import arrivals

# Export of a tournament as one archive, whose tables no spreadsheet takes for formulas.


def export(tournament: Tournament, path: Path, *, everything: bool = False) -> int:
    """Write a tournament as a zip archive.

    Cells of its CSV files that begin like a formula get an apostrophe in front.
    """
    neutral = (
        (name, _neutral(data) if name.endswith(".csv") else data)
        for name, data in _exported_files(tournament, everything=everything)
    )
    return write_archive(tournament, path, neutral, secret=everything)


def write_archive(tournament: Tournament, path: Path, files: Iterable[tuple[str, bytes]], *, secret: bool) -> int:
    """Write files into a new ZIP archive; return their number."""
    refuse(
        secret and tournament.public in path.resolve().parents, f"{path}: everybody sees this folder; name another one"
    )
    with (
        new_archive(path, PRIVATE if secret else PUBLIC) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name, data in files:
            archive.writestr(name, data)
        return len(archive.infolist())


@contextmanager
def new_archive(path: Path, mode: int) -> Iterator[BinaryIO]:
    """A new file that gets its name once the block has written it; if the block fails, there is none."""
    refuse(os.path.lexists(path), f"{path}: exists already; name a new file")
    check_new_file(path)
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}{UNFINISHED}")
    handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with named_file(path), os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(handle)
        os.link(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def _exported_files(tournament: Tournament, *, everything: bool) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the files."""
    yield "tournament.toml", (tournament.folder / "tournament.toml").read_bytes()
    yield from folder_files(tournament.public, "public")
    state = tournament.state(tournament.log.entries())
    entries = state.entries
    shown = presentations(entries) if everything else shown_presentations(tournament, entries)
    points = {team: [mean_points(entries, team, jury=jury) for jury in (True, False)] for team in shown}
    if any(count for means in points.values() for _, count in means):
        scored = [[team, *jury, *teams] for team, (jury, teams) in points.items()]
        table = pd.DataFrame(scored, columns=["team", "jury_mean", "jurors", "teams_mean", "teams"])
        yield "presentations/points.csv", csv_bytes(table)
    for team, page in shown.items():
        yield f"presentations/{team}.md", presented_file(tournament, page.text)
        if page.picture is not None:
            data = presented_file(tournament, page.picture)
            yield f"presentations/{team}.{'png' if media_type(data) == 'image/png' else 'jpg'}", data
    if not everything:
        return
    yield "log.jsonl", tournament.log.path.read_bytes()
    yield "log.csv", _log(entries)
    yield "teams.csv", _teams(state)
    yield "submissions.csv", _submissions(state)
    for one in (Submission.of(entry) for entry in entries if entry.kind == "submitted"):
        yield f"submissions/{one.team}/{_file_name(one)}", tournament.content(one.content)
    for name in ("originals", "candidates"):
        yield from folder_files(tournament.host / name, f"host/{name}")
    for name in ("roles.toml", "others.csv", *PAGES, "report.html", "incidents.jsonl"):
        if (tournament.host / name).is_file():
            yield f"host/{name}", (tournament.host / name).read_bytes()
    rows = [
        (team, original, candidate)
        for team in tournament.settings.teams
        for original, candidate in enumerate(tournament.answers(team).tolist())
    ]
    yield "host/truth.csv", neutralized_csv(("team", "original_row", "candidate_row"), rows).encode()
    for team in tournament.settings.teams:
        for name in ("RULES.md", "report.md"):
            file = tournament.team_folder(team) / name
            if file.is_file() and not file.is_symlink():
                yield f"teams/{team}/{name}", file.read_bytes()


def _file_name(one: Submission) -> str:
    return f"{one.number:06d}_{'table' if one.against is None else f'attack_{one.against}'}.csv"


def _log(entries: Sequence[LogEntry]) -> bytes:
    return neutralized_csv(
        ("number", "time", "kind", "team", "details", "hash"),
        [
            (
                *(one.number, one.time, one.kind, one.details.get("team")),
                json.dumps(one.details, ensure_ascii=False),
                one.hash,
            )
            for one in entries
        ],
    ).encode()


def _teams(state: State) -> bytes:
    return neutralized_csv(
        ("team", "title", "submissions", "quota_left", "disqualified"),
        [
            (team, title, len(state.submissions[team]), state.left(team), state.disqualified.get(team))
            for team, title in state.titles.items()
        ],
    ).encode()


def _submissions(state: State) -> bytes:
    in_force = {one.number for one in state.in_force.values()}
    rows = [
        (
            *(entry.number, entry.arrived, entry.details["team"], entry.details["phase"], entry.details["against"]),
            *(entry.details["rows"], entry.details["bytes"], entry.details["sha256"]),
            *("yes" if entry.number in in_force else "no", entry.details.get("late")),
        )
        for entry in state.entries
        if entry.kind == "submitted"
    ]
    header = ("number", "time", "team", "phase", "against", "rows", "bytes", "sha256", "in_force", "late")
    return neutralized_csv(header, rows).encode()


def _neutral(data: bytes) -> bytes:
    """A CSV file with neutralized cells; its separator stays."""
    text = data.decode("utf-8-sig")
    separator = inferred_separator(text)
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    return neutralized_csv(rows[0], rows[1:], separator).encode() if rows else data


# Verification of a tournament's log and files.

_UNRECORDED = (
    "originals, candidates, others and roles were not recorded at init, so changes of them are not seen; "
    "`init --adopt-hashes` records them"
)


def verify(tournament: Tournament) -> str:
    """Verify the log, the settings, accepted files and what is published; return a summary in one line.

    The host's files must be as the opening logged them: originals, candidate files, other people, roles, and the
    secret. So must be their copies in the teams' folders, as far as they are there. Boards and the results behind them
    must be as they were published last. Earlier versions logged no hashes.

    Every file must have been submitted by a team while its phase was open, or been admitted late by the host. Phases
    must follow each other, or have been opened again by the host. From the attack phase on, the published tables must
    be those in force.
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
    refuse_any(filter(None, changed_publications(tournament)), str)
    moved = sum(entry.kind in ("extended", "reopened") for entry in entries)
    changes = f"; deadlines were moved {moved} time{'' if moved == 1 else 's'}" if moved else ""
    waiting = len(arrivals(tournament))
    waits = f"; {waiting} upload{'' if waiting == 1 else 's'} not checked yet" if waiting else ""
    hashed = len(tournament.recorded_files)
    host = f"{hashed} files of the host are as at {tournament.recorded_since}" if hashed else _UNRECORDED
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
            wrong = wrong_presentation(entry, tournament.settings, phase, deadlines[phase], out)
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
    """Restore a backup into a new folder and verify it; return what `verify` says."""
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
