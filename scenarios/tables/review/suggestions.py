"""Suggested roles of columns, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import comb
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from metrics.columns import Floats, Integers
from metrics.suda import minimal_sample_uniques
from scenarios.tables.note import Note, grouped
from scenarios.tables.review.column_names import (
    FREE_TEXT,
    FREE_TEXT_JAPANESE,
    HOUSEHOLD_NUMBERS,
    HOUSEHOLDS,
    HOUSEHOLDS_JAPANESE,
    IDENTIFIERS,
    IDENTIFIERS_JAPANESE,
    NAMES,
    NAMES_JAPANESE,
    OUTCOMES,
    OUTCOMES_JAPANESE,
    PERHAPS_WEIGHTS,
    PERSONS,
    SENSITIVE,
    SENSITIVE_JAPANESE,
    WEIGHTS,
    WEIGHTS_JAPANESE,
    hints_at,
    is_called,
    look_like_people,
)
from scenarios.tables.seeds import generator

# How far each column makes records unique: alone, with few others, and among all.

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
    together = np.zeros(n, dtype=np.intp)
    before = list(accumulate(codes, _joint, initial=together))
    after = list(accumulate(reversed(codes), _joint, initial=together))
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
    return np.asarray(pd.factorize(classes * (int(codes.max()) + 1) + codes)[0])


def _unique_share(classes: Integers) -> float:
    """Share of rows that are alone in their class."""
    return float((np.bincount(classes)[classes] == 1).mean())


IDENTIFIER, QUASI_IDENTIFIER, SENSITIVE_VALUE, WEIGHT = "identifier", "quasi-identifier", "sensitive", "weight"
LONG = 25
"""Mean length of free text in bytes of UTF-8, at least; a Japanese character takes three."""
FEW = 20
"""Number of values up to which a column that differs in every record may do so by chance."""
FEW_CATEGORIES = 10
"""Largest number of values of an outcome."""
MOSTLY_DISTINCT = 0.9
"""Share of distinct values from which a column identifies records although some values repeat."""
BY_NAME_REPEATED = "by its name; it repeats, as where a person has many rows; named as `person`"
"""Reason of a column with the name of an identifier whose values repeat often."""
BY_NAME_GROUP = "by its name; rows with the same value are members of a group, such as a household; named as `group`"
"""Reason of a column that numbers households or other groups of people."""
NAMES_PEOPLE = "by its name: it names people or where they live, though values repeat"
"""Reason of a column of names or addresses, which people share."""
LOOKS_LIKE_PEOPLE = "its values look like names of people"
"""Reason of a column of texts such as "Surname, Given"."""
BY_FREE_TEXT = "free text by its name, which may name people"
"""Reason of a column of texts that is called a note or a remark."""
HALF_DISTINCT = 0.5
"""Share of distinct values from which even a short column may number people, if its name says so."""
LIGHT = 2.0
"""Median below which numbers called weights are relative weights of a survey rather than those of bodies."""
RATHER_UNIQUE = 0.3
"""Share of distinct values from which a column is rather an exact amount or a name than a trait that people share."""


class Suggestion(NamedTuple):
    """A suggested role.

    Parameters
    ----------
    role : str
        ``identifier``, ``quasi-identifier``, ``sensitive`` or ``weight``.
    reason : str
        Why, in words that name no value.
    guess : bool
        Whether a person should decide.
    """

    role: str
    reason: str
    guess: bool


def suggested_identifier(name: str, column: pd.Series[Any]) -> Suggestion | None:
    """Suggest a column as identifier if its values differ, or are free text, addresses or names; else return None."""
    present = column.dropna()
    distinct = present.unique()
    if len(distinct) < 2:
        return None
    share = len(distinct) / len(present)
    names_people = hints_at(name, NAMES, NAMES_JAPANESE)
    numbers = hints_at(name, IDENTIFIERS, IDENTIFIERS_JAPANESE)
    in_households = hints_at(name, HOUSEHOLD_NUMBERS, ()) or is_called(name, HOUSEHOLDS)
    in_groups = in_households or (numbers and hints_at(name, HOUSEHOLDS, HOUSEHOLDS_JAPANESE))
    by_name = names_people or numbers or in_groups or is_called(name, PERSONS)
    reason, guess = (
        _number_reason(column, share, by_name=by_name)
        if column.dtype != object
        else _text_reason(distinct, len(present), by_name=by_name)
    )
    many_texts = column.dtype == object and len(distinct) > FEW
    if reason in ("", BY_NAME_REPEATED):
        guesses = {
            BY_NAME_GROUP: in_groups and reason == BY_NAME_REPEATED,
            NAMES_PEOPLE: names_people,
            LOOKS_LIKE_PEOPLE: many_texts and look_like_people(distinct.tolist()),
            BY_NAME_REPEATED: reason == BY_NAME_REPEATED,
            BY_FREE_TEXT: many_texts and hints_at(name, FREE_TEXT, FREE_TEXT_JAPANESE),
        }
        reason, guess = next((words for words, holds in guesses.items() if holds), ""), True
    return Suggestion(IDENTIFIER, reason, guess) if reason else None


def _number_reason(column: pd.Series[Any], share: float, *, by_name: bool) -> tuple[str, bool]:
    """Reason why numbers identify records, empty if none, and whether it is a guess."""
    numbers = column.dropna().to_numpy(dtype=float)
    if (numbers != np.round(numbers)).any():
        return "", False
    n = len(numbers)
    if share == 1:
        counts_rows = n == len(column) and n > 2 and numbers[0] in (0, 1) and (np.diff(numbers) == 1).all()
        cases = (
            (counts_rows, "it counts the rows", False),
            (by_name, "integers that differ in every record, and its name", False),
            (_are_dense(numbers), "integers that differ in every record, where chance would repeat some", True),
            (True, "", False),
        )
        return next((reason, guess) for applies, reason, guess in cases if applies)
    distinct = len(np.unique(numbers))
    if by_name and distinct > FEW and share >= MOSTLY_DISTINCT:
        return _repeats(n, n - distinct), True
    return _repeated_reason(distinct, share, by_name=by_name)


def _text_reason(distinct: Any, present: int, *, by_name: bool) -> tuple[str, bool]:
    """Reason why texts identify records, empty if none, and whether it is a guess."""
    texts = pa.array(distinct, pa.string())
    share = len(texts) / present
    mean_length = pc.mean(pc.binary_length(texts)).as_py()
    addresses = pc.mean(pc.match_substring_regex(texts, r"^[^@\s]+@[^@\s]+\.[^@\s]+$").cast(pa.int8())).as_py()
    mostly_distinct = share >= MOSTLY_DISTINCT and present > FEW
    cases = (
        (addresses >= 0.9, "e-mail addresses", False),
        (mean_length >= LONG and share >= 0.5, f"free text, {percent(share)} of its values distinct", True),
        (share == 1, "text that differs in every record", present <= FEW),
        (mostly_distinct and by_name, _repeats(present, present - len(texts)), True),
        (mostly_distinct, f"text with {percent(share)} of its values distinct", True),
        (True, *_repeated_reason(len(texts), share, by_name=by_name)),
    )
    return next((reason, guess) for applies, reason, guess in cases if applies)


def _repeated_reason(distinct: int, share: float, *, by_name: bool) -> tuple[str, bool]:
    """Reason why values that repeat often number people, empty if they do not, and whether it is a guess."""
    numbers_people = by_name and (distinct > FEW or share >= HALF_DISTINCT)
    return (BY_NAME_REPEATED, True) if numbers_people else ("", False)


def _repeats(present: int, repeats: int) -> str:
    """Reason why values with the name of an identifier identify records, though some repeat."""
    doubt = "rows exported twice, or people with many rows (then name it as `person`)"
    return f"by its name; {repeats} of its {present} values repeat another: {doubt}"


def people_notes(suggestions: Mapping[str, Suggestion]) -> list[Note]:
    """Notes on columns that were taken for identifiers though values repeat, one a reason."""
    return grouped(
        Note("taken for an identifier", (name,), {"reason": one.reason})
        for name, one in suggestions.items()
        if one.reason in (LOOKS_LIKE_PEOPLE, NAMES_PEOPLE, BY_NAME_REPEATED)
    )


def suggested_sensitive(name: str, column: pd.Series[Any]) -> Suggestion | None:
    """Suggest a column as sensitive by its name; otherwise return None."""
    if hints_at(name, SENSITIVE, SENSITIVE_JAPANESE):
        return Suggestion(SENSITIVE_VALUE, "by its name", guess=True)
    if hints_at(name, OUTCOMES, OUTCOMES_JAPANESE) and len(column.unique()) > 1:
        return Suggestion(SENSITIVE_VALUE, "by its name, an outcome", guess=True)
    return None


def suggested_weight(name: str, column: pd.Series[Any]) -> Suggestion | None:
    """Suggest positive numbers as survey weights by their name; otherwise return None.

    A name such as weight may mean that of a body, which is written with few decimals and rarely is below 2.
    """
    named = hints_at(name, WEIGHTS, WEIGHTS_JAPANESE)
    if column.dtype == object or not (named or hints_at(name, PERHAPS_WEIGHTS, ())):
        return None
    numbers = column.dropna().to_numpy(dtype=float)
    if not (numbers >= 0).all() or np.unique(numbers).size < 2:
        return None
    exact = (np.round(numbers, 2) != numbers).mean() > HALF_DISTINCT
    if named or exact or np.median(numbers) < LIGHT:
        return Suggestion(WEIGHT, "survey weights by the name, which nobody else knows", guess=not named)
    return None


def suggested_roles(frame: pd.DataFrame) -> dict[str, Suggestion]:
    """Suggest identifiers and sensitive values; columns without a suggestion are quasi-identifiers.

    Notes
    -----
    A column whose values are one-to-one with those of an identifier that repeats is an identifier, too.

    If no name hints at a sensitive value, a last column with few values is suggested, as outcomes often stand there.
    """
    by_column = {name: _suggested(name, frame[name]) for name in map(str, frame.columns)}
    suggestions = {name: suggestion for name, suggestion in by_column.items() if suggestion is not None}
    suggestions |= _one_to_one(frame, suggestions)
    last = str(frame.columns[-1])
    sensitive = any(suggestion.role == SENSITIVE_VALUE for suggestion in suggestions.values())
    if not sensitive and last not in suggestions and frame.shape[1] > 1:
        distinct = frame[last].nunique()
        if 2 <= distinct <= FEW_CATEGORIES and 2 * distinct <= len(frame):
            reason = "the last column, with few values, often is the outcome"
            suggestions[last] = Suggestion(SENSITIVE_VALUE, reason, guess=True)
    return suggestions


def _suggested(name: str, column: pd.Series[Any]) -> Suggestion | None:
    """Suggestion that a column's name and values give by themselves."""
    if not column.notna().any():
        return Suggestion(IDENTIFIER, "it has no value in any row", guess=True)
    return suggested_weight(name, column) or suggested_identifier(name, column) or suggested_sensitive(name, column)


