"""Notes on values of a table that its owner should look at before anything is released."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import pandas as pd

from scenarios.tables.reading.date_form import DateForm
from scenarios.tables.review.changing_traits import changing_traits
from scenarios.tables.review.doubtful_dates import doubtful_dates
from scenarios.tables.review.doubtful_numbers import doubtful_numbers
from scenarios.tables.review.repeated_days import repeated_days
from scenarios.tables.review.telling_columns import telling_columns


def doubtful_values(
    frame: pd.DataFrame,
    dates: Mapping[str, DateForm],
    person: str | None,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    identifiers: Sequence[str],
) -> list[str]:
    """Notes on impossible dates, nines, people twice a day, traits that change, and columns that tell sensitive values.

    Parameters
    ----------
    frame : DataFrame, shape (n, columns)
        Values of the records, or of a sample of them.
    dates : mapping of str to DateForm
        Columns of dates.
    person : str or None
        Column that names the person of each row.
    quasi_identifiers, sensitive, identifiers : sequence of str
        Columns with these roles.
    """
    return [
        *doubtful_dates(frame, dates, datetime.now(UTC).date()),
        *doubtful_numbers(frame, dates),
        *repeated_days(frame, dates, list(dict.fromkeys([*identifiers, *([] if person is None else [person])]))),
        *changing_traits(frame, person),
        *telling_columns(frame, quasi_identifiers, sensitive),
    ]
