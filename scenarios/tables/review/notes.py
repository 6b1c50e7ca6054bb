"""All that is said of a table with roles, and of a release beside it: one list of rules for every command."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from defenses import Microdata, MicrodataDefense, Pipeline
from metrics.columns import (
    CategoricalDomain,
    Domain,
    Floats,
    NumericCells,
    NumericDomain,
    holds_generalized,
    read_cells,
)
from scenarios.tables.dataset import Dataset
from scenarios.tables.empty_cells import empty_cells_warning, lost_gaps_note
from scenarios.tables.impossible_rows import rule_notes
from scenarios.tables.note import Note, grouped
from scenarios.tables.review.column_names import NAMES, NAMES_JAPANESE, hints_at, look_like_people
from scenarios.tables.review.doubtful_values import doubtful_values, doubtful_words
from scenarios.tables.review.rows_of_people import RowsOfPeople, counted_rows_notes
from scenarios.tables.review.suggestions import FEW, suggested_identifier

# Columns that tell every record apart in a table without roles: they would be released, and attacked for long.

# Default hierarchies of quasi-identifiers, which a note names where they are used.

USERS = frozenset(("GlobalRecoding", "Incognito"))
"""Defenses that release levels of hierarchies."""


def hierarchy_notes(dataset: Dataset, defense: MicrodataDefense | None = None) -> list[Note]:
    """A note on the quasi-identifiers that declare no hierarchy.

    Parameters
    ----------
    dataset : Dataset
        The data set.
    defense : MicrodataDefense, optional
        The defense that will be applied. If it uses no hierarchy, there is no note.
    """
    if not dataset.bare or (defense is not None and not uses_hierarchies(defense)):
        return []
    return [Note("no hierarchy", tuple(dataset.bare))]


def uses_hierarchies(defense: MicrodataDefense) -> bool:
    """Return whether a defense, or a step of a pipeline, releases levels of hierarchies."""
    if type(defense) is Pipeline:
        return any(map(uses_hierarchies, defense.steps))
    # Incognito takes SciPy, which other defenses do not need.
    return not USERS.isdisjoint(kind.__name__ for kind in type(defense).__mro__)


def unique_text_columns(records: Microdata) -> list[str]:
    """Released text columns whose value differs in every record."""
    frame, columns = records.frame, records.released_columns
    return [name for name in columns if frame[name].dtype == object and len(frame) > 1 and frame[name].is_unique]


def refuse_undeclared_identifiers(table: str, roles: Path | None, columns: Sequence[str], rows: int) -> None:
    """Raise ValueError if a table without roles has columns that differ in every record, as identifiers do.

    Parameters
    ----------
    table : str
        Name of the table, for the message.
    roles : Path, optional
        File of the columns' roles; with one, the user has decided.
    columns : sequence of str
        Columns whose texts all differ.
    rows : int
        Number of records; in a table of few, columns may differ by chance.
    """
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
DIFFERENT = 0.2
"""Difference of the distribution functions from which two columns of numbers differ much."""
FAR = 0.5
"""Standard deviations by which a mean must move until two columns of numbers differ much."""
ALIKE = 0.1
"""Difference of the shares of bins up to which two columns look alike."""
FIRST = 100
"""Number of released cells that are looked at before all are read."""


def coarse_bin_warnings(dataset: Dataset, frame: pd.DataFrame) -> Iterator[Note]:
    """Warnings of columns most of whose records fall into one bin, though their values differ.

    Parameters
    ----------
    dataset : Dataset
        The data set.
    frame : DataFrame
        Values of the records, or of a sample of them.

    Notes
    -----
    Synthesizers draw numbers evenly inside a bin, and l-diversity, utility and inferred values compare bins. A value
    that most records share may fill a bin of its own, so it does not count.
    """
    records = dataset.records
    for name in records.released_columns:
        domain = records.domain(name)
        numbers = _numbers(frame[name]) if isinstance(domain, NumericDomain) else np.empty(0)
        if not isinstance(domain, NumericDomain) or not numbers.size or dataset.written.dates(name) is not None:
            continue
        values, counts = np.unique(numbers, return_counts=True)
        bins = domain.codes(values)
        fullest = np.bincount(bins, counts).argmax()
        inside = counts[bins == fullest]
        if inside.sum() - inside.max() > MOST * numbers.size:
            share = inside.sum() / numbers.size
            said = {"share": share, "bins": domain.size, "fullest": domain.cells()[fullest]}
            yield Note("coarse bins", (name,), said)


def hidden_differences(original: pd.DataFrame, released: pd.DataFrame, domains: Mapping[str, Domain]) -> Iterator[Note]:
    """Warnings of columns of plain numbers that differ much in mean or distribution, though their bins do not.

    Parameters
    ----------
    original : DataFrame, shape (n, columns)
        Original values.
    released : DataFrame, shape (m, columns)
        Released cells.
    domains : mapping of str to Domain
        Domains of the columns to compare.

    Notes
    -----
    Distributions are compared by the statistic of Kolmogorov and Smirnov, the largest distance of their functions.
    """
    for name, domain in domains.items():
        if not isinstance(domain, NumericDomain) or name not in original or name not in released:
            continue
        # Most released columns that are not plain show it in their first cells, which spares the reading of all.
        if holds_generalized(released[name].head(FIRST)):
            continue
        cells = read_cells(released[name], domain)
        if not isinstance(cells, NumericCells) or not (cells.plain | cells.missing)[cells.codes].all():
            continue
        before, after = _numbers(original[name]), cells.midpoint()[cells.codes]
        after = after[~np.isnan(after)]
        if not before.size or not after.size:
            continue
        shares = [np.bincount(domain.codes(values), minlength=domain.size) / values.size for values in (before, after)]
        if np.abs(shares[0] - shares[1]).sum() / 2 >= ALIKE:
            continue
        distance = _largest_distance(before, after)
        if abs(after.mean() - before.mean()) > FAR * before.std() or distance > DIFFERENT:
            said = {"before": before.mean(), "after": after.mean(), "distance": distance}
            yield Note("hidden difference", (name,), said)


def _largest_distance(first: Floats, second: Floats) -> float:
    """Largest distance of two empirical distribution functions."""
    values = np.union1d(first, second)
    shares = [np.searchsorted(np.sort(one), values, side="right") / one.size for one in (first, second)]
    return float(np.abs(shares[0] - shares[1]).max())


def _numbers(column: pd.Series[float]) -> Floats:
    """Values of a column that are not missing."""
    return np.asarray(column.dropna(), dtype=float)


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


def play_notes(dataset: Dataset) -> list[Note]:
    """`table_notes` of a table that is played on: where people have several rows, what this means for plays."""
    of_plays = counted_rows_notes(RowsOfPeople.of(dataset.records))
    return [*(note for note in table_notes(dataset) if note.kind != "rows of people"), *of_plays]


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
