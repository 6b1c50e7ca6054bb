"""Notes on a data set, grouped for people: one line for each thing that is said of several columns."""

from __future__ import annotations

import pandas as pd

from scenarios.tables.dataset import NOT_PUBLIC, Dataset
from scenarios.tables.suggestions import suggested_identifier


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
