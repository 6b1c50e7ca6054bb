"""Released cells as runs of ordered candidate values, for tables too large for a table over cells and values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from attacks.base.text_errors import TextErrors, TextSides, text_errors
from metrics.columns import (
    Array,
    Booleans,
    Domain,
    Floats,
    Integers,
    Integers32,
    NumericDomain,
    Singles,
    chunks,
    distinct_cells,
    numbers_of,
    read_cells,
    unescape,
)

# Entries of the table of cells and categories that is read at a time.
CHUNK = 2**25


class Runs(NamedTuple):
    """Runs of positions that distinct cells cover, by ascending cell; arrays of shape (runs,).

    - owner: Distinct cell of each run.
    - low, high: From the position `low` up to, not including, `high`.
    """

    owner: Integers32
    low: Integers32
    high: Integers32


@dataclass(frozen=True)
class RunCodedColumn:
    """A column of both tables: each distinct released cell covers runs of the candidates' ordered values.

    Numbers are in ascending order, categories in that of their domain. The missing value is last.

    - codes, shape (rows,): The distinct cell of each released row.
    - values, shape (candidates,): Position of each candidate's value.
    - size: Number of positions, with the one for the missing value.
    - numbers, shape (size,): The number at each position, NaN for the missing value and for categories.
    - written, shape (cells,): The number in each plain cell, NaN for other cells and for categories.
    - errors: Cells and positions that are nearly equal as texts; None where the column has no typing errors.
    """

    name: str
    codes: Integers32
    values: Integers32
    size: int
    runs: Runs
    numbers: Floats
    written: Floats
    errors: TextErrors | None = None

    @cached_property
    def count(self) -> Integers:
        """Number of released rows with each distinct cell, shape (cells,)."""
        return np.bincount(self.codes)

    @cached_property
    def share(self) -> Floats:
        """Share of candidates at each position, shape (size,)."""
        return np.bincount(self.values, minlength=self.size) / max(1, self.values.size)

    @cached_property
    def starts(self) -> Integers:
        """First run of each distinct cell, shape (cells + 1,)."""
        return np.searchsorted(self.runs.owner, np.arange(self.cells + 1))

    @property
    def cells(self) -> int:
        """Number of distinct released cells."""
        return self.count.size

    @cached_property
    def single(self) -> Integers:
        """Position of the one value that is not missing and that a distinct cell covers, else -1, shape (cells,)."""
        position = np.full(self.cells, -1)
        alone = (np.diff(self.starts)[self.runs.owner] == 1) & (self.runs.high - self.runs.low == 1)
        alone &= self.runs.low < self.size - 1
        position[self.runs.owner[alone]] = self.runs.low[alone]
        return position

    def over_runs(self, weights: Floats) -> Floats:
        """Sum of the weights, shape (size,), of the positions that each distinct cell covers, shape (cells,)."""
        return weight_of_runs(self.runs, weights, self.cells)

    def over_cells(self, weights: Floats) -> Floats:
        """Sum of the weights, shape (cells,), of the distinct cells that cover each position, shape (size,)."""
        steps = np.bincount(self.runs.low, weights=weights[self.runs.owner], minlength=self.size + 1)
        ends = np.bincount(self.runs.high, weights=weights[self.runs.owner], minlength=self.size + 1)
        return np.asarray(np.cumsum(steps - ends)[:-1], dtype=float)

    def covers(self, cells: Array, positions: Array) -> Booleans:
        """Whether each distinct cell covers the position beside it; both are broadcast."""
        if self.runs.owner.size == self.cells and (np.diff(self.starts) == 1).all():
            return np.asarray((positions >= self.runs.low[cells]) & (positions < self.runs.high[cells]))
        borders = np.column_stack([self.runs.low, self.runs.high]).astype(np.int64)
        borders += (self.runs.owner.astype(np.int64) * (self.size + 1))[:, None]
        wanted = cells.astype(np.int64) * (self.size + 1) + positions
        # Runs of a cell are disjoint and ascending: a position inside one has an odd number of borders before it.
        return np.asarray(np.searchsorted(borders.ravel(), wanted, side="right") % 2 == 1)


def with_text_errors(columns: list[RunCodedColumn], domains: Mapping[str, Domain]) -> list[RunCodedColumn]:
    """Return the columns with the typing errors that the release shows; the same columns where it shows none."""
    texts = [_texts(column, domains[column.name]) for column in columns]

    def distance(number: int, rows: Integers) -> Singles:
        own = columns[number]
        cells, row = np.unique(own.codes[rows], return_inverse=True)
        far = (~own.covers(cells[:, None], np.arange(own.size))).astype(np.float32)
        span = np.ptp(own.numbers[:-1]) if own.size > 2 else 0.0
        if span > 0:
            steps = np.abs(own.written[cells][:, None] - own.numbers) / span
            far = np.where(np.isnan(steps), far, np.minimum(steps, 1)).astype(np.float32)
        return np.asarray(np.take(far, own.values, axis=1)[row])

    errors = text_errors(texts, distance) if any(texts) else [None] * len(columns)
    return [replace(column, errors=found) for column, found in zip(columns, errors, strict=True)]


def _texts(column: RunCodedColumn, domain: Domain) -> TextSides | None:
    """Both sides of a column of categories as texts; None where some candidate has each plain cell, or for numbers."""
    if isinstance(domain, NumericDomain):
        return None
    occurs, cell = column.share > 0, column.single
    if occurs[cell[cell >= 0]].all():
        return None
    names = np.array([*domain.categories, ""], dtype=object)
    codes = column.codes.astype(np.intp), column.values.astype(np.intp)
    return TextSides(names[cell].tolist(), np.where(occurs, names, "").tolist(), *codes)


def run_coded_column(name: str, released: pd.Series[Any], candidates: pd.Series[Any], domain: Domain) -> RunCodedColumn:
    """Read a column of a release and of the candidates.

    A cell or a value outside the domain raises a ValueError that names column, row and cell.
    """
    reader = _numeric if isinstance(domain, NumericDomain) else _categorical
    return reader(name, released, candidates, domain)


def _numeric(name: str, released: pd.Series[Any], candidates: pd.Series[Any], domain: Any) -> RunCodedColumn:
    numbers, values = np.unique(numbers_of(candidates), return_inverse=True)
    present = int(np.isfinite(numbers).sum())
    numbers = np.r_[numbers[:present], np.nan]
    codes, texts = _distinct(released)
    written = pd.to_numeric(pd.Series(texts), errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    plain = np.flatnonzero(np.isfinite(written))
    other = np.flatnonzero(~np.isfinite(written))
    written[other] = np.nan
    low, high = (np.searchsorted(numbers[:present], written[plain], side) for side in ("left", "right"))
    parts = [(plain, low, high)]
    if other.size:
        cells = _read_some(released, texts, other, domain)
        written[other[cells.plain & ~cells.missing]] = cells.midpoint()[cells.plain & ~cells.missing]
        first = np.searchsorted(numbers[:present], cells.low)
        last = np.where(
            cells.closed,
            np.searchsorted(numbers[:present], cells.high, side="right"),
            np.searchsorted(numbers[:present], cells.high, side="left"),
        )
        # A suppressed cell covers the missing value too.
        empty = np.flatnonzero(cells.missing | cells.or_missing | cells.suppressed)
        parts.append((other[cells.owner], first, last))
        parts.append((other[empty], np.full(empty.size, present), np.full(empty.size, present + 1)))
    runs = disjoint_runs(*map(np.concatenate, zip(*parts, strict=True)))
    return RunCodedColumn(name, _small(codes), _small(np.minimum(values, present)), present + 1, runs, numbers, written)


def _categorical(name: str, released: pd.Series[Any], candidates: pd.Series[Any], domain: Any) -> RunCodedColumn:
    values = domain.codes(candidates)
    codes, texts = _distinct(released)
    positions = pd.Index(domain.categories).get_indexer(
        [unescape(text) if isinstance(text, str) and text[:1] not in "{*" else "" for text in texts]
    )
    simple = np.array([isinstance(text, str) and text[:1] not in ("{", "*", "") for text in texts], dtype=bool)
    plain, other = np.flatnonzero(simple & (positions >= 0)), np.flatnonzero(~simple | (positions < 0))
    parts = [(plain, positions[plain], positions[plain] + 1)]
    for part in chunks(other.size, domain.size + 1, CHUNK):
        some = other[part]
        cells = _read_some(released, texts, some, domain)
        full = np.column_stack([cells.member, cells.missing | cells.or_missing | cells.suppressed])
        steps = np.diff(full.astype(np.int8), axis=1, prepend=0, append=0)
        begins, ends = np.nonzero(steps == 1), np.nonzero(steps == -1)
        parts.append((some[begins[0]], begins[1], ends[1]))
    runs = disjoint_runs(*map(np.concatenate, zip(*parts, strict=True)))
    size = domain.size + 1
    nothing = np.full(size, np.nan), np.full(len(texts), np.nan)
    return RunCodedColumn(name, _small(codes), _small(values), size, runs, *nothing)


def _distinct(released: pd.Series[Any]) -> tuple[Integers, NDArray[np.object_]]:
    if pd.api.types.is_numeric_dtype(released) and not pd.api.types.is_bool_dtype(released):
        codes, distinct = pd.factorize(released.to_numpy(), use_na_sentinel=False)
        return codes, np.asarray(distinct, dtype=object)
    return distinct_cells(released)


def _read_some(released: pd.Series[Any], texts: NDArray[np.object_], some: Integers, domain: Domain) -> Any:
    """Read some of the distinct cells; an error names the row of the table.

    The codes of the result are those of the given cells: `some[i]` has code i.
    """
    try:
        return read_cells(pd.Series(texts[some], name=released.name, dtype=object), domain)
    except ValueError:
        # The message counts distinct cells; that about the whole column counts rows.
        read_cells(released, domain)
        raise


def weight_of_runs(runs: Runs, weights: Array, cells: int) -> Floats:
    """Sum of the weights, shape (size,), of the positions that each distinct cell covers, shape (cells,)."""
    total = np.r_[0.0, np.cumsum(weights)]
    return np.asarray(np.bincount(runs.owner, weights=total[runs.high] - total[runs.low], minlength=cells), dtype=float)


def disjoint_runs(owner: Array, low: Array, high: Array) -> Runs:
    """Runs ordered by cell and position; those of a cell that overlap are united, empty ones left out."""
    filled = high > low
    owner, low, high = owner[filled], low[filled], high[filled]
    order = np.lexsort((low, owner))
    owner, low, high = owner[order], low[order], high[order]
    while owner.size > 1:
        joined = np.flatnonzero((owner[1:] == owner[:-1]) & (low[1:] <= high[:-1])) + 1
        if not joined.size:
            break
        # One of each chain of overlapping runs at a time, so that no run is united with one that is gone.
        joined = joined[np.r_[True, np.diff(joined) > 1]]
        high[joined - 1] = np.maximum(high[joined - 1], high[joined])
        owner, low, high = (np.delete(part, joined) for part in (owner, low, high))
    return Runs(_small(owner), _small(low), _small(high))


def _small(values: Array) -> Integers32:
    return np.asarray(values, dtype=np.int32)
