"""Released cells beside candidates' values in coded form, and Gower's distance."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from attacks.base.attack import Knowledge
from defenses.base.channel import Channel
from defenses.base.release import MicrodataRelease
from metrics.columns.arrays import Booleans, Floats, gathered
from metrics.columns.cells import CategoricalCells, Cells, NumericCells, read_cells
from metrics.columns.domains import Domain, NumericDomain
from metrics.columns.parameters import require
from metrics.columns.values import in_column, numbers_of

# Smallest distance of a cell with an open end from a number outside it, as a share of the range. It lies above rounding
# errors, and in the mean over hundreds of columns above the threshold for ties.
BESIDE_OPEN_END = 1e-6
# Entries up to which a table is kept for later calls, and codings that one release keeps.
LARGEST_KEPT, CODINGS_KEPT = 10**6, 4


@dataclass(frozen=True)
class SharedColumn:
    """A column that the release and the candidates have in common, both sides in coded form.

    Arrays are read-only: attacks on one release share them.

    Attributes
    ----------
    name : str
        The column.
    cells : Cells
        The released side.
    values : ndarray, shape (distinct,)
        Distinct values of the candidates.
    codes : ndarray of int, shape (candidates,)
        The distinct value of each candidate.
    """

    name: str
    cells: Cells
    values: NDArray[Any]
    codes: NDArray[np.intp]
    _tables: dict[str, NDArray[Any]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def expand(self, table: NDArray[Any], rows: NDArray[np.intp] | None = None) -> NDArray[Any]:
        """Turn a table over distinct cells and distinct values into one over rows (by default all) and candidates."""
        return gathered(table, self.cells.codes if rows is None else self.cells.codes[rows], self.codes)

    def contains(self) -> Booleans:
        """Return whether each distinct cell covers each distinct value, shape (cells, values), read-only."""
        return _kept(self._tables, "contains", lambda: self.cells.contains(self.values))

    def distance(self) -> Floats:
        """Distance of each distinct cell to each distinct value, shape (cells, values), in [0, 1], read-only.

        See `gower_distance`.
        """
        return _kept(self._tables, "distance", lambda: _column_distance(self))


@dataclass(frozen=True)
class Coding:
    """The common columns of one release and one candidate table, and what was computed from them.

    Attributes
    ----------
    released, candidates : DataFrame
        Copies of the two tables, by which later calls recognize them.
    channel : Channel or None
        The release's channel.
    domains : mapping of str to Domain
        Domains of the common columns.
    columns : tuple of SharedColumn
        The common columns, in the release's order.
    tables : dict
        Read-only tables that attacks computed from all of this, by name.
    """

    released: pd.DataFrame
    candidates: pd.DataFrame
    channel: Channel | None
    domains: Mapping[str, Domain]
    columns: tuple[SharedColumn, ...]
    tables: dict[Hashable, NDArray[Any]] = field(default_factory=dict)

    def is_of(self, release: MicrodataRelease, candidates: pd.DataFrame, domains: Mapping[str, Domain]) -> bool:
        """Return whether these are the same tables, channel and domains."""
        return (
            self.channel is release.channel
            and self.domains == domains
            and self.candidates.equals(candidates)
            and self.released.equals(release.frame)
        )


def common_columns(release: MicrodataRelease, knowledge: Knowledge) -> list[str]:
    """Columns that the release and the candidates have in common, in the release's order.

    Raises
    ------
    ValueError
        If there is none, or no candidate.
    """
    names = [str(name) for name in release.frame.columns if name in knowledge.candidates.columns]
    require(names, "the release and the candidates have no column in common")
    require(not knowledge.candidates.empty, "there are no candidates")
    return names


def shared_columns(release: MicrodataRelease, knowledge: Knowledge) -> list[SharedColumn]:
    """Code the columns that the release and the candidates have in common, once for all attacks on a release.

    Raises
    ------
    ValueError
        If they share no column, there is no candidate, or a cell or a value lies outside the column's domain.
    """
    return list(_coding(release, knowledge).columns)


def shared_table(
    release: MicrodataRelease, knowledge: Knowledge, name: Hashable, compute: Callable[[], NDArray[Any]]
) -> NDArray[Any]:
    """Return a table that several attacks on one release need, computed once and read-only.

    Parameters
    ----------
    release : MicrodataRelease
        The release under attack.
    knowledge : Knowledge
        The attacker's knowledge.
    name : hashable
        Identifies the table, with all parameters that it depends on.
    compute : callable
        Computes the table from nothing but the release with its channel, the candidates and the common columns'
        domains. Called without arguments, and only where no equal release has the table yet.

    Raises
    ------
    ValueError
        As `shared_columns`.
    """
    return _kept(_coding(release, knowledge).tables, name, compute)


def derived_table(
    release: MicrodataRelease,
    knowledge: Knowledge,
    source: NDArray[Any],
    name: Hashable,
    compute: Callable[[], NDArray[Any]],
) -> NDArray[Any]:
    """Return a table that follows from another one, computed once and read-only if the other is a `shared_table`.

    Parameters
    ----------
    release : MicrodataRelease
        The release under attack.
    knowledge : Knowledge
        The attacker's knowledge.
    source : ndarray
        The other table.
    name : hashable
        Identifies what is computed from it.
    compute : callable
        Computes the table from nothing but `source`. Called without arguments.
    """
    tables = _coding(release, knowledge).tables
    for origin, table in tables.items():
        if table is source:
            return _kept(tables, (name, origin), compute)
    return compute()


def _coding(release: MicrodataRelease, knowledge: Knowledge) -> Coding:
    """Look up the coding of these tables among those of the release's views, or make it."""
    names = common_columns(release, knowledge)
    domains = knowledge.domains(names)
    codings: list[Coding] = release.shared.entries
    for coding in reversed(codings):
        if coding.is_of(release, knowledge.candidates, domains):
            return coding
    cells = _known_cells(release.frame, codings)
    columns = []
    for name in names:
        coded = cells.get(name)
        if coded is None or coded.domain != domains[name]:
            coded = _read_only(read_cells(release.frame[name], domains[name]))
        codes, distinct = pd.factorize(knowledge.candidates[name], use_na_sentinel=False)
        values = np.array(distinct)
        if isinstance(domains[name], NumericDomain) and values.dtype.kind not in "fiu":
            try:
                values = numbers_of(values)
            except ValueError as error:
                raise in_column(name, error, codes) from None
        values.setflags(write=False)
        codes.setflags(write=False)
        columns.append(SharedColumn(name, coded, values, codes))
    coding = Coding(release.frame.copy(), knowledge.candidates.copy(), release.channel, dict(domains), tuple(columns))
    codings.append(coding)
    del codings[:-CODINGS_KEPT]
    return coding


