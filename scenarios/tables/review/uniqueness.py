"""How far each column makes records unique: alone, with few others, and among all."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import NamedTuple

import numpy as np
import pandas as pd

from metrics.arrays import Integers
from metrics.suda import minimal_sample_uniques
from scenarios.tables.seeds import generator

MOST_ROWS = 20_000
"""Number of rows beyond which a sample is measured."""
MOST_SETS = 4_000
"""Number of sets of columns up to which larger sets are searched."""
MOST_WORK = 30_000_000
"""Number of sets times rows up to which larger sets are searched, a few seconds and 240 MB."""
MOST_COLUMNS = 3
"""Largest number of columns in a set."""


class ColumnUniqueness(NamedTuple):
    """Shares of the measured rows that a column makes unique.

    Parameters
    ----------
    alone : float
        Share of rows whose value occurs in no other row.
    in_sets : float
        Share of rows that a minimal set of at most `Uniqueness.set_size` columns singles out, this column among them.
    without : float
        Share of rows that all other columns together make unique.
    """

    alone: float
    in_sets: float
    without: float


class Uniqueness(NamedTuple):
    """Uniqueness of the rows of a table.

    Parameters
    ----------
    rows : int
        Number of rows that were measured: all, or a sample of `MOST_ROWS`.
    set_size : int
        Largest number of columns in the sets that were searched.
    together : float
        Share of rows that all columns together make unique.
    columns : dict of str to ColumnUniqueness
        Uniqueness by column.
    """

    rows: int
    set_size: int
    together: float
    columns: dict[str, ColumnUniqueness]


def uniqueness(frame: pd.DataFrame, columns: Sequence[str]) -> Uniqueness:
    """Measure how far some columns make rows unique.

    Parameters
    ----------
    frame : DataFrame, shape (n, columns)
        Original values, at least one row; a missing value is a value of its own. Of more than `MOST_ROWS` rows a
        sample is measured, which is the same in each call. In a sample, more rows are unique than in the table.
    columns : sequence of str
        The columns, each once.

    Notes
    -----
    The classes of all columns but one are those of the columns before it, split by those after it. Both are built up
    column by column, so the time is linear in the number of columns, apart from the search for sets.
    """
    names = list(columns)
    n = len(frame)
    if n > MOST_ROWS:
        rows = generator(0, "uniqueness").choice(n, MOST_ROWS, replace=False)
        frame, n = frame.iloc[rows], MOST_ROWS
    codes = [pd.factorize(frame[name], use_na_sentinel=False)[0].astype(np.intp) for name in names]
    before = [np.zeros(n, dtype=np.intp)]
    after = [np.zeros(n, dtype=np.intp)]
    for column, last in zip(codes, reversed(codes), strict=True):
        before.append(_joint(before[-1], column))
        after.append(_joint(after[-1], last))
    sizes = [size for size in range(1, MOST_COLUMNS + 1) if comb(len(names), size) <= min(MOST_SETS, MOST_WORK // n)]
    set_size = max(sizes, default=1)
    in_sets = {name: np.zeros(n, dtype=bool) for name in names}
    coded = pd.DataFrame(dict(zip(names, codes, strict=True)))
    for subset, unique in minimal_sample_uniques(coded, names, max_size=set_size) if names else ():
        for name in subset:
            in_sets[name][unique] = True
    return Uniqueness(
        n,
        set_size,
        _unique_share(before[-1]),
        {
            name: ColumnUniqueness(
                _unique_share(codes[place]),
                float(in_sets[name].mean()),
                _unique_share(_joint(before[place], after[len(names) - place - 1])),
            )
            for place, name in enumerate(names)
        },
    )


def _joint(classes: Integers, codes: Integers) -> Integers:
    """Classes split by codes."""
    joint: Integers = pd.factorize(classes * (int(codes.max()) + 1) + codes)[0]
    return joint


def _unique_share(classes: Integers) -> float:
    """Share of rows that are alone in their class."""
    return float((np.bincount(classes)[classes] == 1).mean())
