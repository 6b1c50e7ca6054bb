"""Cells of a release that say nothing: suppressed, the same in every row, or no longer missing."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from metrics.columns import SUPPRESSED, holds_generalized

MOSTLY_EMPTY = 0.5
"""Share of the cells of a column that say nothing, above which the column is named."""


def empty_cells_warning(original: pd.DataFrame, released: pd.DataFrame) -> str | None:
    """A warning of columns of a release most of whose cells say nothing, or None.

    Parameters
    ----------
    original : DataFrame, shape (n, columns)
        The original values.
    released : DataFrame, shape (m, released columns)
        The released cells. One says nothing if it is suppressed, or the same in every row, unless the original column
        holds one value, too.
    """
    if len(released) < 2:
        return None
    empty: dict[str, int | None] = {}
    for name, cells in released.items():
        differed = name in original and len(original[name].unique()) > 1
        if differed and (cells == cells.iloc[0]).all():
            empty[str(name)] = None
        else:
            empty[str(name)] = int((cells == SUPPRESSED).sum()) if cells.dtype == object else 0
    return empty_cells_words(empty, len(released))


def empty_cells_words(empty: Mapping[str, int | None], rows: int) -> str | None:
    """The warning of columns most of whose cells say nothing, or None.

    Parameters
    ----------
    empty : mapping of str to int or None
        Number of suppressed cells of each released column; None if the cell is the same in every row, and was not.
    rows : int
        Number of released rows, at least 1.

    Examples
    --------
    >>> empty_cells_words({"age": None, "city": 3, "job": 0}, 4)
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
        return f"most cells say nothing in {of}: {', '.join(columns)}; {100 * share:.0f} % of all cells"
    return f"{100 * share:.0f} % of all cells are {SUPPRESSED} and say nothing" if share > MOSTLY_EMPTY else None


def lost_gaps_note(original: pd.DataFrame, released: pd.DataFrame) -> str | None:
    """A note on columns whose missing values a release lacks, as synthetic rows do; None if there are none.

    Parameters
    ----------
    original : DataFrame, shape (n, columns)
        The original values.
    released : DataFrame, shape (m, released columns)
        The released cells. Where some are suppressed or grouped, a missing value may be among them.
    """
    lost = []
    for name, cells in released.items():
        missing = int(original[name].isna().sum()) if name in original else 0
        if missing and len(cells) and not cells.isna().any() and not holds_generalized(cells):
            lost.append(f"{name} ({missing:,} of {len(original):,})")
    if not lost:
        return None
    return f"missing values vanish: the release has none in {', '.join(lost)}; each of its rows has a value there"
