"""Traits that no person changes, but that differ between the rows of a person."""

from __future__ import annotations

import pandas as pd

from scenarios.tables.review.column_names import hints_at

TRAITS = frozenset((
    "sex", "gender", "dob", "birth", "born", "birthday", "birthdate", "birthyear", "dateofbirth", "yearofbirth",
    "ethnicity", "race", "bloodtype", "bloodgroup", "geschlecht", "geburtsdatum", "geburtsjahr", "geboren",
))  # fmt: skip
TRAITS_JAPANESE = ("性別", "生年", "誕生日", "血液型")


def changing_traits(frame: pd.DataFrame, person: str | None) -> list[str]:
    """Notes on traits of which some people have several values, one line a trait.

    Parameters
    ----------
    frame : DataFrame, shape (n, columns)
        Values.
    person : str, optional
        Column that names the person of each row.
    """
    if person is None or person not in frame:
        return []
    notes = []
    for name in map(str, frame.columns):
        if name == person or not hints_at(name, TRAITS, TRAITS_JAPANESE):
            continue
        values = frame[[person, name]].dropna().drop_duplicates()[person].value_counts()
        people = int((values > 1).sum())
        if people:
            who = "1 person" if people == 1 else f"{people:,} people"
            notes.append(
                f"{name}: differs between rows of the same person for {who}; correct it, or attackers and measurements "
                "take them for others"
            )
    return notes
