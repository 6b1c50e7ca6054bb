"""Released numbers that look noised, to which exact matching does not apply."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from scenarios.tables.roles import Column, NumberColumn

_FEWEST = 20
"""Fewest numbers from which noise is told."""
_NUMBERS = 0.5
"""Least share of the cells that are numbers."""
_SINGLE = 0.9
"""Share of the numbers that occur once from which they look noised."""
_REFUSED = 0.05
"""Share of the numbers that the roles do not allow from which they look noised."""


def looks_noised(cells: pd.Series[Any], declared: Column | None) -> bool:
    """Whether a column's numbers look noised.

    Fractional numbers do if nearly all occur once. So do numbers of which the roles file does not allow a part:
    fractions of integers, too many decimals, or numbers beyond the bounds.

    Parameters
    ----------
    cells : Series
        Number of rows of each distinct cell, by the cell. Cells that are no numbers do not count.
    declared : Column, optional
        What the roles file says about the column.

    Examples
    --------
    >>> cells = pd.Series(np.random.default_rng(0).normal(40, 10, 100)).value_counts()
    >>> looks_noised(cells, None), looks_noised(cells.rename(round), None)
    (True, False)
    """
    if declared is not None and not isinstance(declared, NumberColumn):
        return False
    numbers = pd.to_numeric(pd.Series(cells.index), errors="coerce").to_numpy(dtype=float)
    is_number = np.isfinite(numbers)
    rows = cells.to_numpy()[is_number]
    numbers = numbers[is_number]
    if rows.sum() < max(_FEWEST, _NUMBERS * cells.sum()):
        return False
    single = rows[(rows == 1) & (numbers != np.round(numbers))].sum()
    refused = np.zeros(numbers.size, dtype=bool) if declared is None else _refused(numbers, declared)
    return bool(single > _SINGLE * rows.sum() or rows[refused].sum() > _REFUSED * rows.sum())


def _refused(
    numbers: np.ndarray[Any, np.dtype[np.float64]], declared: NumberColumn
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which numbers the roles file does not allow."""
    refused = np.zeros(numbers.size, dtype=bool)
    decimals = 0 if declared.integer else declared.decimals
    if decimals is not None:
        refused |= np.round(numbers, decimals) != numbers
    if declared.low is not None and declared.high is not None:
        refused |= (numbers < declared.low) | (numbers > declared.high)
    return refused
