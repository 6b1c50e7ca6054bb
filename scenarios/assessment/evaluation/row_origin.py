"""Which record each released row stems from, as far as the tables show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from metrics.columns.arrays import Booleans, Floats, Integers
from metrics.columns.cells import CategoricalCells, NumericCells, read_cells, unescape
from metrics.columns.domains import Domain, NumericDomain
from metrics.columns.values import distinct_values

FALSE_ALARM = 0.001
"""Probability that rows in an order of their own are taken for rows in the records' order."""
DOUBTED = "doubted"
"""Kind of an origin that was told in part by records that fit no better than random ones."""
LEAST = 1e-15
"""Smallest p-value that is shown."""
SAME = 1e-9
"""Largest difference of two distances that counts as a tie."""
MOST_PAIRS = 200_000_000
"""Largest number of pairs of a kind of row and a person that are compared."""
SORTED_DEVIATIONS = 6.0
"""Standard errors by which neighbours in a sorted column are closer than in a column in random order, at least."""


@dataclass(frozen=True)
class RowOrigin:
    """The record that each released row stems from.

    Attributes
    ----------
    kind : {"copies", "aligned", "told", "doubted", "unknown"}
        How it was recognized; ``doubted`` is told in part by records that fit no better than random ones.
    origin : ndarray of int, shape (rows,)
        Position of the record, -1 where unknown.
    note : str
        What was recognized, in a sentence.
    """

    kind: str
    origin: Integers = field(repr=False)
    note: str


def recognized_origin(released: pd.DataFrame, records: pd.DataFrame, domains: Mapping[str, Domain]) -> RowOrigin:
    """Recognize which record each released row stems from.

    Every released row may be a copy of a record, in any order. Else the rows may be in the records' order; see
    `order_p_value`.

    Parameters
    ----------
    released : DataFrame, shape (rows, columns)
        Released cells as text.
    records : DataFrame, shape (records, more columns)
        Original values.
    domains : mapping of str to Domain
        Domains of the released columns.
    """
    names = [str(name) for name in released.columns]
    origin = copied_origin(released, records[names], domains)
    if origin is not None:
        columns = "1 shared column" if len(names) == 1 else f"all {len(names)} shared columns"
        return RowOrigin(
            "copies", origin, f"every row is a copy of a record in {columns}, and is taken to stem from it"
        )
    unknown = np.full(len(released), -1)
    cannot = "so rows cannot be matched with people: linkage of rows is not measured"
    if len(released) != len(records):
        return RowOrigin("unknown", unknown, f"the rows are not as many as the records, {cannot}")
    p_value = order_p_value(released, records[names], domains)
    if p_value is None or p_value > FALSE_ALARM:
        return RowOrigin("unknown", unknown, f"the rows are not seen to be in the order of the records, {cannot}")
    evidence = f"p = {p_value:.1g}" if p_value > LEAST else f"p < {LEAST:g}"
    note = (
        f"the rows are in the order of the records ({evidence}; rows in an order of their own pass in "
        f"{FALSE_ALARM:.1%} of cases): row i is taken to stem from record i"
    )
    return RowOrigin("aligned", np.arange(len(released)), note)


def told_origin(origin: Integers, random: float | None = None) -> RowOrigin:
    """The origin that whoever made the release wrote down, such as by `tokumei defend --truth`.

    Parameters
    ----------
    origin : ndarray of int, shape (rows,)
        Position of each row's record, -1 where it stems from none.
    random : float, optional
        Share of the told records that fit no better than random ones, if there are many.
    """
    stems = int((origin >= 0).sum())
    if not stems:
        return RowOrigin("unknown", origin, "no row stems from a record: linkage of rows is not measured")
    note = f"the record of {stems} of {origin.size} rows was told by --truth"
    repeated = stems - np.unique(origin[origin >= 0]).size
    if repeated:
        note += f"; {repeated} of them repeat a record, as where rows are drawn with replacement"
    if random is None:
        return RowOrigin("told", origin, note)
    return RowOrigin(DOUBTED, origin, f"{note}; about {random:.0%} of these records fit no better than random ones")


