"""The store of results: a database, every addition one committed transaction, shared by any number of runs."""

from __future__ import annotations

import gc
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import sqlalchemy as sql

from leaderboard.result import Result, canonical
from metrics.score import Score

_CHUNK = 500
# Seconds to wait for a transaction of somebody else.
_PATIENCE = 60
_DOCUMENTS = ("game", "parameters", "attack_parameters", "scores", "values")

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
    sql.Column("scores", sql.Text, nullable=False),
    sql.Column("values", sql.Text, nullable=False),
    sql.Column("seconds", sql.Float, nullable=False),
    sql.Column("created", sql.Text, nullable=False),
    sql.Column("parts", sql.String(64), nullable=False, server_default=""),
    sqlite_autoincrement=True,
)
_NAMES = tuple(_results.c.keys())
# What results depend on, JSON by its hash: many results share a document.
_documents = sql.Table(
    "tokumei_documents",
    _schema,
    sql.Column("hash", sql.String(64), primary_key=True),
    sql.Column("content", sql.Text, nullable=False),
)
# Columns that databases of earlier versions lack; they are added when such a database is opened.
_ADDED = ("parts",)
_IDENTITY = [
    _results.c[name] for name in ("scenario", "game", "defense", "parameters", "attack", "attack_parameters", "play")
]


@dataclass(frozen=True)
class Trace:
    """What is known of a stored result without its numbers.

    Attributes
    ----------
    key, parts, status, reason
        See `leaderboard.Result`.
    """

    key: str
    parts: str
    status: str
    reason: str


class Store:
    """Results in a database; a context manager that closes it.

    What `add` has returned from survives the death of the process. Several processes may use one database at the same
    time, on several hosts where it is PostgreSQL. A new SQLite file is readable by its owner only. A database of an
    earlier version gets what it lacks when it is opened.

    Parameters
    ----------
    place : str or Path
        Path of an SQLite file, made if absent, or a database URL of SQLAlchemy (anything with ``://``).

    Raises
    ------
    ValueError
        Here and in every method, if the database cannot be used: it is no database, damaged, locked, or holds
        something other than results of this version. It is left as it was.

    Examples
    --------
    >>> from leaderboard import Result, Store
    >>> with Store(":memory:") as store:
    ...     store.add([Result(key="1" * 64, scenario="bank", defense="Mondrian", play=0, values={"marginals": 0.75})])
    ...     [result.defense for result in store.results("bank")]
    ['Mondrian']
    """

    def __init__(self, place: str | Path) -> None:
        text = str(place)
        try:
            url = sql.make_url(text) if "://" in text else sql.URL.create("sqlite", database=text)
            self._name = text if "://" not in text else url.render_as_string(hide_password=True)
            lite = url.get_backend_name() == "sqlite"
            self._engine = sql.create_engine(url, connect_args={"timeout": _PATIENCE} if lite else {})
        except ImportError as error:
            missing = error.name or "its driver"
            hint = "; install it with: pip install 'tokumei[postgresql]'" if missing.startswith("psycopg") else ""
            raise ValueError(f"database URL cannot be used: there is no {missing}{hint}") from None
        except sql.exc.ArgumentError as error:
            # The text may hold a password, and so may SQLAlchemy's message: neither is repeated.
            raise ValueError(
                f"database URL cannot be used ({type(error).__name__}); check its form and driver"
            ) from None
        self._file = url.database if lite else None
        self._writes_ahead = False
        if self._file and self._file != ":memory:":
            _make_private(self._file)
        try:
            self._open()
        except ValueError:
            self.close()
            raise

    def _open(self) -> None:
        with self.transaction() as connection:
            if connection.dialect.name == "postgresql":
                # Two hosts may open a new database at the same time.
                connection.execute(sql.select(sql.func.pg_advisory_xact_lock(sql.func.hashtext(_results.name))))
            inspector = sql.inspect(connection)
            tables = inspector.get_table_names()
            if _results.name in tables:
                found = {column["name"] for column in inspector.get_columns(_results.name)}
                lacking = [name for name in _ADDED if name not in found]
                if found | set(lacking) != set(_results.c.keys()):
                    raise ValueError(f"{self._name}: holds results of another version; name another file to play again")
                for name in lacking:
                    connection.execute(_new_column(_results.c[name], connection.dialect))
            elif tables and self._file:
                raise ValueError(f"{self._name}: is a database of something else; name another file")
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

    def statuses(self, scenario: str) -> dict[str, str]:
        """Status by key of all releases and trials of a scenario that are stored."""
        query = sql.select(_results.c.key, _results.c.status).where(_results.c.scenario == scenario)
        with self.transaction() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    def add(self, rows: Sequence[Result], documents: Mapping[str, str] | None = None) -> None:
        """Store results in one transaction; one of the same key is replaced.

        Parameters
        ----------
        rows : sequence of Result
            What to store.
        documents : mapping of str to str, optional
            JSON by its hash, of what these results and other documents name; those that are stored already stay.

        Raises
        ------
        ValueError
            If a number among parameters or values is not finite; nothing is stored then.
        """
        records = {row.key: _record(row) for row in rows}
        if not records and not documents:
            return
        self._write_ahead()
        with self.transaction() as connection:
            if connection.dialect.name == "postgresql":
                # Whoever stores the same trial at the same time waits, and then replaces it.
                connection.execute(sql.text(f"LOCK TABLE {_results.name} IN SHARE ROW EXCLUSIVE MODE"))
            if records:
                connection.execute(
                    _results.delete().where(_results.c.key == sql.bindparam("old")), [{"old": key} for key in records]
                )
                connection.execute(_results.insert(), list(records.values()))
            if documents:
                stored = set(connection.execute(sql.select(_documents.c.hash)).scalars())
                new = [{"hash": name, "content": text} for name, text in documents.items() if name not in stored]
                if new:
                    connection.execute(_documents.insert(), new)

    def results(self, scenario: str | None = None, keys: Collection[str] | None = None) -> list[Result]:
        """Results in order of insertion, of all scenarios or one.

        Where code or data changed between runs, the same release or trial is stored under several keys: the newest
        counts, or the one whose key is asked for. The same means equal scenario, game, defense, attack, their
        parameters, and play.

        Parameters
        ----------
        scenario : str, optional
            Only results of this scenario.
        keys : collection of str, optional
            Only results of these keys.
        """
        query = sql.select(_results).order_by(_results.c.id)
        if scenario is not None:
            query = query.where(_results.c.scenario == scenario)
        if keys is None:
            query = query.where(_results.c.id.in_(_newest(scenario)))
        with self.transaction() as connection:
            rows = connection.execute(query).all()
        place = _NAMES.index("key")
        return [_result(row) for row in rows if keys is None or row[place] in keys]

    def traces(self, scenario: str) -> dict[tuple[Any, ...], Trace]:
        """The newest result of each release and trial of a scenario, without its numbers.

        Returns
        -------
        dict
            By `identity`, in order of insertion.
        """
        columns = [*_IDENTITY, *(_results.c[name] for name in ("key", "parts", "status", "reason"))]
        query = sql.select(*columns).where(_results.c.id.in_(_newest(scenario))).order_by(_results.c.id)
        with self.transaction() as connection:
            rows = connection.execute(query).all()
        return {tuple(row[: len(_IDENTITY)]): Trace(*row[len(_IDENTITY) :]) for row in rows}

    def documents(self) -> dict[str, str]:
        """All that results depend on, JSON by its hash."""
        with self.transaction() as connection:
            rows = connection.execute(sql.select(_documents.c.hash, _documents.c.content)).all()
        return {row[0]: row[1] for row in rows}

    def close(self) -> None:
        """Close the database; an SQLite file is left as one file where nobody else is using it."""
        if self._writes_ahead and not self._made_one_file():
            # An interrupt may have left an open connection to the garbage collector.
            gc.collect()
            self._made_one_file()
        self._engine.dispose()

    def _made_one_file(self) -> bool:
        with suppress(sql.exc.DBAPIError), self._engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA busy_timeout = 0")
            return bool(connection.exec_driver_sql("PRAGMA journal_mode = DELETE").scalar() == "delete")
        return False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write_ahead(self) -> None:
        """Let others read and write an SQLite file between this one's transactions, which then need not wait for disk.

        A transaction that ended is safe from the death of the process; after a power cut the last ones may be missing,
        and what is there is whole.
        """
        if self._writes_ahead or not self._file:
            return
        with suppress(sql.exc.DBAPIError), self._engine.connect() as connection:
            mode = connection.exec_driver_sql("PRAGMA journal_mode = WAL").scalar()
            if mode == "wal":
                connection.exec_driver_sql("PRAGMA synchronous = NORMAL")
                self._writes_ahead = True

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


