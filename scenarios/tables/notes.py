"""Notes on a data set, grouped for people: one line for each thing that is said of several columns."""

from __future__ import annotations

import pandas as pd

from metrics.domains import CategoricalDomain
from scenarios.tables.coarse_bins import coarse_bin_warnings
from scenarios.tables.column_names import NAMES, NAMES_JAPANESE, hints_at
from scenarios.tables.dataset import NOT_PUBLIC, Dataset
from scenarios.tables.doubtful_values import doubtful_values
from scenarios.tables.doubtful_words import doubtful_words
from scenarios.tables.rows_of_people import ONE_ROW, RowsOfPeople
from scenarios.tables.suggestions import HALF_DISTINCT, suggested_identifier

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
    columns: dict[str, list[str]] = {}
    for name in dataset.records.released_columns:
        if name == dataset.records.person or dataset.written.dates(name) is not None:
            continue
        suggestion = suggested_identifier(name, frame[name])
        if suggestion is not None:
            columns.setdefault(suggestion.reason, []).append(name)
    return [f"{', '.join(of)}: no identifier by role, but {reason}" for reason, of in columns.items()]


def repeated_people_warnings(dataset: Dataset, frame: pd.DataFrame | None = None) -> list[str]:
    """Warnings of identifiers that number the records, but repeat in up to half of them: people have several rows.

    Parameters
    ----------
    dataset, frame
        As in `identifier_warnings`.
    """
    frame = dataset.records.frame if frame is None else frame
    warnings = []
    for name in dataset.records.identifiers if dataset.records.person is None else ():
        # Different people share names and streets.
        if name not in frame or name in dataset.left_out or hints_at(name, NAMES, NAMES_JAPANESE):
            continue
        values = frame[name].dropna()
        repeats = len(values) - values.nunique()
        if 0 < repeats <= (1 - HALF_DISTINCT) * len(values):
            warnings.append(
                f"{name}: {repeats} of its {len(values)} values repeat another, and k counts rows as people; "
                "`tokumei split --drop-repeated` leaves rows out that were exported twice; if people have several "
                "rows, name it as `person`"
            )
    return warnings


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
