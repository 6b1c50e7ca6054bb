"""Re-identification risk of a released table that is read in parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from metrics.classes import SizeCounts, group_starts, without_group
from metrics.columns import Integers, refuse
from metrics.diversity import ClassDiversity
from metrics.risk import ReidentificationRisk, journalist_of_sizes
from scenarios.tables.note import Note
from scenarios.tables.parts.combinations import CombinationIndex, CombinationKey, key_starts
from scenarios.tables.parts.files.table_files import Engine
from scenarios.tables.parts.released import LargeReleased, large_released
from scenarios.tables.review.rows_of_people import hidden_people_notes
from scenarios.tables.risk import THRESHOLD, CodedClasses, RiskReport, looks_noised, report_of_counts
from scenarios.tables.roles import read_roles

# Equivalence classes of a released table that is read in parts, with their sensitive values.

_ROWS = 1 << 20
"""Pairs that are looked at together, at least."""


@dataclass(frozen=True)
class ClassPairs:
    """Some equivalence classes, complete, with the values that they hold.

    Attributes
    ----------
    keys : tuple of ndarray of int, each of shape (classes,)
        Integers of each class; see `CombinationKey`.
    groups, values, counts : ndarray of int, shape (pairs,)
        Pairs of a class, ascending from 0 without a gap, and a cell's code that occur, with their numbers of records.
    """

    keys: tuple[Integers, ...]
    groups: Integers
    values: Integers
    counts: Integers

    @property
    def sizes(self) -> Integers:
        """Number of records of each class, shape (classes,)."""
        return np.add.reduceat(self.counts, group_starts(self.groups))


def class_pairs(table: LargeReleased, key: CombinationKey, sensitive: str | None = None) -> Iterator[ClassPairs]:
    """Equivalence classes in ascending order of their keys, some at a time.

    Parameters
    ----------
    table : LargeReleased
        The released table.
    key : CombinationKey
        Key of the quasi-identifiers.
    sensitive : str, optional
        The column whose values are counted; without one, every class holds one value, whose code is 0.
    """
    coded = [] if sensitive is None else [table.columns[sensitive].coded]
    value = f"({coded[0].raw.code})::BIGINT" if coded else "0"
    names = list(key.expressions())
    expressions = {**key.expressions(), "v": value}
    waiting: list[Integers] = [np.empty(0, dtype=np.int64) for _ in (*names, "v", "n")]
    for batch in table.files.counted_batches(expressions, key.source(*coded), _ROWS):
        arrived = [batch.column(name).to_numpy(zero_copy_only=False).astype(np.int64) for name in (*names, "v", "n")]
        rows = [np.concatenate(pair) for pair in zip(waiting, arrived, strict=True)]
        # The last class may go on in the next batch.
        last = int(np.flatnonzero(key_starts(rows[: len(names)]))[-1])
        waiting = [column[last:] for column in rows]
        if last:
            yield _pairs([column[:last] for column in rows], coded[0].of_raw if coded else None)
    if waiting[0].size:
        yield _pairs(waiting, coded[0].of_raw if coded else None)
    table.files.check_unchanged()


def _pairs(rows: Sequence[Integers], of_raw: Integers | None) -> ClassPairs:
    """Pairs of rows of keys, stored value and number of records."""
    *keys, stored, counts = rows
    begins = key_starts(keys)
    values = stored if of_raw is None else of_raw[stored]
    return ClassPairs(tuple(key[begins] for key in keys), np.cumsum(begins) - 1, values, counts)


_SEARCH = 40
"""Bytes for each class during the search for unique records, beside its codes."""


@dataclass(frozen=True)
class Classes:
    """Equivalence classes of a released table.

    Attributes
    ----------
    sizes : SizeCounts
        Their sizes.
    diversity : mapping of str to ClassDiversity
        Diversity of each sensitive column.
    coded : CodedClasses
        Code of each class in each quasi-identifier, and its number of records. The wholly suppressed records come last,
        if there are any. None if memory does not suffice.
    suppressed : int
        Number of wholly suppressed records.
    """

    sizes: SizeCounts
    diversity: Mapping[str, ClassDiversity]
    coded: CodedClasses | None
    suppressed: int


def large_risk_report(
    path: Path,
    roles: Path | None = None,
    *,
    reading: Mapping[str, Any] | None = None,
    population: Path | None = None,
    population_size: int | None = None,
    cells: int | None = None,
    memory: int,
    engine: Engine | None = None,
) -> tuple[RiskReport, tuple[Note, ...]]:
    """Measure the risk of a released table that is read in parts.

    Parameters
    ----------
    path : Path
        The released table: a Parquet file, a folder of Parquet files, or a CSV file.
    roles, reading
        As in `scenarios.tables.released.read_released`.
    population : Path, optional
        The population that the table was sampled from, generalized in the same way.
    population_size, cells
        As in `scenarios.tables.risk.risk_report`.
    memory : int
        Bytes of memory. Half of it is DuckDB's.
    engine : Engine, optional
        Where the parts are read; by default on this machine. A population is read on this machine.

    Returns
    -------
    report : RiskReport
        As for the table in memory. The search for unique records is left out if the classes do not fit into memory.
    notes : tuple of Note
        What was inferred or left out.

    Raises
    ------
    ValueError
        As `scenarios.tables.risk.risk_report` and `scenarios.tables.released.read_released`.
    """
    with large_released(path, roles, reading=reading, memory=memory // 2, engine=engine) as table:
        classes = read_classes(table, memory // 2)
        declared = read_roles(roles, reading)
        # Even where the release names people, parts of a table count rows.
        unnamed = [name for name in table.files.columns if name != declared.person]
        notes = [*table.notes, *hidden_people_notes(declared.person, unnamed, declared.identifiers)]
        if classes.coded is None:
            notes.append(Note("classes not searched", numbers={"classes": classes.sizes.classes}))
        plain = all(column.plain for column in table.columns.values())
        several = tuple(name for name in table.sensitive if not table.columns[name].plain)
        starred = any(table.columns[name].suppressed is not None for name in table.quasi_identifiers)
        noised = tuple(
            name
            for name in table.quasi_identifiers
            if looks_noised(_cell_counts(table, name), declared.columns.get(name))
        )
        gaps = tuple(name for name in table.quasi_identifiers if table.columns[name].missing)
        journalist = None if population is None else _journalist(table, classes, population, roles, reading, memory)
    report = report_of_counts(
        classes.sizes,
        classes.diversity,
        plain=plain,
        classes=classes.coded,
        suppressed=classes.suppressed,
        starred=starred,
        noised=noised,
        gaps=gaps,
        journalist=journalist,
        population_size=population_size,
        cells=cells,
        several_rows=declared.person is not None,
        several=several,
    )
    return report, tuple(notes)


def read_classes(table: LargeReleased, memory: int) -> Classes:
    """Count the equivalence classes of a table.

    Parameters
    ----------
    table : LargeReleased
        The released table.
    memory : int
        Bytes for their codes; without enough, these are left out.

    Raises
    ------
    ValueError
        If a sensitive column is a quasi-identifier.
    """
    for column in table.sensitive:
        refuse(
            column in table.quasi_identifiers,
            f"column {column!r} is a quasi-identifier and cannot be the sensitive column too",
        )
    key = CombinationKey.of([table.columns[name].coded for name in table.quasi_identifiers])
    sizes: dict[int, int] = {}
    diversity: dict[str, ClassDiversity] = {}
    parts: list[dict[str, Integers]] | None = []
    counts: list[Integers] = []
    used = suppressed = 0
    stars = _stars(table)
    sensitive: tuple[str | None, ...] = table.sensitive or (None,)
    for number, name in enumerate(sensitive):
        for whole in class_pairs(table, key, name):
            pairs, stripped = _without_suppressed(whole, key, stars)
            suppressed = stripped or suppressed
            if not pairs.counts.size:
                continue
            if name is not None:
                shares = table.columns[name].shares
                measured = ClassDiversity.of_pairs(pairs.groups, pairs.values, pairs.counts, shares)
                diversity[name] = measured.worst(diversity.get(name, measured)) if name in diversity else measured
            if number:
                continue
            for size, count in zip(*map(np.ndarray.tolist, np.unique(pairs.sizes, return_counts=True)), strict=True):
                sizes[size] = sizes.get(size, 0) + count
            if parts is not None:
                codes = key.codes(pairs.keys)
                used += pairs.sizes.size * (_SEARCH + sum(column.itemsize for column in codes.values()))
                parts.append(codes)
                counts.append(pairs.sizes)
                if used > memory:
                    parts, counts = None, []
    ordered = np.array(sorted(sizes.items()), dtype=np.int64)
    coded = None
    if parts is not None:
        if suppressed:
            parts.append({name: np.array([code]) for name, code in stars.items()})
            counts.append(np.array([suppressed]))
        joined = {name: np.concatenate([part[name] for part in parts]) for name in table.quasi_identifiers}
        found = {name: table.columns[name].suppressed for name in joined}
        coded = CodedClasses(
            joined, np.concatenate(counts), {name: code for name, code in found.items() if code is not None}
        )
    return Classes(SizeCounts(ordered[:, 0], ordered[:, 1]), diversity, coded, suppressed)


def _stars(table: LargeReleased) -> dict[str, int]:
    """Code of ``*`` in each quasi-identifier if rows may be wholly suppressed, and not all are; else empty."""
    columns = {name: table.columns[name] for name in table.quasi_identifiers}
    stars = {name: column.suppressed for name, column in columns.items() if column.suppressed is not None}
    every = all(columns[name].counts[code] == table.rows for name, code in stars.items())
    return stars if len(stars) == len(columns) and not every else {}


def _without_suppressed(pairs: ClassPairs, key: CombinationKey, stars: Mapping[str, int]) -> tuple[ClassPairs, int]:
    """Classes without that of the wholly suppressed records, and the number of these; see `rows_in_classes`."""
    if not stars:
        return pairs, 0
    codes = key.codes(pairs.keys)
    found = np.flatnonzero(np.logical_and.reduce([codes[name] == code for name, code in stars.items()]))
    if not found.size:
        return pairs, 0
    kept = without_group(pairs.groups, pairs.values, pairs.counts, int(found[0]))
    return ClassPairs(tuple(np.delete(one, found) for one in pairs.keys), *kept), int(pairs.sizes[found[0]])


def _cell_counts(table: LargeReleased, name: str) -> pd.Series[Any]:
    """Number of rows of each cell, by the cell; of some cells only if there are too many to list."""
    column = table.columns[name]
    if column.cells is not None:
        return pd.Series(column.counts, index=column.cells)[pd.notna(column.cells)]
    sample = column.coded.raw.values.to_numpy(zero_copy_only=False)
    return pd.Series(1, index=sample.astype(str))


def _journalist(
    table: LargeReleased,
    classes: Classes,
    population: Path,
    roles: Path | None,
    reading: Mapping[str, Any] | None,
    memory: int,
) -> ReidentificationRisk:
    """Journalist risk, for a population in files."""
    names = table.quasi_identifiers
    if classes.coded is None:
        raise ValueError(f"{table.files.path}: its classes do not fit into memory beside a population; raise --memory")
    # The wholly suppressed records, which come last, are in no class.
    own = {name: codes[: classes.sizes.classes] for name, codes in classes.coded.codes.items()}
    counts = classes.coded.counts[: classes.sizes.classes]
    with large_released(population, roles, reading=reading, spelling=table.spelling, memory=memory // 4) as everybody:
        for name in names:
            refuse(name not in everybody.columns, f"{population}: there is no column {name!r}")
        key = CombinationKey.of([everybody.columns[name].coded for name in names])
        translations = {name: _translation(table, everybody, name) for name in names}
        index = CombinationIndex(own)
        sizes = np.zeros(counts.size, dtype=np.int64)
        for pairs in class_pairs(everybody, key):
            codes = key.codes(pairs.keys)
            position = index.positions({name: translations[name][codes[name]] for name in names})
            np.add.at(sizes, position[position >= 0], pairs.sizes[position >= 0])
    return journalist_of_sizes(counts, sizes, THRESHOLD)


def _translation(table: LargeReleased, everybody: LargeReleased, name: str) -> Integers:
    """Code in the table of each of the population's cells, shape (cells,); -1 for cells that it lacks."""
    own, other = table.columns[name].cells, everybody.columns[name].cells
    if own is None or other is None:
        raise ValueError(f"{everybody.files.path}: column {name!r} has too many cells to compare it with a table")
    position = {cell: code for code, cell in enumerate(own)}
    return np.array([position.get(cell, -1) for cell in other], dtype=np.int64)
