"""Rows of the same person: how many there are, and how many people a class of rows holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import exp, expm1
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.random import Generator

from defenses.base import Guarantee, Microdata
from metrics.columns import Booleans, Integers
from scenarios.tables.note import Note
from scenarios.tables.review.column_names import NAMES, NAMES_JAPANESE, hints_at

if TYPE_CHECKING:
    import pandas as pd

    from metrics.classes import SizeCounts

ONE_ROW = "make one row of each person first, as by `tokumei split --one-row`"
"""What makes guarantees for rows guarantees for people."""
MOST_NAMED = 7.0
"""Largest epsilon whose factor of odds is named: it is about 1,100."""


class RowsOfPeople(NamedTuple):
    """Numbers of rows and people of a table.

    Parameters
    ----------
    person : str
        Column that names the person of each row.
    rows, people : int
        Number of rows, and of people. A row that names no person counts as a person of its own.
    most : int
        Largest number of rows of one person.
    """

    person: str
    rows: int
    people: int
    most: int

    @classmethod
    def of(cls, records: Microdata) -> RowsOfPeople | None:
        """Count the rows of people whose column is declared; None if no person has two rows.

        Parameters
        ----------
        records : Microdata
            The records.
        """
        counts = counted_rows(person_numbers(records))
        return None if records.person is None or counts is None else cls(records.person, *counts)

    @property
    def words(self) -> str:
        """The numbers in words."""
        people = "1 person" if self.people == 1 else f"{self.people:,} people"
        return f"{self.rows:,} rows of {people}, up to {self.most} rows a person"


def person_numbers(records: Microdata) -> Integers:
    """Number of the person of each record, from 0 in order of first appearance, shape (n,).

    Examples
    --------
    >>> import pandas as pd
    >>> records = Microdata(pd.DataFrame({"id": ["b", "b", None, "a"]}), identifiers=("id",), person="id")
    >>> person_numbers(records).tolist()
    [0, 0, 2, 1]
    """
    return numbers_in(records, records.person)


def numbers_in(records: Microdata, column: str | None) -> Integers:
    """Number of the person or group that a column names, shape (n,); without it, each record has its own."""
    if column is None or column not in records.frame:
        return np.arange(len(records))
    return numbers_of(records.frame[column])


def counted_rows(numbers: Integers) -> tuple[int, int, int] | None:
    """Rows, people or groups, and most rows of one, by the number of each row; None if none has two rows."""
    counts = np.bincount(numbers)
    most = int(counts.max(initial=0))
    return (numbers.size, counts.size, most) if most > 1 else None


def number_of_people(records: Microdata) -> int:
    """Number of people of some records, who may have several each."""
    return int(person_numbers(records).max(initial=-1)) + 1


def numbers_of(person: pd.Series[Any]) -> Integers:
    """Number of each named person, and a new one for each row that names none, shape (rows,)."""
    import pandas as pd

    return each_a_person(pd.factorize(person)[0].astype(np.intp))


def each_a_person(numbers: Integers) -> Integers:
    """Numbers of people, in which each row that names none, of number -1, is a person of its own, shape (rows,)."""
    unnamed = numbers < 0
    numbers[unnamed] = numbers.max(initial=-1) + 1 + np.arange(unnamed.sum())
    return numbers


def rows_of_each(people: Integers, most: int, rng: Generator) -> Booleans:
    """Which rows are drawn, at most so many of each person, shape (rows,); a person's rows are equally likely.

    Parameters
    ----------
    people : ndarray of int, shape (rows,)
        Number of the person of each row.
    most : int
        Largest number of rows of a person.
    rng : Generator
        Draws the rows. Those of a person do not depend on other people's rows, but for their places.

    Examples
    --------
    >>> int(rows_of_each(np.array([0, 0, 1, 2, 2, 2]), 2, np.random.default_rng(1)).sum())
    5
    """
    order = rng.permutation(people.size)
    order = order[np.argsort(people[order], kind="stable")]
    first = np.searchsorted(people[order], people[order])
    drawn = np.zeros(people.size, dtype=bool)
    drawn[order[np.arange(people.size) - first < most]] = True
    return drawn


class ClassMembers(NamedTuple):
    """Which people have a row in which class; each pair stands once.

    Parameters
    ----------
    classes, people : ndarray of int, shape (pairs,)
        Number of the class, and of the person.
    """

    classes: Integers
    people: Integers

    @classmethod
    def of(cls, classes: Integers, people: Integers) -> ClassMembers:
        """Pairs of rows with these classes and people, both of shape (rows,)."""
        import pandas as pd

        pairs = pd.DataFrame({"class": np.asarray(classes), "person": np.asarray(people)}).drop_duplicates()
        return cls(pairs["class"].to_numpy(), pairs["person"].to_numpy())

    @property
    def sizes(self) -> Integers:
        """Number of people of each class, shape (classes,)."""
        return np.asarray(np.bincount(self.classes))

    def in_small_classes(self, size: float) -> int:
        """Number of people with a row in a class of fewer than `size` people."""
        return int(np.unique(self.people[self.sizes[self.classes] < size]).size)


def about_rows(guarantee: Guarantee, records: Microdata) -> Guarantee:
    """A guarantee whose statement says that it is of rows, where people have several."""
    if str(guarantee) == "none" or RowsOfPeople.of(records) is None:
        return guarantee
    return replace(guarantee, statement=f"{guarantee.statement}, of rows, not of people".removeprefix(", "))


def drawn_rows(records: Microdata, name: str) -> str | None:
    """Reason why what draws single rows cannot count people, or None if nobody has two rows."""
    rows = RowsOfPeople.of(records)
    if rows is None:
        return None
    return f"people of column {rows.person!r} have several rows, and {name} draws rows, not people; {ONE_ROW}"


def hidden_people_notes(person: str | None, released: Iterable[str], identifiers: Sequence[str] = ()) -> list[Note]:
    """A note that classes count rows, if a person may have several and the release does not say whose its rows are."""
    numbers = [name for name in identifiers if not hints_at(name, NAMES, NAMES_JAPANESE)]
    if person is None and numbers:
        return [Note("classes of rows or people", numbers={"identifiers": " or ".join(map(repr, numbers))})]
    return [] if person is None or person in released else [Note("classes of rows", (person,))]


def guarantee_to_people(guarantee: Guarantee, rows: RowsOfPeople, classes: SizeCounts | None = None) -> list[str]:
    """Say what a guarantee for rows is worth to people with several rows; empty if there is no such guarantee.

    Notes
    -----
    A mechanism with epsilon and delta for one row has g epsilon and delta (e^(g epsilon) - 1) / (e^epsilon - 1) for
    the g rows of a person.

    References
    ----------
    Dwork and Roth (2014), The Algorithmic Foundations of Differential Privacy, theorem 2.2, for groups.
    """
    words = []
    if guarantee.k is not None:
        held = "a class may hold fewer people" if classes is None else _held(classes, guarantee.k)
        words.append(f"k = {guarantee.k} counts rows, not people ({rows.words}): {held}; {ONE_ROW}")
    elif guarantee.l is not None or guarantee.t is not None or guarantee.pk is not None:
        words.append(f"the guarantee counts rows, not people ({rows.words}); {ONE_ROW}")
    if guarantee.epsilon is not None:
        words.append(
            f"epsilon = {guarantee.epsilon:.3g} is the guarantee for one row; "
            f"{epsilon_of_a_person(guarantee.epsilon, guarantee.delta, rows.most)}; {ONE_ROW}"
        )
    return words


def epsilon_of_a_person(epsilon: float, delta: float | None, rows: int) -> str:
    """Say what a guarantee for one row means for a person with several rows.

    Examples
    --------
    >>> epsilon_of_a_person(1.0, None, 6)
    'a person has up to 6 rows, so epsilon is 6 for a person, and odds change by a factor of at most 403'
    """
    whole = rows * epsilon
    # Beyond this, the factor says nothing, and soon overflows.
    factor = f"by a factor of at most {exp(whole):.3g}" if whole <= MOST_NAMED else "by nearly any factor"
    # Beyond 700, numbers of floating point overflow, and no delta of use remains.
    grown = 1.0 if whole > 700 or not delta else delta * (expm1(whole) / expm1(epsilon) if epsilon else rows)
    rare = f" and delta {min(1.0, grown):.3g}" if delta else ""
    return f"a person has up to {rows} rows, so epsilon is {whole:.3g}{rare} for a person, and odds change {factor}"


def _held(classes: SizeCounts, k: int) -> str:
    smallest, below = int(classes.sizes[0]), int(classes.counts[classes.sizes < k].sum())
    if not below:
        return f"still, each class holds at least {smallest} people"
    people = "1 person" if smallest == 1 else f"{smallest} people"
    return f"the smallest class holds {people}, and {below} of {classes.classes} classes fewer than {k}"
