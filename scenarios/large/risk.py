"""Re-identification risk of a released table that is read in parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from metrics.arrays import Integers
from metrics.class_diversity import ClassDiversity
from metrics.risk import ReidentificationRisk, journalist_of_sizes
from metrics.size_counts import SizeCounts
from scenarios.large.class_pairs import class_pairs
from scenarios.large.combinations import CombinationKey
from scenarios.large.engine import Engine
from scenarios.large.key_space import KeySpace
from scenarios.large.released import LargeReleased, large_released
from scenarios.tables.declared_roles import read_roles
from scenarios.tables.risk import THRESHOLD, RiskReport, report_of_counts, singled_out
from scenarios.tables.rows_of_people import hidden_people_notes

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
    codes : mapping of str to ndarray of int, each of shape (classes,)
        Code of each class in each quasi-identifier; None if memory does not suffice for them.
    counts : ndarray of int, shape (classes,)
        Number of records of each; None with `codes`.
    """

    sizes: SizeCounts
    diversity: Mapping[str, ClassDiversity]
    codes: Mapping[str, Integers] | None
    counts: Integers | None


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
) -> tuple[RiskReport, tuple[str, ...]]:
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
    notes : tuple of str
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
        if classes.codes is None:
            notes.append(
                f"{classes.sizes.classes:,} classes do not fit into memory, so that sets of columns that single out "
                "records are not searched; raise --memory"
            )
        plain = all(column.plain for column in table.columns.values())
        several = tuple(name for name in table.sensitive if not table.columns[name].plain)
        journalist = None if population is None else _journalist(table, classes, population, roles, reading, memory)
    singled = None
    if classes.codes is not None and classes.counts is not None:
        singled = singled_out(classes.codes, classes.counts)
    report = report_of_counts(
        classes.sizes,
        classes.diversity,
        plain=plain,
        singled=singled,
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
        if column in table.quasi_identifiers:
            raise ValueError(f"column {column!r} is a quasi-identifier and cannot be the sensitive column too")
    key = CombinationKey.of([table.columns[name].coded for name in table.quasi_identifiers])
    sizes: dict[int, int] = {}
    diversity: dict[str, ClassDiversity] = {}
    parts: list[dict[str, Integers]] | None = []
    counts: list[Integers] = []
    used = 0
    sensitive: tuple[str | None, ...] = table.sensitive or (None,)
    for number, name in enumerate(sensitive):
        for pairs in class_pairs(table, key, name):
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
    joined = None
    if parts is not None:
        joined = {name: np.concatenate([part[name] for part in parts]) for name in table.quasi_identifiers}
    total = SizeCounts(ordered[:, 0], ordered[:, 1])
    return Classes(total, diversity, joined, None if joined is None else np.concatenate(counts))


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
    if classes.codes is None or classes.counts is None:
        raise ValueError(f"{table.files.path}: its classes do not fit into memory beside a population; raise --memory")
    with large_released(population, roles, reading=reading, memory=memory // 4) as everybody:
        for name in names:
            if name not in everybody.columns:
                raise ValueError(f"{population}: there is no column {name!r}")
        key = CombinationKey.of([everybody.columns[name].coded for name in names])
        translations = {name: _translation(table, everybody, name) for name in names}
        space = KeySpace.of([classes.codes[name] for name in names])
        sizes = np.zeros(classes.counts.size, dtype=np.int64)
        for pairs in class_pairs(everybody, key):
            codes = key.codes(pairs.keys)
            position = space.positions([translations[name][codes[name]] for name in names])
            np.add.at(sizes, position[position >= 0], pairs.sizes[position >= 0])
    return journalist_of_sizes(classes.counts, sizes, THRESHOLD)


def _translation(table: LargeReleased, everybody: LargeReleased, name: str) -> Integers:
    """Code in the table of each of the population's cells, shape (cells,); -1 for cells that it lacks."""
    own, other = table.columns[name].cells, everybody.columns[name].cells
    if own is None or other is None:
        raise ValueError(f"{everybody.files.path}: column {name!r} has too many cells to compare it with a table")
    position = {cell: code for code, cell in enumerate(own)}
    return np.array([position.get(cell, -1) for cell in other], dtype=np.int64)