def copied_origin(released: pd.DataFrame, records: pd.DataFrame, domains: Mapping[str, Domain]) -> Integers | None:
    """Record that each row copies, shape (rows,), each record once; None unless every row is a copy.

    Equal records are exchangeable: their rows are given to them in order.
    """
    people, rows = len(records), len(released)
    keys = np.zeros(people + rows, dtype=np.intp)
    for name in records.columns:
        both = np.concatenate([_comparable(records[name], domains[name]), _plain(released[name], domains[name])])
        codes = pd.factorize(both, use_na_sentinel=False)[0]
        keys = pd.factorize(keys * (codes.max(initial=0) + 1) + codes)[0]
    count = int(keys.max(initial=0)) + 1
    of_people, of_rows = (np.bincount(part, minlength=count) for part in (keys[:people], keys[people:]))
    if (of_rows > of_people).any():
        return None
    people_order, row_order = (np.argsort(part, kind="stable") for part in (keys[:people], keys[people:]))
    first_person, first_row = (np.cumsum(part) - part for part in (of_people, of_rows))
    sorted_keys = keys[people:][row_order]
    rank = np.arange(rows) - first_row[sorted_keys]
    origin = np.empty(rows, dtype=np.intp)
    origin[row_order] = people_order[first_person[sorted_keys] + rank]
    return origin


def _comparable(values: pd.Series[Any], domain: Domain) -> np.ndarray[Any, Any]:
    """Original values as objects: numbers, or the names of categories."""
    if isinstance(domain, NumericDomain):
        return values.to_numpy(dtype=float, na_value=np.nan).astype(object)
    codes, distinct = distinct_values(values)
    return np.array([*(domain.text(value) for value in distinct), None], dtype=object)[codes]


def _plain(cells: pd.Series[Any], domain: Domain) -> np.ndarray[Any, Any]:
    """Released cells as `_comparable` values; a generalized cell stays text that equals no value."""
    codes, distinct = pd.factorize(cells, use_na_sentinel=True)
    values: list[Any] = []
    for text in map(str, distinct):
        general = text.startswith(("[", "{", "*"))
        if isinstance(domain, NumericDomain):
            values.append(text if general else float(text))
        else:
            values.append(("generalized", text) if general else unescape(text))
    absent = np.nan if isinstance(domain, NumericDomain) else None
    table = np.empty(len(values) + 1, dtype=object)
    table[:] = [*values, absent]
    return np.asarray(table[codes])


def order_p_value(released: pd.DataFrame, records: pd.DataFrame, domains: Mapping[str, Domain]) -> float | None:
    """p-value of the hypothesis that the rows' order is independent of the records' order.

    Parameters
    ----------
    released, records : DataFrame, shape (n, columns)
        Released cells and original values of the same columns.
    domains : mapping of str to Domain
        Their domains.

    Returns
    -------
    float or None
        None if no two neighbouring rows can be told apart.

    Notes
    -----
    Let D(i, j) be the distance of row i to record j, summed over columns. For the disjoint pairs of neighbours
    (i, i + 1), let d = D(i, i + 1) + D(i + 1, i) - D(i, i) - D(i + 1, i + 1). Exchanging the two rows of a pair changes
    the sign of d. If the order of the rows says nothing about the records, both orders are equally likely. The signs
    are then independent fair coins, whatever the tables hold. The test is the exact one-sided sign test of those d that
    are not 0.

    Two tables that were sorted in the same way are in the same order, although no row need stem from its record.
    Columns in which neighbouring records are closer than in random order are therefore left out.
    """
    from scipy.stats import binom

    half = len(records) // 2
    rows = np.arange(2 * half)
    neighbours = rows ^ 1
    gain = np.zeros(2 * half)
    for name in records.columns:
        if not looks_sorted(records[name], domains[name]):
            distance = CellDistance.of(released[name], records[name], domains[name])
            gain += distance(rows, neighbours) - distance(rows, rows)
    difference = gain.reshape(half, 2).sum(axis=1)
    informative = int((np.abs(difference) > SAME).sum())
    if not informative:
        return None
    return float(binom.sf(int((difference > SAME).sum()) - 1, informative, 0.5))


