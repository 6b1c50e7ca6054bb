"""Numbers of rows and people of a table that is read in parts."""

from __future__ import annotations

from scenarios.large.records import LargeRecords
from scenarios.large.sql_names import quoted
from scenarios.tables.rows_of_people import RowsOfPeople


def large_rows_of_people(records: LargeRecords) -> RowsOfPeople | None:
    """Count the rows of people whose column is declared; None if no person has two rows."""
    person = records.dataset.records.person
    if person is None:
        return None
    column = quoted(person)
    counts = f"SELECT count(*) AS rows FROM source WHERE {column} IS NOT NULL GROUP BY {column}"
    ((rows, people, most),) = records.files.fetch(f"SELECT sum(rows), count(*), max(rows) FROM ({counts})")
    return RowsOfPeople(person, int(rows), int(people), int(most)) if people and most > 1 else None
