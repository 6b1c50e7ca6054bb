"""Utility of a release beside its original table, both in memory or read in parts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from math import fsum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, vstack

from defenses.base import CountedCells, RecordsInBlocks
from metrics.columns import Domain, Floats, Integers, NumericDomain, read_cells
from metrics.generalization import certainty_penalties
from metrics.profile import CodedProfile, CountedProfile, Profile, original_profile, profile
from metrics.references import repeated_row
from metrics.table_utility import TableUtility, headline_utility, prediction_target, weighted_marginals
from scenarios.tables.finished_table import CellKinds, beside_notes, read_finished
from scenarios.tables.note import READ, Note
from scenarios.tables.parts.files.table_files import Engine
from scenarios.tables.parts.progress import Progress, progress
from scenarios.tables.parts.records import InParts, over_parts
from scenarios.tables.parts.released import large_released, suppressed_column
from scenarios.tables.parts.validation import ReviewedInParts
from scenarios.tables.reading import HINT, rows_from_one
from scenarios.tables.released_classes import CodedCells, CountedRelease, ReleasedTable
from scenarios.tables.review.reviewed_table import ReviewedTable
from scenarios.tables.roles import read_roles
from scenarios.tables.toml.toml_file import read_bytes

# Tables spread over the public bins of their columns.

Rows = dict[str, NDArray[Any]]
"""Code of each of some rows in every column, or its number in a column without masses."""


@dataclass(frozen=True)
class BinnedTable:
    """Mass of the rows of a table in the public bins of its columns; see `metrics.profile.Profile.mass`.

    The table is a `RecordsInBlocks` or a `CountedRelease`. `masses` holds that of each code by column, sparse, of shape
    (codes, bins of the column). Columns of original numbers without codes have none: the mass of their rows follows
    from the numbers.
    """

    table: Any
    domains: Mapping[str, Domain]
    masses: Mapping[str, csr_array] = field(repr=False)

    @classmethod
    def of_records(cls, records: RecordsInBlocks, domains: Mapping[str, Domain]) -> BinnedTable:
        """Original values."""
        coded = {name: domain for name, domain in domains.items() if records.is_coded(name)}
        values = {name: records.column(name).values.rename(name).to_frame() for name in coded}
        masses = {name: _sparse(original_profile(values[name], {name: domain})) for name, domain in coded.items()}
        return cls(records, domains, masses)

    @classmethod
    def of_release(cls, released: CountedRelease, domains: Mapping[str, Domain]) -> BinnedTable:
        """Released cells; ValueError if one cannot be read."""
        masses = {}
        for name, domain in domains.items():
            frames = (pd.DataFrame({name: pd.Series(cells, dtype=object)}) for cells in released.cells(name))
            masses[name] = csr_array(vstack([_sparse(profile(frame, {name: domain})) for frame in frames]))
        return cls(released, domains, masses)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.table.rows)

    def counted(self, drawn: Integers, words: str) -> tuple[CountedProfile, Rows]:
        """Expected counts of all rows, and the rows at some positions; the table is read once."""
        counts, found = self.empty, []
        with progress(words, self.rows) as done:
            counted = partial(_counted_part, self, drawn, done)
            in_parts = isinstance(self.table, InParts)
            parts = over_parts(self.table, counted) if in_parts else iter([counted(self.table)])
            for part, rows, end in parts:
                counts.merge(part)
                found += rows
                # Rows that were added here already count.
                done.add(max(0, end - done.done))
        return counts, {name: np.concatenate([rows[name] for rows in found]) for name in self.domains}

    def profile(self, rows: Rows) -> CodedProfile:
        """Profile of some rows."""
        columns = [self._drawn(name, stored) for name, stored in rows.items()]
        return CodedProfile([one.cells[0] for one in columns], [one.codes[0] for one in columns], columns[0].rows)

    def values(self, rows: Rows, names: Collection[str]) -> pd.DataFrame:
        """Original values or released cells of some rows, in some columns."""
        return pd.DataFrame({name: self._values(name, rows[name]) for name in names})

    def _values(self, name: str, stored: NDArray[Any]) -> NDArray[Any]:
        if not isinstance(self.table, CountedRelease):
            coded = self.table.is_coded(name)
            return self.table.column(name).values.to_numpy()[stored] if coded else stored
        start, cells = 0, np.empty(stored.size, dtype=object)
        for piece in self.table.cells(name):
            inside = (stored >= start) & (stored < start + len(piece))
            cells[inside] = piece[stored[inside] - start]
            start += len(piece)
        return cells

    def weighted(self, weight: str) -> Profile | None:
        """The table with the weighted share of each bin as mass of every row; see `weighted_marginals`.

        Sums over blocks are added exactly. None if a weight is no finite number above 0.
        """
        sums, totals = [], []
        for block in self.table.blocks([*self.domains, weight]):
            weights = self._weights(block, weight)
            if weights is None or not (np.isfinite(weights) & (weights > 0)).all():
                return None
            sums.append(self.mass(self.stored(block)).T @ weights)
            totals.append(float(weights.sum()))
        like = self.empty
        like.rows = self.rows
        return repeated_row(np.array([fsum(of_bin) for of_bin in np.transpose(sums)]) / fsum(totals), like)

    def _weights(self, block: Any, weight: str) -> Floats | None:
        """Weight of each row of a block; None where a released one is none."""
        if not isinstance(self.table, CountedRelease):
            return np.asarray(block.numbers(weight))
        return None if self.table.weights is None else self.table.weights[block.codes(weight)]

    @property
    def empty(self) -> CountedProfile:
        """Profile of no row."""
        starts = np.cumsum([0, *(domain.size + 1 for domain in self.domains.values())])
        return CountedProfile(starts[:-1].astype(np.intp), int(starts[-1]))

    def stored(self, block: Any) -> Rows:
        """Code of each row of a block in every column, or its number in a column without masses."""
        return {name: block.codes(name) if name in self.masses else block.numbers(name) for name in self.domains}

    def mass(self, stored: Rows) -> csr_array:
        """Mass of rows, shape (rows, bins), given the code or number of each row in every column."""
        parts = [
            self.masses[name][rows] if name in self.masses else _sparse(self._numbers(name, rows))
            for name, rows in stored.items()
        ]
        return csr_array(hstack(parts, format="csr"))

    def _drawn(self, name: str, rows: NDArray[Any]) -> CodedProfile:
        """Profile of one column of some rows, given their codes or numbers."""
        if name not in self.masses:
            return self._numbers(name, rows)
        present, codes = np.unique(rows, return_inverse=True)
        return CodedProfile([self.masses[name][present].toarray()], [codes], rows.size)

    def _numbers(self, name: str, numbers: NDArray[Any]) -> CodedProfile:
        return original_profile(pd.DataFrame({name: numbers}), {name: self.domains[name]})


def _sparse(distinct: CodedProfile) -> csr_array:
    """Mass of the rows of a profile of one column."""
    return csr_array(csr_array(distinct.cells[0])[distinct.codes[0]])


# A release beside its original table.


class Comparison(NamedTuple):
    """Both tables, what was recognized of the release, and the columns that it lacks."""

    original: BinnedTable
    released: BinnedTable
    notes: Sequence[Note]
    lacking: tuple[str, ...] = ()

    @property
    def domains(self) -> Mapping[str, Domain]:
        """Domains of the compared columns."""
        return self.original.domains

    def pieces(self, name: str) -> Iterator[CountedCells]:
        """Counts of the cells of a released column, in pieces where there are too many to list."""
        start, released = 0, self.released.table
        for cells in released.cells(name):
            counts = released.columns[name].counts[start : start + len(cells)]
            yield CountedCells(pd.Series(cells, name=name, dtype=object), counts).occurring
            start += len(cells)

    def penalty(self, names: Sequence[str]) -> float:
        """Normalized certainty penalty of some columns; its exact sum does not depend on the order of cells."""
        penalties = []
        for name in names:
            lost: list[float] = []
            rows = 0
            for piece in self.pieces(name):
                read = read_cells(piece.values, self.domains[name])
                lost += (certainty_penalties(read)[read.codes] * piece.counts).tolist()
                rows += int(piece.counts.sum())
            penalties.append(fsum(lost) / rows)
        return float(np.mean(penalties))

    def kinds(self, name: str) -> CellKinds:
        """Kinds of the cells of a released column."""
        read = [CellKinds.of(read_cells(piece.values, self.domains[name])) for piece in self.pieces(name)]
        return CellKinds(any(one.general for one in read), any(one.suppressed for one in read))

    def only(self, names: Collection[str]) -> Comparison:
        """The same of some columns only."""
        domains = {name: domain for name, domain in self.domains.items() if name in names}
        original, released = replace(self.original, domains=domains), replace(self.released, domains=domains)
        return self._replace(original=original, released=released)

    @property
    def of_released_columns(self) -> Comparison | None:
        """The same without the columns that the release lacks, which count as suppressed; None if it lacks none."""
        return self.only(self.domains.keys() - {*self.lacking}) if self.lacking else None

    def weighted_marginals(self, weight: str, rng: Generator) -> float | None:
        """Utility of marginals by survey weights; see `metrics.table_utility.weighted_marginals`."""
        others = self.only(self.domains.keys() - {weight})
        if not others.domains or not isinstance(self.domains.get(weight), NumericDomain):
            return None
        original, released = others.original.weighted(weight), others.released.weighted(weight)
        if original is None or released is None:
            return None
        return weighted_marginals(original, released, others.domains, rng)

    @property
    def cells(self) -> dict[str, CountedCells]:
        """Counts of the cells of the released columns that come in one piece."""
        columns = self.released.table.columns
        present = [name for name in self.domains if name not in self.lacking]
        return {name: next(self.pieces(name)) for name in present if columns[name].cells is not None}


@contextmanager
def compared(
    reviewed: ReviewedTable,
    path: Path,
    roles: Path | None,
    *,
    reading: Mapping[str, Any],
    memory: int | None = None,
    engine: Engine | None = None,
) -> Iterator[Comparison]:
    """Open a release beside its original table, in parts if that one is; DuckDB gets some bytes of memory."""
    dataset, declared = reviewed.dataset, read_roles(roles, reading)
    domains = {name: dataset.records.domain(name) for name in dataset.records.released_columns}
    released: CountedRelease
    with ExitStack() as stack:
        if isinstance(reviewed, ReviewedInParts):
            read = stack.enter_context(
                large_released(
                    path,
                    roles,
                    reading=reading,
                    written=dataset.written,
                    domains=domains,
                    never_missing=[name for name, column in reviewed.records.columns.items() if not column.has_missing],
                    others=tuple(domains),
                    memory=memory,
                    engine=engine,
                )
            )
            lacking = tuple(name for name in domains if name not in read.columns)
            others = {name: suppressed_column(name, read.rows) for name in lacking}
            released, notes = replace(read, columns={**read.columns, **others}), [*read.notes, *read.unknown]
        else:
            table = read_finished(str(path), read_bytes(path), dataset, declared, domains, widen=False)
            notes, lacking = list(table.notes), table.lacking
            coded = {name: CodedCells.of_values(table.suppressed[name]) for name in domains}
            released = ReleasedTable(path, coded, (), (), (), declared, {})
        with rows_from_one(f"{path}: ", "" if roles is not None else f"; {HINT}"):
            binned = BinnedTable.of_release(released, domains)
        original = BinnedTable.of_records(reviewed.records, domains)
        both = Comparison(original, binned, [note for note in notes if note.kind not in READ], lacking)
        if isinstance(reviewed, ReviewedInParts):
            kinds = {name: both.kinds(name) for name in domains if name not in lacking}
            further = beside_notes(dataset, read.files.columns, kinds, released.rows, reviewed.rows)
            both = both._replace(notes=[*both.notes, *further])
        yield both


# Utility from one reading of either table.

SAMPLED = 100_000
"""Number of drawn rows on which classifiers are trained, and the noise of associations and ranks are measured."""


class MeasuredUtility(NamedTuple):
    """A utility and its components, numbers of drawn rows before and after, and a note where these are not all.

    The utility is below 0 for a release worse than one without information; see `metrics.table_utility`.
    """

    value: float
    components: dict[str, float | None]
    numbers: tuple[pd.DataFrame, pd.DataFrame]
    notes: list[Note]


def measured_utility(
    tables: Comparison, held_out: pd.DataFrame, sensitive: tuple[str, ...], seed: int
) -> MeasuredUtility:
    """Utility of a release beside its original table.

    Queries and reference tables are drawn by the seed, and so are the rows of long tables. `held_out` holds further
    real records, on which a classifier of a `sensitive` column is tested; it may be empty.
    """
    rng, target = np.random.default_rng([seed, 1]), prediction_target(sensitive, tables.domains)
    original, released = tables.original, tables.released
    counts, before = original.counted(_drawn(original.rows, rng), "original rows")
    rows, draws = original.profile(before), np.random.default_rng(seed)
    utility = TableUtility(rows, tables.domains, held_out, target, draws, reference=counts, signed=True)
    counts, after = released.counted(_drawn(released.rows, rng), "released rows")
    value, components = headline_utility(utility.components(counts, released.profile(after)))
    what = "classifiers, rank correlations" if utility.held_out else "rank correlations"
    note = Note("drawn rows", numbers={"what": f"{what} and the noise of associations were", "rows": SAMPLED})
    known = [name for name, domain in tables.domains.items() if isinstance(domain, NumericDomain)]
    names = [name for name in known if name not in tables.lacking]
    numbers = original.values(before, names), released.values(after, names)
    return MeasuredUtility(value, components, numbers, [note] if max(original.rows, released.rows) > SAMPLED else [])


def _counted_part(
    binned: BinnedTable, drawn: Integers, done: Progress, table: Any
) -> tuple[CountedProfile, list[Rows], int]:
    """Profile of a part, codes or numbers of its drawn rows, and the end of the part."""
    counts, found, end = binned.empty, [], 0
    for block in table.blocks(list(binned.domains)):
        stored, end = binned.stored(block), block.start + len(block)
        counts.update(binned.mass(stored))
        first, last = np.searchsorted(drawn, [block.start, end])
        found.append({name: rows[drawn[first:last] - block.start] for name, rows in stored.items()})
        done.add(len(block))
    return counts, found, end


def _drawn(rows: int, rng: Generator) -> Integers:
    """Positions of drawn rows, ascending; all of them if they are few."""
    return np.arange(rows) if rows <= SAMPLED else np.sort(rng.choice(rows, SAMPLED, replace=False, shuffle=False))
