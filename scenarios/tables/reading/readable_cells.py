"""Cells of a finished release beside the original table: empty cells that are suppressed, and unknown ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from leaderboard.pages.number_text import counted
from metrics.columns.cells import SUPPRESSED, read_cells
from metrics.columns.domains import Domain, NumericDomain
from metrics.columns.named_categories import named_categories
from scenarios.tables.reading.text_column import TextColumn

_MOST = 0.5
"""Share of unknown cells above which a column is left as it is: it is refused as one of another kind."""


def readable_cells(
    name: str, column: TextColumn, domain: Domain, *, never_missing: bool, others: str = "the original table has"
) -> tuple[TextColumn, list[str]]:
    """A released column after `filled_gaps` and `known_cells`, and their notes.

    Parameters
    ----------
    name : str
        The column.
    column : TextColumn
        Released cells, in the form of the program.
    domain : Domain
        The domain of the original values.
    never_missing : bool
        Whether no original value is missing.
    others : str
        What has no missing value then, for the note.
    """
    gaps: list[str] = []
    if never_missing:
        column, gaps = filled_gaps(name, column, others)
    column, notes = known_cells(name, column, domain)
    return column, [*gaps, *notes]


def filled_gaps(name: str, column: TextColumn, others: str) -> tuple[TextColumn, list[str]]:
    """A released column whose empty cells are ``*``, since no original value is missing, and a note.

    Parameters
    ----------
    name, column
        See `readable_cells`.
    others : str
        Who has no missing value, with the verb.
    """
    empty = column.missing_rows
    if not empty:
        return column, []
    cells = f"{counted(empty, 'cell')} of {column.rows:,} {'is' if empty == 1 else 'are'} empty"
    note = f"{name}: {cells}, and {others} no missing value there; read as suppressed ({SUPPRESSED})"
    return column.filled(SUPPRESSED), [note]


def known_cells(name: str, column: TextColumn, domain: Domain) -> tuple[TextColumn, list[str]]:
    """A released column whose unknown cells are ``*``, and a note; see `readable_cells` for the parameters.

    Unknown cells are no cells of the domain. If most cells are unknown, the column stays as it is.
    """
    texts = column.texts.to_pylist()
    if isinstance(domain, NumericDomain):
        wrong = np.array(_unreadable(texts, domain), dtype=bool)
        words = ("holds", "hold"), "no number, interval or set"
    else:
        known = set(domain.categories)
        complete = named_categories(pd.Series(texts, dtype=object)) <= known
        wrong = np.array([not complete and not named_categories(pd.Series([text])) <= known for text in texts])
        words = ("names", "name"), "a category outside its domain"
    count = column.rows_of(wrong) if wrong.any() else 0
    if not 0 < count <= _MOST * (column.rows - column.missing_rows):
        return column, []
    cells = f"{counted(count, 'released cell')} of {column.rows:,} {words[0][count > 1]} {words[1]}"
    column = column.with_cells(np.where(wrong, SUPPRESSED, texts).tolist())
    return column, [f"{name}: {cells}; read as suppressed ({SUPPRESSED})"]


def _unreadable(texts: Sequence[str], domain: Domain) -> list[bool]:
    """Which texts are no cells of a domain; half by half if one is none."""
    try:
        read_cells(pd.Series(texts, dtype=object), domain)
    except ValueError:
        half = len(texts) // 2
        return [*_unreadable(texts[:half], domain), *_unreadable(texts[half:], domain)] if half else [True]
    return [False] * len(texts)
