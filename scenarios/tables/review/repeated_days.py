"""Rows that hold a person a second time on the same day."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from scenarios.tables.note import Note
from scenarios.tables.reading.date_form import DateForm
from scenarios.tables.review.column_names import NAMES, NAMES_JAPANESE, hints_at

# Traits that no person changes, but that differ between the rows of a person.

TRAITS = frozenset((
    "sex", "gender", "dob", "birth", "born", "birthday", "birthdate", "birthyear", "dateofbirth", "yearofbirth",
    "ethnicity", "race", "bloodtype", "bloodgroup", "geschlecht", "geburtsdatum", "geburtsjahr", "geboren",
))  # fmt: skip
TRAITS_JAPANESE = ("性別", "生年", "誕生日", "血液型")


def changing_traits(frame: pd.DataFrame, person: str | None) -> Iterator[Note]:
    """Notes on traits of which some people have several values, one line a trait.

    Parameters
    ----------
    frame : DataFrame, shape (n, columns)
        Values.
    person : str, optional
        Column that names the person of each row.
    """
    if person is None or person not in frame:
        return
    for name in map(str, frame.columns):
        if name == person or not hints_at(name, TRAITS, TRAITS_JAPANESE):
            continue
        values = frame[[person, name]].dropna().drop_duplicates()[person].value_counts()
        people = int((values > 1).sum())
        if people:
            who = "1 person" if people == 1 else f"{people:,} people"
            yield Note("changing trait", (name,), {"who": who})


RARE = 0.05
"""Share of the rows up to which such rows are faults, even if no person has rows on other days."""


def repeated_days(frame: pd.DataFrame, dates: Mapping[str, DateForm], identifiers: Sequence[str]) -> Iterator[Note]:
    """Notes on identifiers that stand twice on one day, if the table has one date apart from birthdays.

    Parameters
    ----------
    frame : DataFrame, shape (n, columns)
        Values; dates are numbers of days, or of seconds, since 1970.
    dates : mapping of str to DateForm
        The columns of dates.
    identifiers : sequence of str
        Columns that may number people.

    Notes
    -----
    A date that most people have the same in all their rows, such as that of their first visit, gets no note.
    """
    days = [name for name in dates if name in frame and not hints_at(name, TRAITS, TRAITS_JAPANESE)]
    if len(days) != 1:
        return
    [day] = days
    for name in identifiers:
        # Different people share names and streets.
        if name not in frame or name == day or hints_at(name, NAMES, NAMES_JAPANESE):
            continue
        rows = frame[[name, day]].dropna()
        repeats = int(rows[name].duplicated().sum())
        on_day = np.floor(rows[day].to_numpy(dtype=float) / dates[day].unit)
        count = int(pd.DataFrame({"who": rows[name].to_numpy(), "day": on_day}).duplicated().sum())
        if 0 < count <= max(RARE * len(rows), repeats / 2):
            have = "row has" if count == 1 else "rows have"
            yield Note("twice a day", (name,), {"rows": f"{count} {have}", "who": name, "day": day})
