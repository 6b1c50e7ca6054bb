"""Dates that cannot be, or stand for a missing value: future, old, heaped, or an end before its beginning."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from itertools import combinations

import numpy as np
import pandas as pd

from scenarios.tables.reading.date_columns import SENTINELS
from scenarios.tables.reading.date_form import DateForm
from scenarios.tables.reading.date_format import ISO

OLDEST = date(1905, 1, 1)
"""Nobody alive is much older, so earlier dates often stand for a missing value."""
RARE = 0.05
"""Share of the dates up to which impossible ones are faults; histories and calendars hold more."""
FEW, HEAPED, HIGHER = 100, 30, 10
"""A column has a heap if it has so many dates, one in so many rows, and in so many times more rows than any other."""
ORDERED = 0.98
"""Share of the rows from which one date is meant to precede another."""


def doubtful_dates(frame: pd.DataFrame, dates: Mapping[str, DateForm], today: date) -> list[str]:
    """Notes on columns of dates, one line for each fault of each column or pair of columns.

    Parameters
    ----------
    frame : DataFrame, shape (n, columns)
        Numbers of days, or of seconds, since 1970; NaN where missing.
    dates : mapping of str to DateForm
        The columns of dates.
    today : date
        Later dates are in the future.
    """
    days = {name: frame[name].to_numpy(dtype=float) / form.unit for name, form in dates.items() if name in frame}
    epoch = date(1970, 1, 1)
    first, last = (OLDEST - epoch).days, (today - epoch).days + 1
    notes = []
    sentinels = [number for number in ISO.numbers(SENTINELS) if number is not None]
    for name, every in days.items():
        # Notes of the reader name these dates.
        numbers = np.where(np.isin(every, sentinels), np.nan, every)
        faults = []
        for found, words in ((numbers >= last, "after today"), (numbers < first, "before 1905")):
            count = int(found.sum())
            if 0 < count <= RARE * np.isfinite(numbers).sum():
                faults.append(f"{count} date{'s' * (count > 1)} {words}")
        if faults:
            notes.append(f"{name}: {' and '.join(faults)}; if they are errors or mean a missing value, empty them")
        counts = np.sort(np.unique(numbers[np.isfinite(numbers)], return_counts=True)[1])
        if counts.size >= FEW and counts[-1] >= max(HEAPED, HIGHER * counts[-2]):
            notes.append(
                f"{name}: one date stands in {counts[-1]} rows, and every other in at most {counts[-2]}; if it means a "
                "missing value, empty these fields"
            )
    for (one, first_days), (other, second_days) in combinations(days.items(), 2):
        both = np.isfinite(first_days) & np.isfinite(second_days)
        before, after = int((first_days < second_days)[both].sum()), int((first_days > second_days)[both].sum())
        small, name, earlier = min((after, other, one), (before, one, other))
        if 0 < small <= (1 - ORDERED) * both.sum():
            notes.append(f"{name}: {small} before {earlier} in the same row, which is otherwise first")
    return notes