def _known_cells(released: pd.DataFrame, codings: list[Coding]) -> dict[str, Cells]:
    """Released cells that were read for other candidates, by column."""
    for coding in reversed(codings):
        if coding.released.equals(released):
            return {column.name: column.cells for column in coding.columns}
    return {}


def _read_only(cells: NumericCells | CategoricalCells) -> NumericCells | CategoricalCells:
    for array in vars(cells).values():
        if isinstance(array, np.ndarray):
            array.setflags(write=False)
    return cells


def _kept(tables: dict[Any, NDArray[Any]], name: Hashable, compute: Callable[[], NDArray[Any]]) -> NDArray[Any]:
    """Table of this name, computed where it is missing; large ones are not kept."""
    if name in tables:
        return tables[name]
    table = compute()
    table.setflags(write=False)
    if table.size <= LARGEST_KEPT:
        tables[name] = table
    return table


def shared_distance(release: MicrodataRelease, knowledge: Knowledge) -> Floats:
    """`gower_distance` of the common columns, computed once for all attacks on a release, read-only.

    Raises
    ------
    ValueError
        As `shared_columns`.
    """
    columns = shared_columns(release, knowledge)
    return shared_table(release, knowledge, "Gower's distance", lambda: gower_distance(columns))


def gower_distance(columns: list[SharedColumn], rows: NDArray[np.intp] | None = None) -> Floats:
    """Gower's distance of every released row to every candidate, shape (rows, candidates), in [0, 1].

    Numbers differ by their distance over the candidates' range, categories by 0 or 1. A generalized cell is as far
    from a value as the nearest value that it covers; ``*`` is therefore at distance 0 from all. A set of numbers
    counts as the interval from its smallest to its largest number.

    The open end of ``[20,30)`` is not covered. Among integers, 30 is at distance 1 over the range, since 29 is the
    nearest covered number. Otherwise there is no nearest covered number, and 30 is at distance 1e-6.

    A missing value is a value of its own: at distance 1 from all other values, and 0 from a missing cell and from
    ``*``. Gower leaves comparisons with missing values out of the mean. Here a missing released cell identifies, since
    a record's gaps are released with it. The rule costs matches where candidates have gaps that the release lacks
    (`NearestNeighbour`).

    Parameters
    ----------
    columns : list of SharedColumn
        Both sides of at least one column.
    rows : ndarray of int, optional
        Positions of the released rows to compare; all by default.

    References
    ----------
    Gower (1971), A general coefficient of similarity and some of its properties.
    """
    count = columns[0].cells.codes.size if rows is None else rows.size
    total = np.zeros((count, columns[0].codes.size))
    for column in columns:
        total += column.expand(column.distance(), rows)
    total /= len(columns)
    return total


def _column_distance(column: SharedColumn) -> Floats:
    covered = column.contains()
    distance = (~covered).astype(float)
    if isinstance(column.cells, NumericCells):
        values = column.values.astype(float)
        low, high = _covered_ends(column.cells)
        present = values[~np.isnan(values)]
        span = np.ptp(present) if present.size else 0.0
        beyond = np.maximum(low[:, None] - values, values - high[:, None])
        if span > 0:
            graded = np.clip(beyond / span, 0.0, 1.0)
            if not column.cells.closed.all():
                ends_open = np.bincount(column.cells.owner, ~column.cells.closed, minlength=low.size) > 0
                graded = np.maximum(graded, BESIDE_OPEN_END * ends_open[:, None])
            distance = np.where(covered, 0.0, np.where(np.isnan(graded), 1.0, graded))
    return distance


def _covered_ends(cells: NumericCells) -> tuple[Floats, Floats]:
    """Smallest and largest number that each distinct cell covers; an open end counts as its limit, unless integer."""
    if cells.domain.integer:
        cells = replace(cells, high=np.where(cells.closed, cells.high, np.ceil(cells.high) - 1))
    return cells.hull()
