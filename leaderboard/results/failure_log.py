"""The runner's log of failures: when a trial failed, and when it succeeded again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta

import sqlalchemy as sql

from leaderboard.results.result import FAILURES, Result, canonical
from leaderboard.results.store import Store, identity
from leaderboard.statistics.downtime import Incident

_schema = sql.MetaData()
_failures = sql.Table(
    "tokumei_failures",
    _schema,
    sql.Column("id", sql.Integer, primary_key=True),
    sql.Column("trial", sql.String(64), nullable=False, index=True),
    sql.Column("status", sql.Text, nullable=False),
    sql.Column("began", sql.Text, nullable=False),
    sql.Column("found", sql.Text, nullable=False),
    sql.Column("repaired", sql.Text, nullable=False),
    sqlite_autoincrement=True,
)


class FailureLog:
    """Log of failed releases and trials in a database of results.

    A failure stays in the log when a later run replaces its result. It is repaired once the same release or trial
    succeeds. The log holds no parameters and no messages.

    Parameters
    ----------
    store : Store
        The database.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._open = {trial for trial, _, _, _, repaired in _rows(store) if not repaired}

    def record(self, results: Sequence[Result]) -> None:
        """Record failures among results, and repairs of earlier ones; does nothing if there are none."""
        failed = [result for result in results if result.status in FAILURES]
        repaired = [
            result for result in results if result.status == "ok" and self._open and _trial(result) in self._open
        ]
        if not failed and not repaired:
            return
        with self._store.transaction_alone() as connection:
            _schema.create_all(connection)
            for result in repaired:
                unrepaired = (_failures.c.trial == _trial(result)) & (_failures.c.repaired == "")
                connection.execute(_failures.update().where(unrepaired).values(repaired=result.created))
            if failed:
                connection.execute(_failures.insert(), [_row(result) for result in failed])
        self._open -= {_trial(result) for result in repaired}
        self._open |= {_trial(result) for result in failed}


def recorded_incidents(store: Store) -> list[Incident]:
    """All failures in a database's log, oldest first.

    Raises
    ------
    ValueError
        If the log was changed by others.
    """
    incidents = []
    for _, status, began, found, repaired in _rows(store):
        try:
            moments = [datetime.fromisoformat(text) for text in (began, found, *([repaired] if repaired else []))]
        except (TypeError, ValueError):
            raise ValueError(f"the log of failures is damaged ({found!r} is no time)") from None
        start, detected, *ended = (moment if moment.tzinfo else moment.astimezone() for moment in moments)
        incidents.append(Incident(f"failed trial ({status})", start, detected, ended[0] if ended else None))
    return incidents


def _rows(store: Store) -> list[tuple[str, str, str, str, str]]:
    return [
        (row["trial"], row["status"], row["began"], row["found"], row["repaired"])
        for row in store.rows_of(_failures, _failures.c.id)
    ]


def _row(result: Result) -> dict[str, str]:
    ended = datetime.fromisoformat(result.created) if result.created else datetime.now().astimezone()
    return {
        "trial": _trial(result),
        "status": result.status,
        "began": (ended - timedelta(seconds=result.seconds)).isoformat(timespec="seconds"),
        "found": ended.isoformat(timespec="seconds"),
        "repaired": "",
    }


def _trial(result: Result) -> str:
    """Hash of a release's or trial's identity."""
    return hashlib.sha256(canonical(list(identity(result))).encode()).hexdigest()