def identity(result: Result) -> tuple[Any, ...]:
    """What makes a stored result stand for the same release or trial as another."""
    values = (getattr(result, column.name) for column in _IDENTITY)
    return tuple(
        canonical(value) if column.name in _DOCUMENTS else value
        for column, value in zip(_IDENTITY, values, strict=True)
    )


def _newest(scenario: str | None) -> sql.Select[Any]:
    """Row numbers of the newest result of each release and trial."""
    newest = sql.select(sql.func.max(_results.c.id)).group_by(*_IDENTITY)
    return newest if scenario is None else newest.where(_results.c.scenario == scenario)


def _new_column(column: sql.Column[Any], dialect: sql.Dialect) -> sql.TextClause:
    kind = column.type.compile(dialect)
    return sql.text(f"ALTER TABLE {_results.name} ADD COLUMN {column.name} {kind} DEFAULT '' NOT NULL")


def _record(result: Result) -> dict[str, Any]:
    record = dict(vars(result))
    record["scores"] = {goal: asdict(score) for goal, score in result.scores.items()}
    for name in _DOCUMENTS:
        try:
            record[name] = canonical(record[name])
        except ValueError:
            trial = f"{result.scenario}, {result.defense} against {result.attack or 'nobody'}, play {result.play}"
            raise ValueError(f"{trial}: {name} hold a number that is not finite: {record[name]}") from None
    record["reason"] = _text(result.reason)
    return record


def _text(text: str) -> str:
    """Text that every database takes: what an error says may hold anything."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")


def _result(row: Sequence[Any]) -> Result:
    known = dict(zip(_NAMES, row, strict=True))
    del known["id"]
    for name in _DOCUMENTS:
        known[name] = dict(_parsed(known[name]))
    known["scores"] = {goal: Score(**score) for goal, score in known["scores"].items()}
    return Result(**known)


@lru_cache(maxsize=4096)
def _parsed(text: str) -> dict[str, Any]:
    """Parameters stand in many rows."""
    found: dict[str, Any] = json.loads(text)
    return found
