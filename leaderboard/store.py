"""The store of results: one table of a database, every addition one committed transaction."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import sqlalchemy as sql

from leaderboard.result import Result, canonical

_CHUNK = 500
_DOCUMENTS = ("game", "parameters", "attack_parameters", "values")

_schema = sql.MetaData()
_results = sql.Table(
    "tokumei_results",
    _schema,
    sql.Column("id", sql.Integer, primary_key=True),
    sql.Column("key", sql.String(64), nullable=False, unique=True),
    sql.Column("scenario", sql.Text, nullable=False, index=True),
    sql.Column("game", sql.Text, nullable=False),
    sql.Column("defense", sql.Text, nullable=False),
    sql.Column("parameters", sql.Text, nullable=False),
    sql.Column("guarantee", sql.Text, nullable=False),
    sql.Column("attack", sql.Text),
    sql.Column("attack_parameters", sql.Text, nullable=False),
    sql.Column("play", sql.Integer, nullable=False),
    sql.Column("status", sql.String(16), nullable=False),
    sql.Column("reason", sql.Text, nullable=False),
    sql.Column("values", sql.Text, nullable=False),
    sql.Column("seconds", sql.Float, nullable=False),
    sql.Column("created", sql.Text, nullable=False),
    sqlite_autoincrement=True,
)
_IDENTITY = [
    _results.c[name] for name in ("scenario", "game", "defense", "parameters", "attack", "attack_parameters", "play")
]


class Store:
    """Results in a database; a context manager that closes it.

    What `add` has returned from survives the death of the process. A new SQLite file is readable by its owner only.

    Parameters
    ----------
    place : str or Path
        Path of an SQLite file, made if absent, or a database URL of SQLAlchemy (anything with ``://``).

    Raises
    ------
    ValueError
        Here and in every method, if the database cannot be used: it is no database, damaged, locked, or holds
        something other than results of this version. It is left as it was.
    """

    def __init__(self, place: str | Path) -> None:
        text = str(place)
        try:
            url = sql.make_url(text) if "://" in text else sql.URL.create("sqlite", database=text)
            self._name = text if "://" not in text else url.render_as_string(hide_password=True)
            self._engine = sql.create_engine(url)
        except (sql.exc.ArgumentError, ImportError) as error:
            # The text may hold a password, and so may SQLAlchemy's message: neither is repeated.
            raise ValueError(
                f"database URL cannot be used ({type(error).__name__}); check its form and driver"
            ) from None
        self._file = url.database if url.get_backend_name() == "sqlite" else None
        if self._file and self._file != ":memory:":
            _make_private(self._file)
        try:
            self._open()
        except ValueError:
            self.close()
            raise

    def _open(self) -> None:
        with self.transaction() as connection:
            inspector = sql.inspect(connection)
            tables = inspector.get_table_names()
            if _results.name in tables:
                found = {column["name"] for column in inspector.get_columns(_results.name)}
                if found != set(_results.c.keys()):
                    raise ValueError(f"{self._name}: holds results of another version; name another file")
            elif tables and self._file:
                raise ValueError(f"{self._name}: is a database of something else; name another file")
            else:
                _schema.create_all(connection)

    def known(self, keys: Iterable[str]) -> dict[str, str]:
        """Status by key of those releases and trials that are stored already."""
        wanted = list(keys)
        status: dict[str, str] = {}
        with self.transaction() as connection:
            for start in range(0, len(wanted), _CHUNK):
                query = sql.select(_results.c.key, _results.c.status).where(
                    _results.c.key.in_(wanted[start : start + _CHUNK])
                )
                status.update((row[0], row[1]) for row in connection.execute(query))
        return status

    def add(self, rows: Sequence[Result]) -> None:
        """Store results in one transaction; one of the same key is replaced.

        Raises
        ------
        ValueError
            If a number among parameters or values is not finite; nothing is stored then.
        """
        records = {row.key: _record(row) for row in rows}
        if not records:
            return
        with self.transaction() as connection:
            connection.execute(
                _results.delete().where(_results.c.key == sql.bindparam("old")), [{"old": key} for key in records]
            )
            connection.execute(_results.insert(), list(records.values()))

    def results(self, scenario: str | None = None) -> list[Result]:
        """Results in order of insertion, of all scenarios or one.

        Where code or data changed between runs, the same release or trial is stored under several keys: the newest
        counts. The same means equal scenario, game, defense, attack, their parameters, and play.
        """
        newest = sql.select(sql.func.max(_results.c.id)).group_by(*_IDENTITY)
        query = sql.select(_results).order_by(_results.c.id)
        if scenario is not None:
            newest = newest.where(_results.c.scenario == scenario)
        with self.transaction() as connection:
            rows = connection.execute(query.where(_results.c.id.in_(newest))).mappings().all()
        return [_result(dict(row)) for row in rows]

    def of_keys(self, keys: Iterable[str]) -> list[Result]:
        """Results of these keys, in order of insertion; keys without a result are passed over."""
        wanted = list(keys)
        rows: list[dict[str, Any]] = []
        with self.transaction() as connection:
            for start in range(0, len(wanted), _CHUNK):
                query = sql.select(_results).where(_results.c.key.in_(wanted[start : start + _CHUNK]))
                rows += [dict(row) for row in connection.execute(query).mappings()]
        return [_result(row) for row in sorted(rows, key=lambda row: int(row["id"]))]

    def close(self) -> None:
        """Close the database."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[sql.Connection]:
        """A transaction whose database errors are one line that names the database."""
        try:
            with self._engine.begin() as connection:
                yield connection
        except sql.exc.DBAPIError as error:
            why = " ".join(str(error.orig).split())
            raise ValueError(f"{self._name}: {why}") from error


def _make_private(path: str) -> None:
    """Make an absent file, for its owner only (SQLite gives its journal the same mode)."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None


def _record(result: Result) -> dict[str, Any]:
    record = asdict(result)
    for name in _DOCUMENTS:
        try:
            record[name] = canonical(record[name])
        except ValueError:
            trial = f"{result.scenario}, {result.defense} against {result.attack or 'nobody'}, play {result.play}"
            raise ValueError(f"{trial}: {name} hold a number that is not finite: {record[name]}") from None
    return record


def _result(row: dict[str, Any]) -> Result:
    del row["id"]
    return Result(**{**row, **{name: json.loads(row[name]) for name in _DOCUMENTS}})
