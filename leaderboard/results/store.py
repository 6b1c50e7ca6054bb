"""The store of results: a database that several runs may share."""

from __future__ import annotations

import gc
import json
import math
import os
import signal
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Self

import sqlalchemy as sql

from leaderboard.results.result import Result, canonical
from leaderboard.results.version import version
from metrics.columns import errors_at, refuse_any, require
from metrics.score import Score

# Tables of the database of results, and results as its rows.

schema = sql.MetaData()
results_table = sql.Table(
    "tokumei_results",
    schema,
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
documents_table = sql.Table(
    "tokumei_documents",
    schema,
    sql.Column("hash", sql.String(64), primary_key=True),
    sql.Column("content", sql.Text, nullable=False),
)
"""What results depend on, as JSON by its hash: many results share a document."""
ADDED_COLUMNS = ("parts",)
"""Columns that databases of earlier versions lack; they are added when such a database is opened."""
JSON_COLUMNS = ("game", "parameters", "attack_parameters", "scores", "values")
IDENTITY = [
    results_table.c[name]
    for name in ("scenario", "game", "defense", "parameters", "attack", "attack_parameters", "play")
]
"""Columns that identify a release or trial."""
_NAMES = tuple(results_table.c.keys())
RESULT_COLUMNS = tuple(name for name in _NAMES if name != "id")
"""Columns of a result's row, in the order that `result_of` reads after the row's number."""
_TYPES: dict[str, Any] = {
    **dict.fromkeys([name for name in _NAMES if name != "id"], str),
    "attack": str | None,
    "play": int,
    "seconds": int | float,
}
KEY = _NAMES.index("key")
"""Position of the key in a row."""


def row_of(result: Result) -> dict[str, Any]:
    """A result as values of `results_table`'s columns.

    Raises ValueError if a number among parameters or values is not finite.
    """
    row = {name: getattr(result, name) for name in RESULT_COLUMNS}
    row["scores"] = {goal: asdict(score) for goal, score in result.scores.items()}
    for name in JSON_COLUMNS:
        try:
            row[name] = canonical(row[name])
        except ValueError:
            trial = f"{result.scenario}, {result.defense} against {result.attack or 'nobody'}, play {result.play}"
            raise ValueError(f"{trial}: {name} hold a number that is not finite: {row[name]}") from None
    # An error message may hold characters that some databases refuse.
    row["reason"] = result.reason.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")
    return row


def result_of(row: Sequence[Any]) -> Result:
    """The result of a row of `results_table`.

    Raises ValueError if the row was changed by others: text that is no JSON, a value of another type, a number that is
    not finite.
    """
    fields = dict(zip(_NAMES, row, strict=True))
    number = fields.pop("id")
    try:
        wrong = (
            name
            for name, kind in _TYPES.items()
            if not isinstance(fields[name], kind) or isinstance(fields[name], bool)
        )
        refuse_any(wrong, lambda name: f"{name} is of type {type(fields[name]).__name__}", TypeError)
        for name in JSON_COLUMNS:
            fields[name] = dict(_parsed(fields[name]))
        fields["scores"] = {goal: Score(**score) for goal, score in fields["scores"].items()}
        no_numbers = (
            name
            for name, value in fields["values"].items()
            if value is not None and (isinstance(value, bool) or not isinstance(value, int | float))
        )
        refuse_any(no_numbers, lambda name: f"value {name!r} is no number", TypeError)
        require(math.isfinite(fields["seconds"]), "seconds are not finite")
    except (TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ValueError(f"result {number} is damaged ({type(error).__name__}: {error})") from None
    return Result(**fields)


def newest_ids(scenario: str | None) -> sql.Select[Any]:
    """Query for the ids of the newest result of each release and trial."""
    newest = sql.select(sql.func.max(results_table.c.id)).group_by(*IDENTITY)
    return newest if scenario is None else newest.where(results_table.c.scenario == scenario)


@lru_cache(maxsize=4096)
def _parsed(text: str) -> dict[str, Any]:
    """Parsed JSON; the cache helps since many rows share their parameters."""
    content: dict[str, Any] = json.loads(text, parse_constant=_refused, parse_float=_finite)
    require(isinstance(content, dict), f"{type(content).__name__} where an object is expected", TypeError)
    return content


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is no finite number")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refused(text)


# Content of stored documents.


def document_content(name: str, text: str) -> dict[str, Any]:
    """Content of a stored document, a JSON object.

    Raises ValueError if the document was changed by others.
    """
    try:
        return dict(json.loads(text))
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"the stored document {name[:8]} is damaged ({type(error).__name__})") from None


# Ctrl-C and SIGTERM that wait until a short piece of work is done.


@contextmanager
def interrupts_wait() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM wait until a block ends; a second one of the same kind is heard at once.

    A library that an exception leaves at any line may keep a transaction open, and the next one then finds the database
    locked. Only the main thread hears signals: nothing changes in others.
    """
    with _waits(signal.SIGINT), _waits(signal.SIGTERM):
        yield


@contextmanager
def _waits(number: int) -> Iterator[None]:
    heard = signal.getsignal(number)
    if threading.current_thread() is not threading.main_thread() or not callable(heard):
        yield
        return
    came: list[FrameType | None] = []

    def wait(number: int, frame: FrameType | None) -> None:
        if came:
            heard(number, frame)
        came.append(frame)

    signal.signal(number, wait)
    try:
        yield
    finally:
        signal.signal(number, heard)
        if came:
            heard(number, came[0])


# Layout of a database of results: its number, migration of older ones, and refusal of others in words.

LAYOUT = 1
"""Number of the layout that this version writes; it grows when an older version could not read the tables."""
_schema = sql.MetaData()
_layout = sql.Table(
    "tokumei_layout",
    _schema,
    sql.Column("number", sql.Integer, primary_key=True),
    sql.Column("version", sql.Text, nullable=False),
)


def record_layout(connection: sql.Connection) -> None:
    """Store the layout of a new database, and the version that made it."""
    _schema.create_all(connection)
    if connection.execute(sql.select(_layout.c.number)).first() is None:
        connection.execute(_layout.insert(), {"number": LAYOUT, "version": version()})


def migrate(connection: sql.Connection, name: str) -> None:
    """Bring the results of an earlier version to this version's layout; current ones are not written to.

    Databases before version 1.0 have no number. Those with scores have layout 1, some without the column ``parts``,
    which is added. Those of development versions without scores are refused.

    - connection: A transaction on the database, which has the table of results.
    - name: Name of the database in messages.

    Raises ValueError if this version cannot read the results. Nothing is changed.
    """
    inspector = sql.inspect(connection)
    if inspector.has_table(_layout.name):
        number, wrote = connection.execute(sql.select(_layout)).first() or (LAYOUT, "")
        if number != LAYOUT:
            newer = number > LAYOUT
            raise ValueError(
                f"{name}: holds results of {'a newer' if newer else 'an older'} version (tokumei {wrote} wrote layout "
                f"{number}, this version reads layout {LAYOUT}); "
                f"{'upgrade tokumei' if newer else 'read it with that version'}, or name another file to play again"
            )
    present = {column["name"] for column in inspector.get_columns(results_table.name)}
    expected = [column.name for column in results_table.columns]
    absent = [column for column in expected if column not in present and column not in ADDED_COLUMNS]
    unknown = sorted(present - set(expected))
    if absent or unknown:
        raise ValueError(
            f"{name}: holds results of another version ({_why(absent, unknown)}); name another file to play again"
        )
    for column in ADDED_COLUMNS:
        if column not in present:
            kind = results_table.c[column].type.compile(connection.dialect)
            added = f"ALTER TABLE {results_table.name} ADD COLUMN {column} {kind} DEFAULT '' NOT NULL"
            connection.execute(sql.text(added))


def _why(absent: list[str], unknown: list[str]) -> str:
    if "scores" in absent and "values" not in absent:
        return "a development version before 0.1 wrote it, without scores"
    if absent:
        return f"it has no column {absent[0]!r}"
    return f"it has an unknown column {unknown[0]!r}"


_CHUNK = 500
"""Number of keys in one query."""
_PATIENCE = 60
"""Seconds to wait for another process's transaction."""


@dataclass(frozen=True)
class Trace:
    """A stored result without its numbers.

    - key, parts, status, reason: See `leaderboard.Result`.
    """

    key: str
    parts: str
    status: str
    reason: str


class Store:
    """Database of results; as a context manager it closes the database.

    Once `add` returns, its results survive the death of the process. Several processes may use one database at the
    same time; with PostgreSQL they may run on several hosts. Only the owner can read a new SQLite file. A
    database of an earlier version is migrated or refused when it is opened (`leaderboard.results.store`).

    Parameters
    ----------
    place : str or Path
        Path of an SQLite file, which is created if absent, or a database URL of SQLAlchemy (any text with ``://``).

    Raises
    ------
    ValueError
        Here and in every method, if the database cannot be used. Its file may be no database, be damaged or locked, or
        hold something other than results of this version. The database is left unchanged.

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
            self._name = without_password(text)
            is_sqlite = url.get_backend_name() == "sqlite"
            self._engine = sql.create_engine(url, connect_args={"timeout": _PATIENCE} if is_sqlite else {})
        except ImportError as error:
            missing = error.name or "its driver"
            hint = "; install it with: pip install 'tokumei[postgresql]'" if missing.startswith("psycopg") else ""
            raise ValueError(f"database URL cannot be used: there is no {missing}{hint}") from None
        except sql.exc.ArgumentError as error:
            # The text may hold a password, and so may SQLAlchemy's message: neither is repeated.
            raise ValueError(
                f"database URL cannot be used ({type(error).__name__}); check its form and driver"
            ) from None
        self._file = url.database if is_sqlite else None
        self._writes_ahead = False
        if self._file and self._file != ":memory:":
            _make_private(self._file)
        try:
            self._open()
        except ValueError:
            self.close()
            raise

    def _open(self) -> None:
        with self.transaction_alone() as connection:
            tables = sql.inspect(connection).get_table_names()
            if results_table.name in tables:
                migrate(connection, self._name)
            elif tables and self._file:
                raise ValueError(f"{self._name}: is a database of something else; name another file")
            schema.create_all(connection)
            if results_table.name not in tables:
                record_layout(connection)

    def known(self, keys: Iterable[str]) -> dict[str, str]:
        """Status by key of the results that are stored, among the given keys."""
        return self._pairs(sql.select(results_table.c.key, results_table.c.status), results_table.c.key, keys)

    def statuses(self, scenario: str) -> dict[str, str]:
        """Status by key of all stored results of a scenario."""
        query = sql.select(results_table.c.key, results_table.c.status)
        return self._pairs(query.where(results_table.c.scenario == scenario))

    def add(self, rows: Sequence[Result], documents: Mapping[str, str] | None = None) -> None:
        """Store results in one transaction; a result replaces a stored one of the same key.

        Parameters
        ----------
        rows : sequence of Result
            What to store.
        documents : mapping of str to str, optional
            JSON by its hash: what these results, and other documents, refer to. Stored documents are kept.

        Raises
        ------
        ValueError
            If a number among parameters or values is not finite; then nothing is stored.
        """
        records = {row.key: row_of(row) for row in rows}
        if not records and not documents:
            return
        self._write_ahead()
        with self.transaction() as connection:
            if connection.dialect.name == "postgresql":
                # A process that stores the same trial at the same time waits, and then replaces it.
                connection.execute(sql.text(f"LOCK TABLE {results_table.name} IN SHARE ROW EXCLUSIVE MODE"))
            if records:
                connection.execute(
                    results_table.delete().where(results_table.c.key == sql.bindparam("old")),
                    [{"old": key} for key in records],
                )
                connection.execute(results_table.insert(), list(records.values()))
            if documents:
                stored = set(connection.execute(sql.select(documents_table.c.hash)).scalars())
                new = [{"hash": name, "content": text} for name, text in documents.items() if name not in stored]
                if new:
                    connection.execute(documents_table.insert(), new)

    def renew(self, scenario: str, keys: Collection[str]) -> None:
        """Make stored results the newest ones again, as if they had just been stored, if others were stored later.

        A run does so with the results that it need not play. If a method's file is as it was before a change, its
        results count again.

        Parameters
        ----------
        scenario : str
            Name of the scenario.
        keys : collection of str
            Keys of the results of a run; the others of the scenario are of other methods or of other versions.
        """
        query = sql.select(results_table.c.id, results_table.c.key).where(results_table.c.scenario == scenario)
        with self.transaction() as connection:
            numbers = {row[1]: row[0] for row in connection.execute(query)}
        others = max((number for key, number in numbers.items() if key not in keys), default=0)
        passed = {key for key, number in numbers.items() if key in keys and number < others}
        self.add(self.results(scenario, passed) if passed else [])

    def results(self, scenario: str | None = None, keys: Collection[str] | None = None) -> list[Result]:
        """Results in order of insertion, of all scenarios or one.

        If code or data changed between runs, the same release or trial is stored under several keys. Only the newest of
        them is returned, or the one whose key is in `keys`. Two results are of the same release or trial if scenario,
        game, defense, attack, all parameters and play are equal.

        Parameters
        ----------
        scenario : str, optional
            Only results of this scenario.
        keys : collection of str, optional
            Only results with these keys.
        """
        query = sql.select(results_table).order_by(results_table.c.id)
        if scenario is not None:
            query = query.where(results_table.c.scenario == scenario)
        if keys is None:
            query = query.where(results_table.c.id.in_(newest_ids(scenario)))
        with self.transaction() as connection:
            rows = connection.execute(query).all()
        with errors_at(self._name):
            return [result_of(row) for row in rows if keys is None or row[KEY] in keys]

    def traces(self, scenario: str) -> dict[tuple[Any, ...], Trace]:
        """The newest result of each release and trial of a scenario, without its numbers.

        Returns
        -------
        dict
            By `identity`, in order of insertion.
        """
        columns = [*IDENTITY, *(results_table.c[name] for name in ("key", "parts", "status", "reason"))]
        query = sql.select(*columns).where(results_table.c.id.in_(newest_ids(scenario))).order_by(results_table.c.id)
        with self.transaction() as connection:
            rows = connection.execute(query).all()
        return {tuple(row[: len(IDENTITY)]): Trace(*row[len(IDENTITY) :]) for row in rows}

    def documents(self, names: Collection[str] | None = None) -> dict[str, str]:
        """All documents, or those with the given hashes that are stored, as JSON by hash."""
        query = sql.select(documents_table.c.hash, documents_table.c.content)
        return self._pairs(query, documents_table.c.hash, names)

    def _pairs(
        self, query: sql.Select[Any], column: sql.Column[Any] | None = None, names: Iterable[str] | None = None
    ) -> dict[str, str]:
        """What a query of two columns finds; of names, only rows whose column has one of them."""
        queries = [query]
        if column is not None and names is not None:
            wanted = list(names)
            chunks = (wanted[start : start + _CHUNK] for start in range(0, len(wanted), _CHUNK))
            queries = [query.where(column.in_(chunk)) for chunk in chunks]
        with self.transaction() as connection:
            return {row[0]: row[1] for one in queries for row in connection.execute(one)}

    def document(self, name: str) -> str | None:
        """Content of one document by its hash; None if it is not stored."""
        return self.documents([name]).get(name)

    def rows_of(self, table: sql.Table, order: sql.Column[Any]) -> list[sql.RowMapping]:
        """All rows of a further table of this database, in order; none where no earlier command made the table."""
        with self.transaction() as connection:
            if not sql.inspect(connection).has_table(table.name):
                return []
            return list(connection.execute(sql.select(table).order_by(order)).mappings())

    def close(self) -> None:
        """Close the database; an SQLite database becomes a single file, unless another process uses it."""
        if self._writes_ahead and not self._end_write_ahead():
            # After a second interrupt, an open connection may still wait for the garbage collector.
            gc.collect()
            self._end_write_ahead()
        self._engine.dispose()

    def _end_write_ahead(self) -> bool:
        """Merge SQLite's write-ahead log into the database file; whether that succeeded."""
        with suppress(sql.exc.DBAPIError), interrupts_wait(), self._engine.connect() as connection:
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
        """Turn on SQLite's write-ahead log: others may use the file between transactions, which are also faster.

        A finished transaction survives the death of the process. After a power cut the last transactions may be
        missing, but the database is consistent.
        """
        if self._writes_ahead or not self._file:
            return
        with suppress(sql.exc.DBAPIError), interrupts_wait(), self._engine.connect() as connection:
            if connection.exec_driver_sql("PRAGMA journal_mode = WAL").scalar() == "wal":
                connection.exec_driver_sql("PRAGMA synchronous = NORMAL")
                self._writes_ahead = True

    @contextmanager
    def transaction(self) -> Iterator[sql.Connection]:
        """A transaction, for which Ctrl-C waits; a database error becomes a ValueError that names the database."""
        try:
            with interrupts_wait(), self._engine.begin() as connection:
                yield connection
        except sql.exc.DBAPIError as error:
            why = " ".join(str(error.orig).split())
            raise ValueError(f"{self._name}: {why}") from error

    @contextmanager
    def transaction_alone(self) -> Iterator[sql.Connection]:
        """A transaction that waits for all others of this kind: for creating tables, and for rows that must be new."""
        with self.transaction() as connection:
            if connection.dialect.name == "postgresql":
                # Two hosts may create the tables, or record the same plan, at the same time.
                connection.execute(sql.select(sql.func.pg_advisory_xact_lock(sql.func.hashtext(results_table.name))))
            yield connection


def without_password(name: str) -> str:
    """Name of a database; the password of a URL is hidden."""
    return sql.make_url(name).render_as_string(hide_password=True) if "://" in name else name


def _make_private(path: str) -> None:
    """Create a file if it is absent, for its owner only (SQLite gives its journal the same mode)."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None


def identity(result: Result) -> tuple[Any, ...]:
    """Identity of a result's release or trial, as `Store.traces` gives it: equal for results of different keys."""
    values = (getattr(result, column.name) for column in IDENTITY)
    return tuple(
        canonical(value) if column.name in JSON_COLUMNS else value
        for column, value in zip(IDENTITY, values, strict=True)
    )
