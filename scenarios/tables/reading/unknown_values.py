"""Released values that nobody in a table of people has: notes on columns that cannot agree."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from typing import Any, cast

import pandas as pd

from metrics.columns.cells import NumericCells, read_cells
from metrics.columns.domains import NumericDomain
from metrics.columns.named_categories import cell_categories, named_categories


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
