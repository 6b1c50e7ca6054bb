"""What the opening of a tournament logs about the host's files, by which later changes are noticed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_FILES = ("host/roles.toml", "host/others.csv", "host/secret.json")
_FOLDERS = ("host/originals", "host/candidates")


def file_hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of each file on which scores depend, by its path in the tournament's folder."""
    return {name: hash_of(folder / name) for name in _names(folder)}


def hash_of(path: Path) -> str:
    """SHA-256 of a file; empty if it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def changed_file(folder: Path, recorded: Mapping[str, str], path: Path) -> str:
    """What is wrong with one of the host's files; empty if nothing is, or if the opening logged no file.

    Parameters
    ----------
    folder : Path
        The tournament's folder.
    recorded : mapping of str to str
        Hashes that the opening logged; see `file_hashes`.
    path : Path
        The file.
    """
    expected, actual = recorded.get(path.relative_to(folder).as_posix(), ""), hash_of(path)
    if not recorded or actual == expected:
        return ""
    if not actual:
        return f"{path}: is missing or cannot be read; put it back as it was at the opening, for example from a backup"
    if not expected:
        return f"{path}: was added after the opening; remove it"
    return f"{path}: was changed since the opening; put it back as it was then, for example from a backup"


def changed_files(folder: Path, recorded: Mapping[str, str]) -> list[str]:
    """What is wrong with each of the host's files that is missing, was changed or was added since the opening."""
    return [
        wrong
        for name in dict.fromkeys((*recorded, *_names(folder)))
        if (wrong := changed_file(folder, recorded, folder / name))
    ]


def changed_setting(path: Path, recorded: Mapping[str, Any], actual: Mapping[str, Any], movers: str) -> str:
    """Which setting was changed by hand since the opening; empty if none was, or if the opening logged none.

    Parameters
    ----------
    path : Path
        The settings file.
    recorded, actual : mapping
        Settings as the opening logged them, and as the file has them.
    """
    for name, value in recorded.items():
        if value != actual.get(name):
            return f"{path}: {name} was changed by hand from {value!r} to {actual.get(name)!r}; put it back ({movers})"
    return ""


def changed_copies(folder: Path, recorded: Mapping[str, str]) -> list[str]:
    """What is wrong with the copies in the teams' folders; a folder or file that was handed over may be gone."""
    wrong = []
    for copy in sorted((folder / "teams").glob("*/*")):
        team, name = copy.parent.name, copy.name
        source = f"host/originals/{name}" if name == f"{team}_original.csv" else f"host/{name}"
        if source in recorded and copy.is_file() and hash_of(copy) != recorded[source]:
            wrong.append(f"{copy}: is not what the team was given; copy {folder / source} over it")
    return wrong


def _names(folder: Path) -> Iterator[str]:
    """Paths, in the tournament's folder, of the files on which scores depend."""
    yield from (name for name in _FILES if (folder / name).is_file())
    for name in _FOLDERS:
        yield from (f"{name}/{path.name}" for path in sorted((folder / name).glob("[!.]*.csv")))
