"""All that is said of a table with roles: one list of rules for every command."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from defenses import MicrodataDefense, Pipeline
from metrics.columns import CategoricalDomain, NumericDomain
from scenarios.tables.dataset import Dataset
from scenarios.tables.impossible_rows import rule_notes
from scenarios.tables.note import Note, grouped
from scenarios.tables.review.doubtful_values import doubtful_values, doubtful_words
from scenarios.tables.review.households import values_of_groups
from scenarios.tables.review.reviewed_table import RepeatedIdentifier, ReviewedTable
from scenarios.tables.review.suggestions import FEW, suggested_identifier

USERS = frozenset(("GlobalRecoding", "Incognito"))
"""Defenses that release levels of hierarchies."""


def hierarchy_notes(dataset: Dataset, defense: MicrodataDefense | None = None) -> list[Note]:
    """A note on the quasi-identifiers that declare no hierarchy."""
    if not dataset.bare or (defense is not None and not uses_hierarchies(defense)):
        return []
    return [Note("no hierarchy", tuple(dataset.bare))]


def uses_hierarchies(defense: MicrodataDefense) -> bool:
    """Return whether a defense, or a step of a pipeline, releases levels of hierarchies."""
    if type(defense) is Pipeline:
        return any(map(uses_hierarchies, defense.steps))
    # Incognito takes SciPy, which other defenses do not need.
    return not USERS.isdisjoint(kind.__name__ for kind in type(defense).__mro__)


def refuse_undeclared_identifiers(table: str, roles: Path | None, columns: Sequence[str], rows: int) -> None:
    """Raise ValueError if a table without roles has columns that differ in every record, as identifiers do."""
    if roles is None and columns and rows > FEW:
        differ = "differs" if len(columns) == 1 else "differ"
        name, argument = ("standard input", "TABLE") if table == "-" else (table, shlex.quote(table))
        raise ValueError(
            f"{name}: {', '.join(columns)} {differ} in every record, as identifiers do; give every column a role with "
            f"--roles (tokumei describe {argument} -o roles.toml proposes them)"
        )


# Columns of numbers whose public bins are too coarse to tell most values apart.

MOST = 0.5
"""Share of the records in one bin, apart from its commonest value, from which the bins are too coarse."""


def coarse_bin_warnings(dataset: Dataset, frame: pd.DataFrame) -> Iterator[Note]:
    """Warnings of columns most of whose records fall into one bin, though their values differ.

    Notes
    -----
    Synthesizers draw numbers evenly inside a bin, and l-diversity, utility and inferred values compare bins. A value
    that most records share may fill a bin of its own, so it does not count.
    """
    records = dataset.records
    for name in records.released_columns:
        domain = records.domain(name)
        numbers = frame[name].dropna().to_numpy(dtype=float) if isinstance(domain, NumericDomain) else np.empty(0)
        if not isinstance(domain, NumericDomain) or not numbers.size or dataset.written.dates(name) is not None:
            continue
        values, counts = np.unique(numbers, return_counts=True)
        bins = domain.codes(values)
        fullest = np.bincount(bins, counts).argmax()
        inside = counts[bins == fullest]
        if inside.sum() - inside.max() > MOST * numbers.size:
            said = {"share": inside.sum() / numbers.size, "bins": domain.size, "fullest": domain.cells()[fullest]}
            yield Note("coarse bins", (name,), said)


def table_notes(
    dataset: Dataset,
    defense: MicrodataDefense | None = None,
    table: ReviewedTable | None = None,
) -> list[Note]:
    """All that was inferred about a table with roles, or is doubtful in it: notes first, then warnings.

    The defense is the one that will be applied, and `table` reads the records of the data set.
    """
    table = ReviewedTable(dataset) if table is None else table
    frame = table.frame
    records = dataset.records
    if frame is not records.frame:
        records = records.with_frame(frame.reindex(columns=records.frame.columns))
    notes = [
        *([Note("sample", numbers={"rows": len(frame)})] if len(frame) < table.rows else []),
        *dataset.notes,
        *hierarchy_notes(dataset, defense),
        *rule_notes(records, dataset.impossible, dataset.written),
        *record_notes(dataset, frame),
        *identifier_warnings(dataset, frame),
        *repeated_identifier_warnings(table.numbering),
        *rounding_warnings(dataset, frame),
        *coarse_bin_warnings(dataset, frame),
        *([Note("rows of people", (table.people.person,), {"rows": table.people.words})] if table.people else []),
        *([Note("rows of groups", (table.groups.column,), {"rows": table.groups.words})] if table.groups else []),
        *values_of_groups(records, frame),
        *([Note("undecided", numbers={"undecided": ", ".join(dataset.undecided)})] if dataset.undecided else []),
        *([] if records.sensitive else [Note("nothing sensitive")]),
    ]
    return sorted(grouped(notes), key=lambda note: note.level)


def play_notes(dataset: Dataset) -> list[Note]:
    """`table_notes` of a table that is played on: where people have several rows, what this means for plays."""
    return [
        note._replace(kind="plays of people") if note.kind == "rows of people" else note
        for note in table_notes(dataset)
    ]


def without_domains(notes: Iterable[Note]) -> list[Note]:
    """Notes for a reader who sees all domains beside them: one names the columns with an inferred domain."""
    shown = list(notes)
    inferred = [name for note in shown if note.kind == "inferred domain" for name in note.columns]
    others = [note for note in shown if note.kind != "inferred domain"]
    return [*([Note("inferred domains", tuple(inferred))] if inferred else []), *others]


def identifier_warnings(dataset: Dataset, frame: pd.DataFrame) -> list[Note]:
    """Warnings of released columns that look like identifiers or free text, one a reason."""
    records = dataset.records
    free = [name for name in records.released_columns if name != records.person and dataset.written.dates(name) is None]
    suggestions = ((name, suggested_identifier(name, frame[name])) for name in free)
    return grouped(
        Note("no identifier by role", (name,), {"reason": one.reason}) for name, one in suggestions if one is not None
    )


def repeated_identifier_warnings(identifiers: Iterable[RepeatedIdentifier]) -> list[Note]:
    """A warning of identifiers that repeat, with the line that makes guarantees count people.

    Few values that repeat often, such as codes of hospitals, number no people.
    """
    import tomli_w

    repeated = [
        one for one in identifiers if one.values < one.rows and (one.values > FEW or 2 * one.values >= one.rows)
    ]
    if not repeated:
        return []
    person = min(repeated, key=lambda one: (one.names, one.values)).name
    counts = ", ".join(f"{one.name} ({one.values:,} values on {one.rows:,} rows)" for one in repeated)
    line = f"`{tomli_w.dumps({'person': person}).strip()}`"
    return [Note("repeated identifiers", numbers={"counts": counts, "line": line})]


def record_notes(dataset: Dataset, frame: pd.DataFrame) -> list[Note]:
    """Notes on doubtful values of the records; see `doubtful_words` and `doubtful_values`."""
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
            frame,
            dates,
            records.person,
            records.quasi_identifiers,
            records.sensitive,
            records.identifiers,
            records.group,
        ),
    ]


def rounding_warnings(dataset: Dataset, frame: pd.DataFrame) -> Iterator[Note]:
    """Warnings of columns whose numbers have more digits after the point than the roles file declares."""
    columns = ((name, digits, frame[name].dropna()) for name, digits in dataset.written.decimals.items())
    return (
        Note("rounded", (name,), {"digits": digits})
        for name, digits, numbers in columns
        if (numbers.round(digits) != numbers).any()
    )
