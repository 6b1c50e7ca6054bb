"""Notes on a data set, grouped for people: one line for each thing that is said of several columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd

from metrics.columns import CategoricalDomain
from scenarios.tables.dataset import NOT_PUBLIC, Dataset
from scenarios.tables.review.coarse_bins import coarse_bin_warnings
from scenarios.tables.review.column_names import NAMES, NAMES_JAPANESE, hints_at, look_like_people
from scenarios.tables.review.doubtful_values import doubtful_values, doubtful_words
from scenarios.tables.review.rows_of_people import ONE_ROW, RowsOfPeople
from scenarios.tables.review.suggestions import FEW, columns_by_words, suggested_identifier

SEEN = 200
"""Number of values that are looked at for names of people."""
NOTHING_SENSITIVE = "no sensitive column is declared: attacks on sensitive values are not measured"


def grouped_notes(dataset: Dataset) -> list[str]:
    """Notes on a data set; what is said of several columns is one note that names them.

    The domains of columns are in the summary, so the note on inferred domains only names the columns.
    """
    names = {str(name) for name in dataset.records.frame.columns}
    columns: dict[str, list[str]] = {}
    for note in dataset.notes:
        # A column's own name may hold a colon.
        name = max((name for name in names if note.startswith(f"{name}: ")), key=len, default="")
        words = note.removeprefix(f"{name}: ") if name else note
        if name in dataset.inferred and words.endswith(NOT_PUBLIC):
            words = NOT_PUBLIC
        columns.setdefault(words, []).extend([name] if name else [])
    grouped = [f"{', '.join(of)}: {words}" if of else words for words, of in columns.items() if words != NOT_PUBLIC]
    return [*grouped, *(f"{NOT_PUBLIC}: {', '.join(of)}" for words, of in columns.items() if words == NOT_PUBLIC)]


def table_warnings(dataset: Dataset, frame: pd.DataFrame | None = None) -> list[str]:
    """Warnings of what a table's promises and measurements would get wrong.

    Parameters
    ----------
    dataset : Dataset
        The data set.
    frame : DataFrame, optional
        Values of the records, or of a sample of them; by default those of the data set.
    """
    return [
        *identifier_warnings(dataset, frame),
        *repeated_people_warnings(dataset, frame),
        *rounding_warnings(dataset, frame),
        *coarse_bin_warnings(dataset, frame),
    ]


def identifier_warnings(dataset: Dataset, frame: pd.DataFrame | None = None) -> list[str]:
    """Warnings of released columns that look like identifiers or free text, one line a reason.

    Parameters
    ----------
    dataset : Dataset
        The data set.
    frame : DataFrame, optional
        Values of the records, or of a sample of them; by default those of the data set.
    """
    frame = dataset.records.frame if frame is None else frame
    records = dataset.records
    free = [name for name in records.released_columns if name != records.person and dataset.written.dates(name) is None]
    suggestions = ((name, suggested_identifier(name, frame[name])) for name in free)
    reasons = columns_by_words((name, one.reason) for name, one in suggestions if one is not None)
    return [f"{names}: no identifier by role, but {reason}" for reason, names in reasons.items()]


class RepeatedIdentifier(NamedTuple):
    """Numbers of values and rows of an identifier.

    Parameters
    ----------
    name : str
        Name of the column.
    values, rows : int
        Number of distinct values, and of rows with a value.
    names : bool
        Whether the values look like names of people, which different people share.
    """

    name: str
    values: int
    rows: int
    names: bool


def numbering_identifiers(dataset: Dataset) -> list[str]:
    """Declared identifiers that may number people, if no column names the person; people share names and streets."""
    records = dataset.records
    if records.person is not None:
        return []
    return [
        name
        for name in records.identifiers
        if name not in dataset.left_out and not hints_at(name, NAMES, NAMES_JAPANESE)
    ]


def repeated_identifier_warnings(identifiers: Iterable[RepeatedIdentifier]) -> list[str]:
    """A warning of identifiers that repeat, with the line that makes promises count people.

    Few values that repeat often, such as codes of hospitals, number no people.

    Parameters
    ----------
    identifiers : iterable of RepeatedIdentifier
        Numbers of each of `numbering_identifiers`.
    """
    repeated = [
        one for one in identifiers if one.values < one.rows and (one.values > FEW or 2 * one.values >= one.rows)
    ]
    if not repeated:
        return []
    person = min(repeated, key=lambda one: (one.names, one.values)).name
    counts = ", ".join(f"{one.name} ({one.values:,} values on {one.rows:,} rows)" for one in repeated)
    return [
        f"identifiers that repeat: {counts}. No column is named as `person`, so k and epsilon hold for rows, not for "
        f"people. If each value is a person, add the line {_person_line(person)} at the top of the roles file. "
        "`tokumei split --drop-repeated` leaves out rows that were exported twice"
    ]


def _person_line(name: str) -> str:
    import tomli_w

    return f"`{tomli_w.dumps({'person': name}).strip()}`"


def repeated_people_warnings(dataset: Dataset, frame: pd.DataFrame | None = None) -> list[str]:
    """Warnings of identifiers that number the records and repeat: people have several rows.

    Parameters
    ----------
    dataset, frame
        As in `identifier_warnings`.
    """
    frame = dataset.records.frame if frame is None else frame
    columns = [(name, frame[name].dropna()) for name in numbering_identifiers(dataset) if name in frame]
    return repeated_identifier_warnings(
        RepeatedIdentifier(
            name,
            values.nunique(),
            len(values),
            values.dtype == object and look_like_people(values.unique()[:SEEN].tolist()),
        )
        for name, values in columns
    )


def repeated_rows_warnings(rows: RowsOfPeople | None) -> list[str]:
    """A warning that promises count rows, if people of a declared column have several."""
    if rows is None:
        return []
    return [f"{rows.person}: {rows.words}; k and epsilon count rows, so they promise people less; {ONE_ROW}"]


def record_notes(dataset: Dataset, frame: pd.DataFrame | None = None) -> list[str]:
    """Notes on doubtful values of the records; see `doubtful_words` and `doubtful_values`.

    Parameters
    ----------
    dataset, frame
        As in `identifier_warnings`.
    """
    frame = dataset.records.frame if frame is None else frame
    dates = {name: form for name in map(str, frame.columns) if (form := dataset.written.dates(name)) is not None}
    records = dataset.records
    categories = {
        name: domain.categories
        for name in dataset.inferred
        if isinstance(domain := records.domains.get(name), CategoricalDomain)
    }
    return [
        *doubtful_words(categories),
        *doubtful_values(
            frame, dates, records.person, records.quasi_identifiers, records.sensitive, records.identifiers
        ),
    ]


def rounding_warnings(dataset: Dataset, frame: pd.DataFrame | None = None) -> list[str]:
    """Warnings of columns whose numbers have more digits after the point than the roles file declares.

    Parameters
    ----------
    dataset, frame
        As in `identifier_warnings`.
    """
    frame = dataset.records.frame if frame is None else frame
    columns = ((name, digits, frame[name].dropna()) for name, digits in dataset.written.decimals.items())
    return [
        f"{name}: some numbers have more digits after the point than 'decimals' ({digits}); releases round them"
        for name, digits, numbers in columns
        if (numbers.round(digits) != numbers).any()
    ]
