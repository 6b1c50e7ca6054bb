"""Numbers of nines that stand for a missing value."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd

NINES = (99.0, 999.0, 9999.0, 99999.0, 999999.0, -9.0, -99.0, -999.0, -9999.0)
"""Numbers that usually stand for a missing value where they are far from all others."""
FEWEST = 2
"""Number of rows with such a number, from which it is no single large value."""
FAR = 3.0
"""How many times larger than all others such a number is."""


def doubtful_numbers(frame: pd.DataFrame, dates: Collection[str]) -> list[str]:
    """Notes on columns with a number of nines in several rows, far from all other numbers.

    Parameters
    ----------
    frame : DataFrame, shape (n, columns)
        Numbers and texts.
    dates : collection of str
        Columns of dates, which are left out.
    """
    notes = []
    for name in map(str, frame.columns):
        if frame[name].dtype == object or name in dates:
            continue
        values, counts = np.unique(frame[name].dropna().to_numpy(dtype=float), return_counts=True)
        for value, count in zip(values, counts, strict=True):
            others = values[values != value]
            if value in NINES and count >= FEWEST and _is_far(value, others):
                notes.append(
                    f"{name}: {value:g} in {count} rows, where all others are from {others.min():g} to "
                    f"{others.max():g}; if it means a missing value, empty these fields"
                )
    return notes


def _is_far(value: float, others: np.ndarray[tuple[int], np.dtype[np.float64]]) -> bool:
    """Whether a number is far above all others, or negative where no other is."""
    if not others.size:
        return False
    return bool(value > FAR * others.max() > 0) if value > 0 else bool(others.min() >= 0)