def _one_to_one(frame: pd.DataFrame, suggestions: Mapping[str, Suggestion]) -> dict[str, Suggestion]:
    """Suggestions of columns without one whose values number those of an identifier."""
    identifiers = [name for name, suggestion in suggestions.items() if suggestion.role == IDENTIFIER]
    free = [name for name in map(str, frame.columns) if name not in suggestions and _may_number(frame[name])]
    others = {
        name: next((one for one in identifiers if _number_each_other(frame[name], frame[one])), None) for name in free
    }
    reason = "each value belongs to one value of {!r}, and the other way round"
    return {
        name: Suggestion(IDENTIFIER, reason.format(other), guess=True)
        for name, other in others.items()
        if other is not None
    }


def _may_number(column: pd.Series[Any]) -> bool:
    """Whether values are texts, or integers so close to each other that amounts would repeat by chance."""
    if column.dtype == object:
        return True
    numbers = np.unique(column.dropna().to_numpy(dtype=float))
    return numbers.size > FEW and (numbers == np.round(numbers)).all() and _are_dense(numbers)


def _are_dense(numbers: Floats) -> bool:
    """Whether of so many numbers drawn at random some would be equal: n² / 2 pairs would be expected to have some."""
    return bool(numbers.size**2 / 2 > 5 * (numbers.max() - numbers.min() + 1))


