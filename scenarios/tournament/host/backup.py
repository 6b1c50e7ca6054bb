"""Backup of a tournament's folder while it is in use, and its restoration."""

from __future__ import annotations

import io
import os
import sqlite3
import tarfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from metrics.columns import PRIVATE, UNFINISHED, refuse, require
from scenarios.tournament.host.exporting import new_archive
from scenarios.tournament.host.verifying import verify
from scenarios.tournament.rules.advancing import publish_again
from scenarios.tournament.rules.folder import Tournament, new_folder

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
    inside = tournament.folder in path.resolve().parents
    wrong = f"{path}: lies in the tournament's folder; name a file elsewhere" if inside else ""
    with new_archive(path, PRIVATE, wrong) as file, tarfile.open(fileobj=file, mode="w") as archive:
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
