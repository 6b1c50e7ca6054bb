"""Columns that tell every record apart in a table without roles: they would be released, and attacked for long."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from defenses import Microdata, MicrodataDefense, Pipeline
from scenarios.tables.dataset import Dataset
from scenarios.tables.note import Note
from scenarios.tables.review.suggestions import FEW

# Default hierarchies of quasi-identifiers, which a note names where they are used.

USERS = frozenset(("GlobalRecoding", "Incognito"))
"""Defenses that release levels of hierarchies."""


def hierarchy_notes(dataset: Dataset, defense: MicrodataDefense | None = None) -> list[Note]:
    """A note on the quasi-identifiers that declare no hierarchy.

    Parameters
    ----------
    dataset : Dataset
        The data set.
    defense : MicrodataDefense, optional
        The defense that will be applied. If it uses no hierarchy, there is no note.
    """
    if not dataset.bare or (defense is not None and not uses_hierarchies(defense)):
        return []
    return [Note("no hierarchy", tuple(dataset.bare))]


def uses_hierarchies(defense: MicrodataDefense) -> bool:
    """Return whether a defense, or a step of a pipeline, releases levels of hierarchies."""
    if type(defense) is Pipeline:
        return any(map(uses_hierarchies, defense.steps))
    # Incognito takes SciPy, which other defenses do not need.
    return not USERS.isdisjoint(kind.__name__ for kind in type(defense).__mro__)


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
