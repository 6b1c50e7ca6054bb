"""Cells of a release that say nothing: suppressed, the same in every row, or no longer missing."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from metrics.columns import SUPPRESSED, holds_generalized
from scenarios.tables.note import Note

MOSTLY_EMPTY = 0.5
"""Share of the cells of a column that say nothing, above which the column is named."""


def empty_cells_warning(original: pd.DataFrame, released: pd.DataFrame) -> list[Note]:
    """A warning of columns of a release most of whose cells say nothing.

    Parameters
    ----------
    original : DataFrame, shape (n, columns)
        The original values.
    released : DataFrame, shape (m, released columns)
        The released cells. One says nothing if it is suppressed, or the same in every row, unless the original column
        holds one value, too.
    """
    if len(released) < 2:
        return []
    empty: dict[str, int | None] = {}
    for name, cells in released.items():
        if name in original and (cells == cells.iloc[0]).all() and len(original[name].unique()) > 1:
            empty[str(name)] = None
        else:
            empty[str(name)] = int((cells == SUPPRESSED).sum()) if cells.dtype == object else 0
    return empty_cells_words(empty, len(released))


def empty_cells_words(empty: Mapping[str, int | None], rows: int) -> list[Note]:
    """The warning of columns most of whose cells say nothing.

    Parameters
    ----------
    empty : mapping of str to int or None
        Number of suppressed cells of each released column; None if the cell is the same in every row, and was not.
    rows : int
        Number of released rows, at least 1.

    Examples
    --------
    >>> [warning] = empty_cells_words({"age": None, "city": 3, "job": 0}, 4)
    >>> str(warning)
    'most cells say nothing in these columns: age (the same in every row), city (75 % are *); 58 % of all cells'
    """
    columns = [
        f"{name} (the same in every row)" if count is None else f"{name} ({100 * count / rows:.0f} % are {SUPPRESSED})"
        for name, count in empty.items()
        if count is None or count > MOSTLY_EMPTY * rows
    ]
    share = sum(rows if count is None else count for count in empty.values()) / (rows * max(1, len(empty)))
    if columns:
        of = "this column" if len(columns) == 1 else "these columns"
        return [Note("empty cells", numbers={"these": of, "empty": ", ".join(columns), "share": 100 * share})]
    return [Note("mostly empty", numbers={"share": 100 * share})] if share > MOSTLY_EMPTY else []


def lost_gaps_note(original: pd.DataFrame, released: pd.DataFrame) -> list[Note]:
    """A note on columns whose missing values a release lacks, as synthetic rows do.

    Parameters
    ----------
    original : DataFrame, shape (n, columns)
        The original values.
    released : DataFrame, shape (m, released columns)
        The released cells. Where some are suppressed or grouped, a missing value may be among them.
    """
    missing = original[[name for name in released if name in original]].isna().sum()
    lost = [
        f"{name} ({count:,} of {len(original):,})"
        for name, count in missing[missing > 0].items()
        if len(released) and not released[name].isna().any() and not holds_generalized(released[name])
    ]
    return [Note("gaps vanish", numbers={"gaps": ", ".join(lost)})] if lost else []
