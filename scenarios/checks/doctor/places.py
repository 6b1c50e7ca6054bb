"""Places that are written to: the database of results, and the folder of temporary files."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from leaderboard.pages.number_text import counted
from leaderboard.results.rows import documents_table
from leaderboard.results.store import Store
from scenarios.checks.doctor.diagnosis import Diagnosis

SCARCE = 1 << 30
"""Bytes of free space below which a note is given."""


class _RollbackError(Exception):
    """Ends a transaction without its changes."""


def check_database(db: str) -> Diagnosis:
    """Whether the database can be opened and written to; nothing in it changes, and none is created.

    Parameters
    ----------
    db : str
        An SQLite file or an SQLAlchemy URL.
    """
    new = "://" not in db and not Path(db).exists()
    advice = "name another place with --db"
    try:
        if new:
            with tempfile.TemporaryDirectory(dir=Path(db).absolute().parent) as folder:
                _write(str(Path(folder, "new.db")))
            return Diagnosis("database", "ok", f"{db} does not exist yet and can be made")
        count = _write(db)
    except (ValueError, OSError) as error:
        return Diagnosis("database", "failed", str(error), advice)
    return Diagnosis(
        "database", "ok", f"{_shown(db)} can be written to; it holds {counted(count, 'result')}", "", {"results": count}
    )


def check_space(folder: Path | None = None) -> Diagnosis:
    """Free space for temporary files, which tables that exceed memory need."""
    where = Path(tempfile.gettempdir()) if folder is None else folder
    free = shutil.disk_usage(where).free
    text = f"{where} has {free / (1 << 30):.1f} GiB of free space"
    if free < SCARCE:
        return Diagnosis("space", "note", text, "set TMPDIR to a larger folder", {"bytes": free})
    return Diagnosis("space", "ok", text, "", {"bytes": free})


def _write(db: str) -> int:
    """Write to a database, undo it, and count its results."""
    with Store(db) as store:
        count = len(store.results())
        try:
            with store.transaction() as connection:
                connection.execute(documents_table.insert(), {"hash": "doctor", "content": "{}"})
                raise _RollbackError
        except _RollbackError:
            return count


def _shown(db: str) -> str:
    """Name of a database without its password."""
    if "://" not in db:
        return db
    from sqlalchemy import make_url

    return make_url(db).render_as_string(hide_password=True)
