"""Distinct combinations of quasi-identifiers with the number of records of each, counted by DuckDB."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array

from metrics.classes import key_starts
from metrics.columns import Integers
from scenarios.tables.parts.combination_index import LARGEST_KEY
from scenarios.tables.parts.raw_columns import coded_source
from scenarios.tables.parts.records import LargeColumn, LargeRecords


class TooManyCombinations(ValueError):  # noqa: N818 (named for what there is too much of)
    """There are more distinct combinations than fit."""


@dataclass(frozen=True)
class Combinations:
    """Distinct combinations of codes of some columns.

    Attributes
    ----------
    codes : mapping of str to ndarray of int, each of shape (combinations,)
        Code of each combination in each column (see `LargeColumn.values`), of the smallest type that holds it.
    counts : ndarray of int, shape (combinations,)
        Number of records of each.
    histograms : mapping of str to csr_array, each of shape (combinations, sensitive values)
        Number of records of each combination with each value of a sensitive column, in the order of its codes.
    """

    codes: Mapping[str, Integers]
    counts: Integers = field(repr=False)
    histograms: Mapping[str, csr_array] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return int(self.counts.size)


@dataclass(frozen=True)
class CombinationKey:
    """Integers that number the combinations of the stored codes of some columns.

    Parameters
    ----------
    columns : tuple of LargeColumn
        The columns, in blocks whose combinations fit into one integer each.
    """

    columns: tuple[tuple[LargeColumn, ...], ...]

    @classmethod
    def of(cls, columns: Sequence[LargeColumn]) -> CombinationKey:
        """Put columns together as long as their combinations fit into one integer."""
        parts: list[list[LargeColumn]] = []
        bound = LARGEST_KEY
        for column in columns:
            if bound * column.raw.size >= LARGEST_KEY:
                parts.append([])
                bound = 1
            bound *= column.raw.size
            parts[-1].append(column)
        return cls(tuple(tuple(part) for part in parts))

    def expressions(self) -> dict[str, str]:
        """SQL expression of each integer, by a name."""
        return {
            f"k{number}": " + ".join(f"({column.raw.code}) * {radix}" for column, radix in _radices(part))
            for number, part in enumerate(self.columns)
        }

    def source(self, *others: LargeColumn) -> str:
        """SQL of the table with what the expressions, and codes of other columns, need."""
        columns = [column for part in self.columns for column in part]
        return coded_source(column.raw for column in (*columns, *others))

    def codes(self, keys: Sequence[Integers]) -> dict[str, Integers]:
        """Code of each combination in each column, given its integers."""
        return {
            column.raw.name: column.of_raw[(key // radix) % column.raw.size].astype(
                np.min_scalar_type(max(1, column.values.size))
            )
            for part, key in zip(self.columns, keys, strict=True)
            for column, radix in _radices(part)
        }


def _radices(part: Sequence[LargeColumn]) -> list[tuple[LargeColumn, int]]:
    radices = np.cumprod([1, *(column.raw.size for column in part[:-1])], dtype=object)
    return [(column, int(radix)) for column, radix in zip(part, radices, strict=True)]


def combination_count(records: LargeRecords, names: Sequence[str]) -> int:
    """Estimated number of distinct combinations of some columns, in the part with most, within a few percent."""
    key = CombinationKey.of([records.columns[name] for name in names])
    estimates = records.files.fetch_parts(
        f"SELECT approx_count_distinct({{{', '.join(f'{name}: {e}' for name, e in key.expressions().items())}}}) "
        f"FROM {key.source()}"
    )
    return int(max(estimate for (estimate,) in estimates))


def count_combinations(
    records: LargeRecords, names: Sequence[str], sensitive: Sequence[str] = (), *, most: int | None = None
) -> Combinations:
    """Count the distinct combinations of some columns.

    Parameters
    ----------
    records : LargeRecords
        The records.
    names : sequence of str
        The columns, at least one.
    sensitive : sequence of str
        Columns whose values are counted in each combination.
    most : int, optional
        Largest number of combinations.

    Returns
    -------
    Combinations
        In ascending order of the stored codes, the last column first.

    Raises
    ------
    TooManyCombinations
        If there are more than `most`, or a column's values are nearly all distinct numbers.
    """
    for name in (*names, *sensitive):
        if records.columns[name].numbers_only:
            raise TooManyCombinations(f"{records.files.path}: column {name!r} holds nearly distinct numbers")
    if most is not None and (estimate := combination_count(records, names)) > 1.1 * most:
        raise TooManyCombinations(f"{records.files.path}: about {estimate:,} combinations of {', '.join(names)}")
    key = CombinationKey.of([records.columns[name] for name in names])
    expressions = key.expressions()
    table = records.files.counted(expressions, key.source())
    columns = [table.column(name).to_numpy() for name in expressions]
    counts = table.column("n").to_numpy().astype(np.int64)
    if most is not None and counts.size > most:
        raise TooManyCombinations(f"{records.files.path}: {counts.size:,} combinations of {', '.join(names)}")
    histograms = {}
    for name in sensitive:
        column = records.columns[name]
        rows = records.files.counted({**expressions, "v": column.raw.code}, key.source(column))
        fresh = key_starts([rows.column(key).to_numpy() for key in expressions])
        where = (np.cumsum(fresh) - 1, column.of_raw[rows.column("v").to_numpy()])
        shape = (counts.size, max(column.values.size, column.missing))
        histograms[name] = csr_array((rows.column("n").to_numpy().astype(np.int64), where), shape=shape)
    records.files.check_unchanged()
    # Different stored values are different values in every column.
    injective = all(_is_injective(column) for part in key.columns for column in part)
    return _merged(key.codes(columns), counts, histograms, injective)


def _is_injective(column: LargeColumn) -> bool:
    values = np.sort(column.of_raw[column.raw.of_code >= 0])
    has_both = bool(column.raw.missing) and bool((values == column.missing).any())
    return not has_both and not (values[1:] == values[:-1]).any()


def _merged(
    codes: dict[str, Integers], counts: Integers, histograms: dict[str, csr_array], injective: bool
) -> Combinations:
    """Combinations, with those put together that differ in the way they are stored only."""
    if injective:
        return Combinations(codes, counts, histograms)
    stacked = np.stack(list(codes.values()), axis=1)
    _, first, where = np.unique(stacked, axis=0, return_index=True, return_inverse=True)
    where = where.ravel()
    membership = csr_array((np.ones(where.size, dtype=np.int64), (where, np.arange(where.size))))
    return Combinations(
        {name: column[first] for name, column in codes.items()},
        np.bincount(where, counts).astype(np.int64),
        {name: csr_array(membership @ histogram) for name, histogram in histograms.items()},
    )
