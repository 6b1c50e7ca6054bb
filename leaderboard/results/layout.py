"""Layout of a database of results: its number, migration of older ones, and refusal of others in words."""

from __future__ import annotations

import sqlalchemy as sql

from leaderboard.results.rows import ADDED_COLUMNS, add_column, results_table
from leaderboard.results.version import version

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

    Parameters
    ----------
    connection : Connection
        A transaction on the database, which has the table of results.
    name : str
        Name of the database in messages.

    Raises
    ------
    ValueError
        If this version cannot read the results. Nothing is changed.
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
        why = _why(absent, unknown)
        raise ValueError(f"{name}: holds results of another version ({why}); name another file to play again")
    for column in ADDED_COLUMNS:
        if column not in present:
            connection.execute(add_column(results_table.c[column], connection.dialect))


def _why(absent: list[str], unknown: list[str]) -> str:
    if "scores" in absent and "values" not in absent:
        return "a development version before 0.1 wrote it, without scores"
    if absent:
        return f"it has no column {absent[0]!r}"
    return f"it has an unknown column {unknown[0]!r}"