def held_people(kinds: pd.DataFrame, people: pd.DataFrame, domains: Mapping[str, Domain]) -> Booleans:
    """Whether the cells of each kind of row hold the values of each person, shape (kinds, people).

    Parameters
    ----------
    kinds : DataFrame, shape (kinds, columns)
        Distinct released rows.
    people : DataFrame, shape (people, at least these columns)
        Original values.
    domains : mapping of str to Domain
        Domains of the columns.
    """
    everybody = np.arange(len(people))
    inside = np.ones((len(kinds), len(people)), dtype=bool)
    for name in kinds.columns:
        distance = CellDistance.of(kinds[name], people[name], domains[str(name)])
        # Whom a cell holds is asked once for each distinct cell.
        _, first, position = np.unique(distance.cells.codes, return_index=True, return_inverse=True)
        holds = np.array([distance(np.full(len(people), kind), everybody) == 0 for kind in first])
        inside &= holds[position]
    return inside


def kinds_of_rows(released: pd.DataFrame) -> tuple[pd.DataFrame, Integers]:
    """Distinct rows, and the number of the kind of each row, shape (rows,)."""
    code = released.groupby(list(released.columns), dropna=False, sort=False).ngroup().to_numpy()
    _, first, kind = np.unique(code, return_index=True, return_inverse=True)
    return released.iloc[first].reset_index(drop=True), kind


def looks_sorted(values: pd.Series[Any], domain: Domain) -> bool:
    """Whether neighbouring values are closer to each other than in random order, as in a sorted column."""
    if isinstance(domain, NumericDomain):
        numbers = values.to_numpy(dtype=float, na_value=np.nan)
    else:
        codes, distinct = pd.factorize(values, use_na_sentinel=False)
        names = np.array([str(value) for value in distinct], dtype=object)
        numbers = np.argsort(np.argsort(names))[codes].astype(float)
    ranks = pd.Series(numbers).rank(na_option="bottom").to_numpy()
    n = ranks.size
    if n < 2:
        return True
    ordered = np.sort(ranks)
    expected = 2 * float(((2 * np.arange(n) - n + 1) * ordered).sum()) / (n * (n - 1))
    steps = np.abs(np.diff(ranks))
    return bool(expected > 0 and steps.mean() < expected * (1 - SORTED_DEVIATIONS / np.sqrt(n)))


@dataclass(frozen=True)
class CellDistance:
    """Distance of single released cells to single values of one column, in [0, 1].

    It is 0 where the cell covers the value. A number is as far from a cell as from the nearest number that it covers,
    over the values' range. Everything else is at distance 1.

    Attributes
    ----------
    cells : NumericCells or CategoricalCells
        The released column.
    values : ndarray, shape (records,)
        Original numbers, or positions of categories.
    """

    cells: NumericCells | CategoricalCells
    values: Floats | Integers

    @classmethod
    def of(cls, released: pd.Series[Any], values: pd.Series[Any], domain: Domain) -> CellDistance:
        """Read both columns."""
        cells = read_cells(released, domain)
        if isinstance(domain, NumericDomain):
            return cls(cells, values.to_numpy(dtype=float, na_value=np.nan))
        return cls(cells, domain.codes(values.to_numpy(dtype=object)))

    def __call__(self, rows: Integers, records: Integers) -> Floats:
        """Distance of each row to each record of the same position in both arrays, shape (pairs,)."""
        codes = self.cells.codes[rows]
        any_missing = self.cells.missing | self.cells.or_missing | self.cells.suppressed
        if isinstance(self.cells, CategoricalCells):
            covers = np.column_stack([self.cells.member, any_missing])
            return np.asarray(~covers[codes, self.values[records]], dtype=float)
        values = self.values[records]
        low, high = (side[codes] for side in self.cells.hull())
        present = self.values[~np.isnan(self.values)]
        span = float(np.ptp(present)) if present.size else 0.0
        beyond = np.maximum(np.maximum(low - values, values - high), 0.0)
        graded = np.clip(beyond / span, 0.0, 1.0) if span > 0 else (beyond > 0).astype(float)
        return np.where(np.isnan(values) & any_missing[codes], 0.0, np.nan_to_num(graded, nan=1.0))
