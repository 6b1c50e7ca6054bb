"""All that is said of a table with roles, and of a release beside it: one list of rules for every command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import pandas as pd

from defenses import MicrodataDefense
from metrics.columns import CategoricalDomain, Domain
from scenarios.tables.dataset import Dataset
from scenarios.tables.empty_cells import empty_cells_warning, lost_gaps_note
from scenarios.tables.impossible_rows import rule_notes
from scenarios.tables.note import Note, grouped
from scenarios.tables.review.coarse_bins import coarse_bin_warnings, hidden_differences
from scenarios.tables.review.column_names import NAMES, NAMES_JAPANESE, hints_at, look_like_people
from scenarios.tables.review.doubtful_values import doubtful_values, doubtful_words
from scenarios.tables.review.rows_of_people import RowsOfPeople
from scenarios.tables.review.suggestions import FEW, suggested_identifier
from scenarios.tables.review.undeclared_identifiers import hierarchy_notes

SEEN = 200
"""Number of values that are looked at for names of people."""


def table_notes(
    dataset: Dataset,
    defense: MicrodataDefense | None = None,
    *,
    frame: pd.DataFrame | None = None,
    repeated: Iterable[Note] | None = None,
    several: RowsOfPeople | None = None,
) -> list[Note]:
    """All that was inferred about a table with roles, or is doubtful in it: notes first, then warnings.

    Parameters
    ----------
    dataset : Dataset
        The data set.
    defense : MicrodataDefense, optional
        The defense that will be applied.
    frame : DataFrame, optional
        Values of a sample of the records; by default those of all.
    repeated : iterable of Note, optional
        Warnings of identifiers that repeat, if they were counted elsewhere.
    several : RowsOfPeople, optional
        Numbers of rows and people, if they were counted elsewhere.
    """
    records = dataset.records
    if frame is None:
        frame, several = records.frame, RowsOfPeople.of(records)
    else:
        records = records.with_frame(frame.reindex(columns=records.frame.columns))
    notes = [
        *dataset.notes,
        *hierarchy_notes(dataset, defense),
        *rule_notes(records, dataset.impossible, dataset.written),
        *record_notes(dataset, frame),
        *identifier_warnings(dataset, frame),
        *(repeated_people_warnings(dataset) if repeated is None else repeated),
        *rounding_warnings(dataset, frame),
        *coarse_bin_warnings(dataset, frame),
        *repeated_rows_warnings(several),
        *([Note("undecided", numbers={"undecided": ", ".join(dataset.undecided)})] if dataset.undecided else []),
        *([] if records.sensitive else [Note("nothing sensitive")]),
    ]
    return sorted(grouped(notes), key=lambda note: note.level)


def release_notes(original: pd.DataFrame, released: pd.DataFrame, domains: Mapping[str, Domain]) -> list[Note]:
    """All that is doubtful in a release beside its original table.

    Parameters
    ----------
    original : DataFrame, shape (n, columns)
        Original values.
    released : DataFrame, shape (m, columns)
        Released cells.
    domains : mapping of str to Domain
        Domains of the columns that are no dates.
    """
    return [
        *empty_cells_warning(original, released),
        *lost_gaps_note(original, released),
        *hidden_differences(original, released, domains),
    ]


def without_domains(notes: Iterable[Note]) -> list[Note]:
    """Notes for a reader who sees all domains beside them: one names the columns with an inferred domain."""
    shown = list(notes)
    inferred = [name for note in shown if note.kind == "inferred domain" for name in note.columns]
    others = [note for note in shown if note.kind != "inferred domain"]
    return [*([Note("inferred domains", tuple(inferred))] if inferred else []), *others]


def identifier_warnings(dataset: Dataset, frame: pd.DataFrame) -> list[Note]:
    """Warnings of released columns that look like identifiers or free text, one a reason.

    Parameters
    ----------
    dataset : Dataset
        The data set.
    frame : DataFrame
        Values of the records, or of a sample of them.
    """
    records = dataset.records
    free = [name for name in records.released_columns if name != records.person and dataset.written.dates(name) is None]
    suggestions = ((name, suggested_identifier(name, frame[name])) for name in free)
    return grouped(
        Note("no identifier by role", (name,), {"reason": one.reason}) for name, one in suggestions if one is not None
    )


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


def repeated_identifier_warnings(identifiers: Iterable[RepeatedIdentifier]) -> list[Note]:
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
    return [Note("repeated identifiers", numbers={"counts": counts, "line": _person_line(person)})]


def _person_line(name: str) -> str:
    import tomli_w

    return f"`{tomli_w.dumps({'person': name}).strip()}`"


def repeated_people_warnings(dataset: Dataset) -> list[Note]:
    """Warnings of identifiers that number the records and repeat: people have several rows.

    Parameters
    ----------
    dataset : Dataset
        The data set.
    """
    frame = dataset.records.frame
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


def repeated_rows_warnings(rows: RowsOfPeople | None) -> list[Note]:
    """A warning that promises count rows, if people of a declared column have several."""
    return [] if rows is None else [Note("rows of people", (rows.person,), {"rows": rows.words})]


def record_notes(dataset: Dataset, frame: pd.DataFrame) -> list[Note]:
    """Notes on doubtful values of the records; see `doubtful_words` and `doubtful_values`.

    Parameters
    ----------
    dataset, frame
        As in `identifier_warnings`.
    """
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


def rounding_warnings(dataset: Dataset, frame: pd.DataFrame) -> Iterator[Note]:
    """Warnings of columns whose numbers have more digits after the point than the roles file declares.

    Parameters
    ----------
    dataset, frame
        As in `identifier_warnings`.
    """
    columns = ((name, digits, frame[name].dropna()) for name, digits in dataset.written.decimals.items())
    return (
        Note("rounded", (name,), {"digits": digits})
        for name, digits, numbers in columns
        if (numbers.round(digits) != numbers).any()
    )
