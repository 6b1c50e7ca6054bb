"""Tables of the database of results, and results as its rows."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

import sqlalchemy as sql

from leaderboard.results.result import Result, canonical
from metrics.score import Score

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

    Raises
    ------
    ValueError
        If a number among parameters or values is not finite.
    """
    row = {name: getattr(result, name) for name in RESULT_COLUMNS}
    row["scores"] = {goal: asdict(score) for goal, score in result.scores.items()}
    for name in JSON_COLUMNS:
        try:
            row[name] = canonical(row[name])
        except ValueError:
            trial = f"{result.scenario}, {result.defense} against {result.attack or 'nobody'}, play {result.play}"
            raise ValueError(f"{trial}: {name} hold a number that is not finite: {row[name]}") from None
    row["reason"] = _storable(result.reason)
    return row


def result_of(row: Sequence[Any]) -> Result:
    """The result of a row of `results_table`.

    Raises
    ------
    ValueError
        If the row was changed by others: text that is no JSON, a value of another type, a number that is not finite.
    """
    fields = dict(zip(_NAMES, row, strict=True))
    number = fields.pop("id")
    try:
        for name, kind in _TYPES.items():
            if not isinstance(fields[name], kind) or isinstance(fields[name], bool):
                raise TypeError(f"{name} is of type {type(fields[name]).__name__}")
        for name in JSON_COLUMNS:
            fields[name] = dict(_parsed(fields[name]))
        fields["scores"] = {goal: Score(**score) for goal, score in fields["scores"].items()}
        for name, value in fields["values"].items():
            if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
                raise TypeError(f"value {name!r} is no number")
        if not math.isfinite(fields["seconds"]):
            raise ValueError("seconds are not finite")
    except (TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ValueError(f"result {number} is damaged ({type(error).__name__}: {error})") from None
    return Result(**fields)


def newest_ids(scenario: str | None) -> sql.Select[Any]:
    """Query for the ids of the newest result of each release and trial."""
    newest = sql.select(sql.func.max(results_table.c.id)).group_by(*IDENTITY)
    return newest if scenario is None else newest.where(results_table.c.scenario == scenario)


def add_column(column: sql.Column[Any], dialect: sql.Dialect) -> sql.TextClause:
    """Statement that adds a column of text to the results of an earlier version."""
    kind = column.type.compile(dialect)
    return sql.text(f"ALTER TABLE {results_table.name} ADD COLUMN {column.name} {kind} DEFAULT '' NOT NULL")


def _storable(text: str) -> str:
    """Text without the characters that some databases refuse, since an error message may hold any character."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")


@lru_cache(maxsize=4096)
def _parsed(text: str) -> dict[str, Any]:
    """Parsed JSON; the cache helps since many rows share their parameters."""
    content = json.loads(text, parse_constant=_refused, parse_float=_finite)
    if not isinstance(content, dict):
        raise TypeError(f"{type(content).__name__} where an object is expected")
    return content


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is no finite number")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refused(text)
