"""Tournaments that stay open between the steps of a long-running process."""

from __future__ import annotations

import threading
from pathlib import Path

from scenarios.tournament.rules.folder import Tournament
from scenarios.tournament.rules.settings import FILE

_local = threading.local()


def opened_tournament(folder: Path) -> Tournament:
    """The tournament in a folder, opened once in each thread as long as its settings do not change.

    Raises
    ------
    ValueError
        If the folder holds no tournament, or its settings are damaged.
    """
    try:
        status = (folder / FILE).stat()
    except OSError:
        return Tournament(folder)
    key = folder, status.st_mtime_ns, status.st_size
    if getattr(_local, "key", None) != key:
        _local.tournament, _local.key = Tournament(folder), key
    tournament: Tournament = _local.tournament
    return tournament
