"""Export of a tournament as one archive, whose tables no spreadsheet takes for formulas."""

from __future__ import annotations

import csv
import io
import json
import os
import secrets
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from metrics.columns import PRIVATE, UNFINISHED, check_new_file, refuse
from scenarios.tables.reading.csv_text import inferred_separator
from scenarios.tournament.host.boards import PAGES, neutralized_csv
from scenarios.tournament.host.presenting import media_type, presentations, presented_file
from scenarios.tournament.rules.folder import PUBLIC, State, Submission, Tournament, folder_files
from scenarios.tournament.rules.log import LogEntry, named_file


def export(tournament: Tournament, path: Path, *, everything: bool = False) -> int:
    """Write a tournament as a zip archive.

    Cells of its CSV files that begin like a formula get an apostrophe in front.

    Parameters
    ----------
    tournament : Tournament
        The tournament.
    path : Path
        The archive, a new file.
    everything : bool
        Also what the host alone may see: log, submissions, originals, candidate files, true origins, all scores and
        reports. Only the secret seed is left out. Then only the owner can read the archive.

    Returns
    -------
    int
        Number of files in it.

    Raises
    ------
    ValueError
        If the archive exists already, or its folder does not or is published.
    OSError
        If it cannot be written; then there is no archive.
    """
    neutral = (
        (name, _neutral(data) if name.endswith(".csv") else data)
        for name, data in _files(tournament, everything=everything)
    )
    return write_archive(tournament, path, neutral, secret=everything)


def write_archive(tournament: Tournament, path: Path, files: Iterable[tuple[str, bytes]], *, secret: bool) -> int:
    """Write files into a new ZIP archive; return their number.

    Parameters
    ----------
    tournament : Tournament
        The tournament.
    path : Path
        The archive, a new file.
    files : iterable of (str, bytes)
        Name and content of each file.
    secret : bool
        Whether only the owner may read the archive, so that its folder must not be a published one.

    Raises
    ------
    ValueError
        If the archive exists already, or its folder does not or is published.
    OSError
        If it cannot be written; then there is no archive.
    """
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
    """A new file that gets its name once the block has written it; if the block fails, there is none.

    Parameters
    ----------
    path : Path
        The file.
    mode : int
        Its permissions.

    Raises
    ------
    ValueError
        If it exists already, or its folder takes no new file.
    """
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


def _files(tournament: Tournament, *, everything: bool) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the files."""
    yield "tournament.toml", (tournament.folder / "tournament.toml").read_bytes()
    yield from folder_files(tournament.public, "public")
    if not everything:
        return
    state = tournament.state(tournament.log.entries())
    entries = state.entries
    yield "log.jsonl", tournament.log.path.read_bytes()
    yield "log.csv", _log(entries)
    yield "teams.csv", _teams(state)
    yield "submissions.csv", _submissions(state)
    for one in (Submission.of(entry) for entry in entries if entry.kind == "submitted"):
        yield f"submissions/{one.team}/{_file_name(one)}", tournament.content(one.content)
    for team, page in presentations(entries).items():
        yield f"presentations/{team}.md", presented_file(tournament, page.text)
        if page.picture is not None:
            data = presented_file(tournament, page.picture)
            yield f"presentations/{team}.{'png' if media_type(data) == 'image/png' else 'jpg'}", data
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
