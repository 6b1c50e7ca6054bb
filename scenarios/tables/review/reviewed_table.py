"""What notes, summaries and warnings ask of a table, whether it is held in memory or read in parts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import pandas as pd

from defenses.base import CountedCells, RecordsInBlocks, RecordsInMemory
from metrics.columns import Integers
from scenarios.tables.dataset import Dataset
from scenarios.tables.review.column_names import NAMES, NAMES_JAPANESE, hints_at, look_like_people
from scenarios.tables.review.households import Groups
from scenarios.tables.review.rows_of_people import RowsOfPeople, counted_rows, numbers_in

SEEN = 200
"""Number of values that are looked at for names of people."""


class RepeatedIdentifier(NamedTuple):
    """Numbers of distinct values and of rows with a value, and whether the values look like names of people."""

    name: str
    values: int
    rows: int
    names: bool


class ReviewedTable:
    """A data set in memory, of which one reads counts and rows; one in parts counts elsewhere and samples its rows."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self.records: RecordsInBlocks = RecordsInMemory(dataset.records)

    @property
    def rows(self) -> int:
        """Number of records."""
        return self.records.rows

    @cached_property
    def frame(self) -> pd.DataFrame:
        """Values of the records, or of a random sample of them."""
        return self.dataset.records.frame

    @cached_property
    def people(self) -> RowsOfPeople | None:
        """Rows of people whose column is declared; None if no person has two rows."""
        person = self.dataset.records.person
        counts = self.counted_rows(person)
        return None if person is None or counts is None else RowsOfPeople(person, *counts)

    @cached_property
    def groups(self) -> Groups | None:
        """Rows of groups whose column is declared; None if no group has two rows."""
        group = self.dataset.records.group
        counts = self.counted_rows(group)
        return None if group is None or counts is None else Groups(group, *counts)

    def counted_rows(self, name: str | None) -> tuple[int, int, int] | None:
        """Rows, people or groups that a column names, and most rows of one; None if none has two rows."""
        return counted_rows(self.numbers_in(name))

    def numbers_in(self, name: str | None) -> Integers:
        """Number of the person or group that a column names, shape (rows,); without it, each record has its own."""
        return numbers_in(self.dataset.records, name)

    @property
    def unique_texts(self) -> list[str]:
        """Released text columns whose value differs in every record."""
        records, roles = self.records, self.dataset.records
        texts = [name for name in roles.released_columns if roles.frame[name].dtype == object]
        coded = [name for name in texts if records.is_coded(name)]
        return [name for name in coded if self.rows > 1 and (records.column(name).counts <= 1).all()]

    def counts(self, name: str) -> tuple[int, int | str]:
        """Number of rows without a value in a column, and of distinct values, as text where it is estimated."""
        return int(self.frame[name].isna().sum()), int(self.frame[name].nunique())

    def repeated(self, name: str) -> RepeatedIdentifier | None:
        """Numbers of an identifier; None where its values hardly repeat, or the table lacks it."""
        if name not in self.frame:
            return None
        values = self.frame[name].dropna()
        names = values.dtype == object and look_like_people(values.unique()[:SEEN].tolist())
        return RepeatedIdentifier(name, values.nunique(), len(values), names)

    @property
    def numbering(self) -> list[RepeatedIdentifier]:
        """Identifiers that may number people, if no column names the person; people share names and streets."""
        if self.dataset.records.person is not None:
            return []
        others = (*self.dataset.left_out, self.dataset.records.group)
        names = (name for name in self.dataset.records.identifiers if name not in others)
        found = (self.repeated(name) for name in names if not hints_at(name, NAMES, NAMES_JAPANESE))
        return [one for one in found if one is not None]

    def cells(self, names: Sequence[str]) -> dict[str, CountedCells]:
        """Counts of the values of those columns that a release may hold; of a sample where nearly all are distinct."""
        return {
            name: self.records.column(name).occurring
            if self.records.is_coded(name)
            else CountedCells.of(self.frame[name])
            for name in names
            if name in self.frame
        }
