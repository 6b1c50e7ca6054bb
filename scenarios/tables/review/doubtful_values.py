"""Notes on values of a table that its owner should look at before anything is released."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from itertools import combinations

import numpy as np
import pandas as pd

from metrics.columns import Floats
from scenarios.tables.note import Note, grouped
from scenarios.tables.reading import ISO, MISSING, SENTINELS, WORDS, DateForm, TextColumn
from scenarios.tables.review.column_names import NAMES, NAMES_JAPANESE, hints_at
from scenarios.tables.review.ordered_scales import gaps_in_scale
from scenarios.tables.roles import Roles

# Rows that hold a person a second time on the same day.

# Traits that no person changes, but that differ between the rows of a person.

TRAITS = frozenset((
    "sex", "gender", "dob", "birth", "born", "birthday", "birthdate", "birthyear", "dateofbirth", "yearofbirth",
    "ethnicity", "race", "bloodtype", "bloodgroup", "geschlecht", "geburtsdatum", "geburtsjahr", "geboren",
))  # fmt: skip
TRAITS_JAPANESE = ("性別", "生年", "誕生日", "血液型")


def changing_traits(frame: pd.DataFrame, person: str | None) -> Iterator[Note]:
    """Notes on traits of which some people have several values, one line a trait."""
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


SELDOM = 0.05
"""Share of the rows up to which such rows are faults, even if no person has rows on other days."""


def repeated_days(frame: pd.DataFrame, dates: Mapping[str, DateForm], identifiers: Sequence[str]) -> Iterator[Note]:
    """Notes on identifiers that stand twice on one day, if the table has one date apart from birthdays.

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
        if 0 < count <= max(SELDOM * len(rows), repeats / 2):
            have = "row has" if count == 1 else "rows have"
            yield Note("twice a day", (name,), {"rows": f"{count} {have}", "who": name, "day": day})


# Quasi-identifiers that tell the sensitive value of most people.

LARGE = 10
"""Smallest number of people of a value that counts; smaller groups have one sensitive value by chance."""
MOST_VALUES = 100
"""Largest number of values of a column; a column with more is no group of people."""
PREDICTED = 0.5
"""Share of the people whose sensitive value another column predicts, from which the column is named."""
COMMON = 0.8
"""Share of the commonest sensitive value, from which many values are equal by chance."""


