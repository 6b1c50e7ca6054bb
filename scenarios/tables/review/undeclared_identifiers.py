"""Columns that tell every record apart in a table without roles: they would be released, and attacked for long."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from defenses.base.microdata import Microdata
from scenarios.tables.review.suggestions import FEW


def unique_text_columns(records: Microdata) -> list[str]:
    """Released text columns whose value differs in every record."""
    frame, columns = records.frame, records.released_columns
    return [name for name in columns if frame[name].dtype == object and len(frame) > 1 and frame[name].is_unique]


def refuse_undeclared_identifiers(table: str, roles: Path | None, columns: Sequence[str], rows: int) -> None:
    """Raise ValueError if a table without roles has columns that differ in every record, as identifiers do.

    Parameters
    ----------
    table : str
        Name of the table, for the message.
    roles : Path, optional
        File of the columns' roles; with one, the user has decided.
    columns : sequence of str
        Columns whose texts all differ.
    rows : int
        Number of records; in a table of few, columns may differ by chance.
    """
    if roles is None and columns and rows > FEW:
        differ = "differs" if len(columns) == 1 else "differ"
        name, argument = ("standard input", "TABLE") if table == "-" else (table, shlex.quote(table))
        raise ValueError(
            f"{name}: {', '.join(columns)} {differ} in every record, as identifiers do; give every column a role with "
            f"--roles (tokumei describe {argument} -o roles.toml proposes them)"
        )
