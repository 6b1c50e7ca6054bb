"""Defenses whose released cells depend on the value in the same column alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from defenses import (
    AdditiveNoise,
    Channel,
    Constant,
    GlobalRecoding,
    Identity,
    MicrodataDefense,
    Pipeline,
    Rounding,
    TopBottomCoding,
    released_frame,
)
from defenses.base import chosen_columns, filled, is_numeric, plain_numbers, stored_alike
from defenses.base.channel_parts import AddedNoise, Independent
from metrics.columns import Floats
from scenarios.tables.parts.records import Block, LargeRecords
from scenarios.tables.parts.released_blocks import CellList, LargeRelease
from scenarios.tables.parts.rowwise.steps import (
    Step,
    cells_by_code,
    code_counts,
    recoded,
    recomputed,
    rowwise,
)

# Additive noise on numbers that are read in parts.


def noisy(part: AddedNoise, numbers: Floats | None, kind: np.dtype[Any]) -> Step:
    """Step of a column to whose numbers noise is added.

    Parameters
    ----------
    part : AddedNoise
        The mechanism.
    numbers : ndarray, shape (codes,), optional
        Number of each code; None where blocks hold the numbers themselves.
    kind : dtype
        Type of the released numbers.
    """

    def release(block: Block, rng: Generator) -> Mapping[str, NDArray[Any]]:
        stored = block.columns[part.column]
        exact = stored.astype(float) if numbers is None else numbers[stored]
        draw = rng.normal if part.distribution == "gaussian" else rng.laplace
        spread = part.deviation if part.distribution == "gaussian" else part.deviation / np.sqrt(2)
        return {part.column: part.publish(exact + draw(0.0, spread, exact.size)).astype(kind)}

    return Step((part.column,), {}, release)


def additive_noise(defense: AdditiveNoise, records: LargeRecords, root: SeedSequence) -> LargeRelease:
    """Additive noise, with the deviations of the whole columns.

    Parameters
    ----------
    defense : AdditiveNoise
        The defense.
    records : LargeRecords
        The records.
    root : SeedSequence
        Root of the random generators.

    Raises
    ------
    ValueError
        If the parameters do not fit the records.
    """
    roles = records.roles
    defense.check(roles)
    steps, parts = [], []
    for name in defense._names(roles):
        column, distinct = records.columns[name], plain_numbers(roles.frame[name])
        scale = defense.scale[name] if isinstance(defense.scale, Mapping) else defense.scale
        # Bounds and rounding follow from the distinct values; the deviation needs the number of each.
        part = defense._part(roles, name, distinct)
        if part.deviation > 0:
            part = replace(part, deviation=float(scale) * deviation(records, name))
        numbers = None if column.numbers_only else column.values.astype(float)
        whole = pd.api.types.is_integer_dtype(roles.frame[name]) and part.whole
        kind = stored_alike(np.zeros(1), roles.frame[name]).to_numpy().dtype if whole else np.dtype(float)
        parts.append(part)
        steps.append(noisy(part, numbers, kind))
    return rowwise(records, defense, root, steps, Channel(tuple(parts)))


def deviation(records: LargeRecords, name: str) -> float:
    """Standard deviation of the numbers of a column, without missing ones.

    It is summed in the order of the blocks, so that it is the same for any memory and number of cores.

    Parameters
    ----------
    records : LargeRecords
        The records.
    name : str
        A numeric column with at least one number.
    """
    column = records.columns[name]
    if not column.numbers_only:
        counts = code_counts(column)[: column.missing]
        numbers = column.values[: column.missing].astype(float)
        mean = np.average(numbers, weights=counts)
        return float(np.sqrt(np.average((numbers - mean) ** 2, weights=counts)))
    count, mean, squares = 0, 0.0, 0.0
    for block in records.blocks([name]):
        numbers = block.columns[name].astype(float)
        numbers = numbers[~np.isnan(numbers)]
        if not numbers.size:
            continue
        # Chan, Golub and LeVeque (1979): means and sums of squares of two parts combine exactly.
        difference, total = float(numbers.mean()) - mean, count + numbers.size
        squares += float(((numbers - numbers.mean()) ** 2).sum()) + difference**2 * count * numbers.size / total
        mean += difference * numbers.size / total
        count = total
    return float(np.sqrt(squares / count))


# Sorted numbers of a column of a table that is read in parts.


def ordered_number(records: LargeRecords, name: str, position: int) -> float:
    """Number at a position among the sorted numbers of a column, without missing ones.

    Parameters
    ----------
    records : LargeRecords
        The records.
    name : str
        A numeric column.
    position : int
        Position from 0.
    """
    column = records.columns[name]
    if not column.numbers_only:
        counts = code_counts(column)[: column.missing]
        return float(column.values[np.searchsorted(np.cumsum(counts), position, side="right")])
    number = column.raw.code
    ((value,),) = records.files.fetch(
        f"SELECT number FROM (SELECT {number} AS number FROM source) "
        f"WHERE number IS NOT NULL AND NOT isnan(number) ORDER BY number LIMIT 1 OFFSET {position}"
    )
    return float(value)


FIXED = (Identity, GlobalRecoding, Rounding)
"""Defenses without random draws, whose cells depend on the value and on parameters alone.

