"""Numbers of rows and people of a table that is read in parts."""

from __future__ import annotations

from scenarios.tables.parts.records import LargeRecords
from scenarios.tables.parts.sql_names import quoted
from scenarios.tables.review.notes import SEEN, RepeatedIdentifier, numbering_identifiers, repeated_identifier_warnings
from scenarios.tables.review.person_names import look_like_people
from scenarios.tables.review.rows_of_people import RowsOfPeople

SURE = 0.9
"""Share of distinct values, as estimated, below which an identifier repeats for sure and its values are counted."""


def large_rows_of_people(records: LargeRecords) -> RowsOfPeople | None:
    """Count the rows of people whose column is declared; None if no person has two rows."""
    person = records.dataset.records.person
    if person is None:
        return None
    groups = f"SELECT {quoted(person)} IS NULL AS unnamed, count(*) AS rows FROM source GROUP BY {quoted(person)}"
    numbers = "sum(rows), sum(if(unnamed, rows, 1)), max(if(unnamed, 1, rows))"
    ((rows, people, most),) = records.files.fetch(f"SELECT {numbers} FROM ({groups})")
    return RowsOfPeople(person, int(rows), int(people), int(most)) if rows and most > 1 else None


def large_repeated_people_warnings(records: LargeRecords) -> list[str]:
    """Warnings of identifiers that repeat, as `scenarios.tables.review.notes.repeated_people_warnings` gives them.

    Counting many distinct values takes long, so only identifiers of which at most `SURE` are distinct are counted.
    """
    names = [name for name in numbering_identifiers(records.dataset) if name in records.files.columns]
    return repeated_identifier_warnings(one for name in names if (one := _repeated(records, name)) is not None)


def _repeated(records: LargeRecords, name: str) -> RepeatedIdentifier | None:
    column, fetch = quoted(name), records.files.fetch
    ((about, rows),) = fetch(f"SELECT approx_count_distinct({column}), count({column}) FROM source")
    if about >= SURE * rows:
        return None
    ((values,),) = fetch(f"SELECT count(DISTINCT {column}) FROM source")
    texts = [] if records.files.type_of(name) != "VARCHAR" else _some_texts(records, column)
    return RepeatedIdentifier(name, int(values), int(rows), bool(texts) and look_like_people(texts))


def _some_texts(records: LargeRecords, column: str) -> list[str]:
    query = f"SELECT DISTINCT {column} FROM source WHERE {column} IS NOT NULL LIMIT {SEEN}"
    return [text for (text,) in records.files.fetch(query)]
