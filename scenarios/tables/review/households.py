"""Households and other groups of people: who recognizes one member finds the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from defenses import Microdata
from leaderboard.pages.number_text import measure
from metrics.columns import Integers
from metrics.risk import GroupRisk
from scenarios.tables.note import Note
from scenarios.tables.review.rows_of_people import ClassMembers, counted_rows, numbers_in, person_numbers

MOSTLY = 0.9
"""Share of the groups of several people in which all have one value, from which on it is a value of the group."""


class Groups(NamedTuple):
    """Numbers of rows and groups of a table.

    Parameters
    ----------
    column : str
        Column that names the group of each row.
    rows, groups : int
        Number of rows, and of groups. A row that names no group counts as a group of its own.
    most : int
        Largest number of rows of one group.
    """

    column: str
    rows: int
    groups: int
    most: int

    @property
    def words(self) -> str:
        """The numbers in words."""
        return f"{self.rows:,} rows of {self.groups:,} groups, up to {self.most} rows a group"


def risk_of_rows(classes: Integers, groups: Integers, people: Integers) -> GroupRisk:
    """Risk of groups from the class, the group and the person of each row.

    A member is recognized with probability 1 / number of people in a class, the smallest that holds a row of theirs.
    """
    risk = 1 / ClassMembers.of(classes, people).sizes[classes]
    rows = pd.DataFrame({"group": groups, "person": people, "risk": risk})
    members = rows.groupby(["group", "person"], sort=False)["risk"].max().reset_index()
    return GroupRisk.of(members["risk"].to_numpy(), members["group"].to_numpy())


def risk_note(column: str, risk: GroupRisk) -> Note:
    """The risk of the groups of a column, as a note."""
    return Note("risk of groups", (column,), {"highest": measure(risk.highest), "mean": measure(risk.mean)})


def together(person: Integers, group: Integers) -> Integers:
    """Number of the part of each row, so that the rows of a person, and those of a group, are in one part."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count = int(group.max(initial=-1)) + 1
    size = count + int(person.max(initial=-1)) + 1
    links = coo_array((np.ones(person.size), (group, count + person)), shape=(size, size))
    return np.asarray(connected_components(links, directed=False)[1][group], dtype=np.intp)


class Units(NamedTuple):
    """What games draw whole: groups where the roles declare them, else people; without either, rows.

    Parameters
    ----------
    numbers : ndarray of int, shape (rows,)
        Number of the unit of each row, from 0 in order of first appearance. People of one group are in one unit.
    size : int
        Number of units.
    words : str
        This number in words.
    """

    numbers: Integers
    size: int
    words: str

    @classmethod
    def of(cls, records: Microdata) -> Units:
        """Units of records.

        Examples
        --------
        >>> frame = pd.DataFrame({"id": ["a", "a", "b", "c"], "home": [1, 1, 1, 2]})
        >>> records = Microdata(frame, identifiers=("id", "home"), person="id", group="home")
        >>> Units.of(records).numbers.tolist(), Units.of(records).words
        ([0, 0, 0, 1], '2 groups')
        """
        numbers, kind = person_numbers(records), "people"
        groups = numbers_in(records, records.group)
        if counted_rows(groups) is not None:
            numbers, kind = pd.factorize(together(numbers, groups))[0], "groups"
        size = int(numbers.max(initial=-1)) + 1
        return cls(numbers, size, f"{size} rows" if size == len(records) else f"{size} {kind}")


def values_of_groups(records: Microdata, frame: pd.DataFrame) -> Iterator[Note]:
    """Notes on columns that releases may hold exactly, and whose value names a group, or a person of several rows."""
    kinds = {records.group: "group", records.person: "person"}
    exact = [name for name in records.released_columns if name not in {*records.quasi_identifiers, *kinds}]
    for column in (name for name in frame if name in kinds):
        groups = frame[column]
        several = groups.duplicated(keep=False) & groups.notna()
        for name in exact:
            pairs = pd.DataFrame({"group": groups, "value": frame[name]}).dropna().drop_duplicates()
            values = pairs["group"].value_counts().reindex(groups[several].unique()).dropna()
            if not values.size or (values == 1).mean() < MOSTLY:
                continue
            alone: pd.Series[Any] = ~pairs["value"].duplicated(keep=False)
            rows = int(groups.isin(pairs["group"][alone]).sum())
            if rows:
                yield Note(
                    "value of a group",
                    (name,),
                    {"rows": rows, "total": len(frame), "column": column, "unit": kinds[column]},
                )