def _number_each_other(column: pd.Series[Any], other: pd.Series[Any]) -> bool:
    """Whether each value of a column belongs to one value of another one and the other way round, and they repeat."""
    left, right = (pd.factorize(one)[0].astype(np.int64) for one in (column, other))
    present = (left >= 0) & (right >= 0)
    left, right = left[present], right[present]
    distinct = np.unique(left).size
    if not FEW < distinct < left.size or np.unique(right).size != distinct:
        return False
    return np.unique(left * (right.max() + 1) + right).size == distinct


def quasi_identifier_reason(
    name: str, column: pd.Series[Any], measured: Uniqueness, *, date: bool = False
) -> Suggestion:
    """Describe how far a quasi-identifier makes records unique, by shares of records."""
    shares = measured.columns[name]
    if len(column.unique()) == 1:
        return Suggestion(QUASI_IDENTIFIER, "constant, so it tells no record from another", guess=False)
    words = f"{percent(shares.alone)} of records are unique by it alone"
    others = min(measured.set_size, len(measured.columns)) - 1
    if others:
        words += f", {percent(shares.in_sets)} by it and at most {others} other" + "s" * (others > 1)
    if len(measured.columns) > 1:
        words += f"; without it {percent(shares.without)} are unique by all others"
    distinct, present = column.nunique(), column.count()
    if distinct <= FEW or distinct < RATHER_UNIQUE * present:
        return Suggestion(QUASI_IDENTIFIER, words, guess=False)
    doubt = "if it names people, it is an identifier"
    if column.dtype != object:
        doubt = f"if nobody else knows this {'date' if date else 'amount'}, it is sensitive or unprotected"
    return Suggestion(QUASI_IDENTIFIER, f"{words}; {doubt}", guess=True)


def percent(share: float) -> str:
    """A share in percent, without rounding up to 100 or down to 0."""
    if 0 < share < 0.001:
        return "below 0.1 %"
    if 0.999 < share < 1:
        return "above 99.9 %"
    return f"{100 * share:.1f}".removesuffix(".0") + " %"
