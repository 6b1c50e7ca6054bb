"""Cells of a finished release beside the original table: empty cells that are suppressed, and unknown ones."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence
from functools import partial
from typing import Any, cast

import numpy as np
import pandas as pd

from leaderboard.pages.number_text import counted
from metrics.columns import (
    SUPPRESSED,
    Domain,
    NumericCells,
    NumericDomain,
    cell_categories,
    named_categories,
    read_cells,
)
from scenarios.tables.reading.cell_spelling import by_halves
from scenarios.tables.reading.text_column import TextColumn

# Released values that nobody in a table of people has: notes on columns that cannot agree.


def category_note(cells: pd.Series[Any], known: Collection[str], whose: str) -> list[str]:
    """A note on released categories that nobody has; none where all are known.

    Parameters
    ----------
    cells : Series, shape (rows,)
        A released column, whose name the note states.
    known : collection of str
        Categories that somebody has.
    whose : str
        What the people are called, such as "candidate".

    Examples
    --------
    >>> category_note(pd.Series(["Ann", "{Bob|Cy}", "*"], name="name"), {"Ann", "Bob"}, "candidate")
    ['name: 1 released category that no candidate has, in 1 of 3 rows']
    """
    unknown = named_categories(cells) - set(known)
    if not unknown:
        return []
    distinct = pd.Series(cells.dropna().unique(), dtype=object)
    named = [cell_categories(str(cell)) for cell in distinct]
    rows = int(cells.isin(distinct[[not unknown.isdisjoint(names) for names in named]]).sum())
    note = (
        f"{cells.name}: {len(unknown)} released {'category' if len(unknown) == 1 else 'categories'} that no {whose} "
        f"has, in {rows} of {len(cells)} rows"
    )
    spellings = {_spelling(name) for name in known}
    respelled = sum(_spelling(name) in spellings for name in unknown)
    if respelled:
        note += (
            f"; {respelled} of them {'differs' if respelled == 1 else 'differ'} from a known one only in blanks, case "
            "or Unicode form"
        )
    if all(unknown.issuperset(names) for names in named) and cells.notna().all():
        note += f"; no {whose} has any released category, so the column does not help"
    return [note]


def number_note(cells: pd.Series[Any], domain: NumericDomain, values: pd.Series[Any], whose: str) -> list[str]:
    """A note on released numbers and intervals outside the range of people's numbers; none where all lie within.

    Parameters
    ----------
    cells : Series, shape (rows,)
        A released column, whose name the note states.
    domain : NumericDomain
        Its domain.
    values : Series, shape (people,)
        Numbers of the people, NaN where missing.
    whose : str
        What the people are called, such as "candidate".

    Raises
    ------
    ValueError
        If a released cell cannot be read as numbers.
    """
    read = cast("NumericCells", read_cells(cells, domain))
    low, high = read.hull()
    told = ~read.suppressed & ~read.missing
    outside = told & ~((high >= values.min()) & (low <= values.max()))
    rows, of = (int(those[read.codes].sum()) for those in (outside, told))
    if not rows:
        return []
    note = f"{cells.name}: {rows} of {len(cells)} rows lie outside the range of the {whose}s' numbers"
    return [note + "; no row lies inside, so the column does not help" if rows == of else note]


def _spelling(text: str) -> str:
    """A text without blanks, in one case and one Unicode form."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(unicodedata.normalize("NFKC", folded).split())


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
        wrong = np.array(by_halves(texts, partial(_readable, domain), lambda _: True))
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


def _readable(domain: Domain, texts: Sequence[str]) -> list[bool]:
    """False for each of some cells of a domain, since none of them is wrong."""
    read_cells(pd.Series(texts, dtype=object), domain)
    return [False] * len(texts)