def telling_columns(frame: pd.DataFrame, quasi_identifiers: Sequence[str], sensitive: Sequence[str]) -> Iterator[Note]:
    """Notes on quasi-identifiers of which most values go with one sensitive value only."""
    for secret in (name for name in sensitive if name in frame):
        known = frame[secret].notna().to_numpy()
        secrets, values = pd.factorize(frame[secret][known])
        if len(values) < 2 or np.bincount(secrets).max() > COMMON * len(secrets):
            continue
        for name in (name for name in quasi_identifiers if name in frame):
            groups, names = pd.factorize(frame[name][known])
            if not 1 < len(names) <= MOST_VALUES:
                continue
            present = groups >= 0
            pairs = pd.unique(groups[present] * len(values) + secrets[present])
            sizes = np.bincount(groups[present])
            telling = (sizes >= LARGE) & (np.bincount(pairs // len(values)) == 1)
            share = sizes[telling].sum() / len(secrets)
            if share > PREDICTED:
                numbers = {"telling": int(telling.sum()), "values": len(names), "share": share}
                yield Note("telling column", (name, secret), numbers)


# Categories whose word usually means a missing value.

_WORDS = WORDS | {word.casefold() for word in MISSING}


def doubtful_words(categories: Mapping[str, Collection[str]]) -> list[Note]:
    """Notes on categories that may mean a missing value, one line a word, or that keep others from being a scale."""
    scales = {
        name: gaps for name, texts in categories.items() if (gaps := gaps_in_scale([text.strip() for text in texts]))
    }
    texts = ((text, name) for name, texts in categories.items() for text in {text.strip() for text in texts})
    doubtful = sorted((text for text in texts if text[0].casefold() in _WORDS), key=lambda one: one[0])
    beside_scales = [Note("gaps in a scale", (name,), _options(gaps)) for name, gaps in scales.items()]
    others = (Note("word for a gap", (name,), _options([text])) for text, name in doubtful if name not in scales)
    return grouped([*beside_scales, *others])


def _options(words: Sequence[str]) -> dict[str, str]:
    """Words, and the options by which they mean a missing value."""
    given = " ".join(f"--na {shlex.quote(word)}" for word in words)
    return {"words": ", ".join(words), "given": given, "are": "is a category" if len(words) == 1 else "are categories"}


# Numbers of nines that stand for a missing value.

NINES = (99.0, 999.0, 9999.0, 99999.0, 999999.0, -9.0, -99.0, -999.0, -9999.0)
"""Numbers that usually stand for a missing value where they are far from all others."""
FEWEST = 2
"""Number of rows with such a number, from which it is no single large value."""
FAR = 3.0
"""How many times larger than all others such a number is."""


def doubtful_numbers(frame: pd.DataFrame, dates: Collection[str]) -> Iterator[Note]:
    """Notes on columns with a number of nines in several rows, far from all other numbers."""
    for name in map(str, frame.columns):
        if frame[name].dtype == object or name in dates:
            continue
        numbers = frame[name].dropna()
        counts = numbers[numbers.isin(NINES)].value_counts().sort_index()
        counts = counts[counts >= FEWEST]
        for value, count in zip(counts.index.to_numpy(dtype=float), counts, strict=True):
            others = numbers[numbers != value]
            said = {"number": value, "rows": count, "low": others.min(), "high": others.max()}
            # Far above all others, or negative where no other is.
            if len(others) and (value > FAR * said["high"] > 0 if value > 0 else said["low"] >= 0):
                yield Note("nines", (name,), said)


# Dates that cannot be, or stand for a missing value: future, old, heaped, or an end before its beginning.

OLDEST = date(1905, 1, 1)
"""Nobody alive is much older, so earlier dates often stand for a missing value."""
RARE = 0.05
"""Share of the dates up to which impossible ones are faults; histories and calendars hold more."""
FEW, HEAPED, HIGHER = 100, 30, 10
"""A column has a heap if it has so many dates, one in so many rows, and in so many times more rows than any other."""
SEVERAL_DATES = 10
"""Fewest other dates beside which one may be far."""
ORDERED = 0.98
"""Share of the rows from which one date is meant to precede another."""


def doubtful_dates(frame: pd.DataFrame, dates: Mapping[str, DateForm], today: date) -> Iterator[Note]:
    """Notes on columns of dates, numbers of days or seconds since 1970, one line for each fault of a column or pair."""
    days = {name: frame[name].to_numpy(dtype=float) / form.unit for name, form in dates.items() if name in frame}
    epoch = date(1970, 1, 1)
    first, last = (OLDEST - epoch).days, (today - epoch).days + 1
    sentinels = [number for number in ISO.numbers(SENTINELS) if number is not None]
    for name, every in days.items():
        # Notes of the reader name these dates.
        numbers = np.where(np.isin(every, sentinels), np.nan, every)
        impossible = {"after today": int((numbers >= last).sum()), "before 1905": int((numbers < first).sum())}
        most = RARE * np.isfinite(numbers).sum()
        faults = [f"{n} date{'s' * (n > 1)} {words}" for words, n in impossible.items() if 0 < n <= most]
        if faults:
            yield Note("impossible dates", (name,), {"faults": " and ".join(faults)})
        counts = np.sort(np.unique(numbers[np.isfinite(numbers)], return_counts=True)[1])
        if counts.size >= FEW and counts[-1] >= max(HEAPED, HIGHER * counts[-2]):
            yield Note("heap of dates", (name,), {"rows": counts[-1], "others": counts[-2]})
        else:
            yield from _far_dates(name, numbers)
    for (one, first_days), (other, second_days) in combinations(days.items(), 2):
        both = np.isfinite(first_days) & np.isfinite(second_days)
        before, after = int((first_days < second_days)[both].sum()), int((first_days > second_days)[both].sum())
        small, name, earlier = min((after, other, one), (before, one, other))
        if 0 < small <= (1 - ORDERED) * both.sum():
            yield Note("end before beginning", (name,), {"rows": small, "earlier": earlier})


def _far_dates(name: str, numbers: Floats) -> Iterator[Note]:
    """A note on a first or last date of several rows that is far from all others, which are `SEVERAL_DATES`."""
    present, counts = np.unique(numbers[np.isfinite(numbers)], return_counts=True)
    if present.size <= SEVERAL_DATES:
        return
    for end, place, others in (("first", 0, present[1:]), ("last", -1, present[:-1])):
        gap = np.abs(others - present[place]).min()
        if counts[place] >= FEWEST and gap > FAR * (others[-1] - others[0]):
            yield Note("far date", (name,), {"end": end, "rows": int(counts[place])})


def doubtful_values(
    frame: pd.DataFrame,
    dates: Mapping[str, DateForm],
    person: str | None,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    identifiers: Sequence[str],
    group: str | None = None,
) -> list[Note]:
    """Notes on impossible dates, nines, people twice a day, changing traits, and columns that tell sensitive values."""
    who = dict.fromkeys([*identifiers, *([] if person is None else [person])])
    return [
        *doubtful_dates(frame, dates, datetime.now(UTC).date()),
        *doubtful_numbers(frame, dates),
        # Members of a group have days in common.
        *repeated_days(frame, dates, [name for name in who if name != group]),
        *changing_traits(frame, person),
        *telling_columns(frame, quasi_identifiers, sensitive),
    ]


def doubtful_columns(
    columns: Mapping[str, TextColumn], frame: pd.DataFrame, declared: Roles, known: Sequence[str], person: str | None
) -> list[Note]:
    """All notes on the values of a file's columns."""
    dates = {name: column.dates for name, column in columns.items() if column.dates is not None}
    fixed = {*declared.columns, *declared.identifiers}
    texts = {
        name: column.texts.to_pylist()
        for name, column in columns.items()
        if name not in fixed and not pd.api.types.is_numeric_dtype(frame[name])
    }
    values = doubtful_values(frame, dates, person, known, declared.sensitive, declared.identifiers, declared.group)
    return [*doubtful_words(texts), *values]