`GlobalRecoding` looks up the value's group in a hierarchy, and `Rounding` its multiple. All else that they read of a
table are roles, domains, hierarchies, and whether a column has a value or holds integers only. The distinct values of
each column show these as the table does. So the release of the table of distinct values holds every released cell.
"""


def is_columnwise(defense: MicrodataDefense) -> bool:
    """Whether the released cells of a defense depend on the values in their columns and on parameters alone."""
    if type(defense) is Pipeline:
        return all(is_columnwise(step) for step in defense.steps)
    return type(defense) in FIXED or (type(defense) is TopBottomCoding and defense.thresholds is not None)


def columnwise(defense: MicrodataDefense, records: LargeRecords, root: SeedSequence) -> LargeRelease:
    """Release of a defense that recodes each column by itself; see `is_columnwise`.

    Parameters
    ----------
    defense : MicrodataDefense
        The defense.
    records : LargeRecords
        The records.
    root : SeedSequence
        Root of the random generators; only the order of the rows takes any.

    Raises
    ------
    ValueError
        If the parameters do not fit the records.
    """
    release = defense.apply(records.roles, np.random.default_rng(0))
    names = records.columns if release.channel is None else release.channel.columns
    steps = [_step(defense, records, name, release.frame) for name in names]
    return rowwise(records, defense, root, steps, release.channel)


def _step(defense: MicrodataDefense, records: LargeRecords, name: str, frame: pd.DataFrame) -> Step:
    column, released = records.columns[name], frame[name]
    if not column.numbers_only:
        return recoded(name, *cells_by_code(column, released))
    template = records.roles

    def compute(numbers: NDArray[np.float64]) -> pd.Series[Any]:
        kind = template.frame[name].to_numpy().dtype
        # The values beside this column do not matter; repeating one keeps the types of their columns.
        rows = template.frame.iloc[np.zeros(len(numbers), dtype=np.intp)].reset_index(drop=True)
        block = template.with_frame(rows.assign(**{name: pd.Series(numbers).astype(kind)}))
        return defense.apply(block, np.random.default_rng(0)).frame[name]

    numeric = pd.api.types.is_numeric_dtype(released) and not pd.api.types.is_bool_dtype(released)
    cells = None if numeric else CellList()
    return recomputed(name, compute, cells, released.to_numpy().dtype)


def top_bottom_coding(defense: TopBottomCoding, records: LargeRecords, root: SeedSequence) -> LargeRelease:
    """Top and bottom coding; thresholds from a share are sorted values of the whole column.

    Parameters
    ----------
    defense : TopBottomCoding
        The defense.
    records : LargeRecords
        The records.
    root : SeedSequence
        Root of the random generators.

    Raises
    ------
    ValueError
        If the parameters do not fit the records.
    """
    defense.check(records.roles)
    if defense.thresholds is not None:
        return columnwise(defense, records, root)
    roles = records.roles
    default = [name for name in roles.quasi_identifiers if is_numeric(roles, name)]
    share = defense.share or 0.0
    thresholds = {}
    for name in filled(roles, chosen_columns(roles, defense.columns, default)):
        present = records.rows - missing_count(records, name)
        coded = int(share * (present - 1))
        thresholds[name] = (
            ordered_number(records, name, coded),
            ordered_number(records, name, present - 1 - coded),
        )
    return columnwise(TopBottomCoding(thresholds=thresholds), records, root)


def missing_count(records: LargeRecords, name: str) -> int:
    """Number of records without a value in a column."""
    column = records.columns[name]
    return column.raw.missing if column.numbers_only else int(code_counts(column)[column.missing])


def constant(defense: Constant, records: LargeRecords, root: SeedSequence) -> LargeRelease:
    """Every column holds its typical value, which follows from the number of records with each value.

    Parameters
    ----------
    defense : Constant
        The defense.
    records : LargeRecords
        The records.
    root : SeedSequence
        Root of the random generators.
    """
    steps = [_constant_step(records, name) for name in records.columns]
    return rowwise(records, defense, root, steps, Channel(tuple(Independent(name) for name in records.columns)))


def _constant_step(records: LargeRecords, name: str) -> Step:
    column, roles = records.columns[name], records.roles
    if column.numbers_only:
        number, kind = _typical_number(records, name), roles.frame[name].to_numpy().dtype
        return recomputed(name, lambda numbers: pd.Series(np.full(len(numbers), number)), None, kind)
    cells, table = cells_by_code(column, released_frame(roles)[name])
    counts = code_counts(column)
    code = column.missing
    if counts[: column.missing].any():
        bins = np.append(roles.domain(name).codes(column.values[: column.missing]), roles.domain(name).size)
        code = _typical_code(bins, counts[: bins.size], numeric=is_numeric(roles, name))
    return recoded(name, cells, np.full_like(table, table[code]))


def _typical_code(bins: NDArray[np.intp], counts: NDArray[np.int64], *, numeric: bool) -> int:
    """Code of the lower median in the most frequent bin or category."""
    inside = np.flatnonzero(bins == np.bincount(bins, counts).argmax())
    if not numeric:
        return int(inside[counts[inside].argmax()])
    total = np.cumsum(counts[inside])
    return int(inside[np.searchsorted(total, (total[-1] - 1) // 2, side="right")])


def _typical_number(records: LargeRecords, name: str) -> float:
    """Lower median of the numbers in the most frequent bin; NaN where most are missing."""
    domain = records.roles.domain(name)
    counts = np.zeros(domain.size + 1, dtype=np.int64)
    for block in records.blocks([name]):
        counts += np.bincount(domain.codes(plain_numbers(pd.Series(block.columns[name]))), minlength=counts.size)
    typical = int(counts.argmax())
    if typical == domain.size:
        return float("nan")
    return ordered_number(records, name, int(counts[:typical].sum() + (counts[typical] - 1) // 2))
