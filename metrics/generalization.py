"""Information loss by generalization and suppression."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from metrics.classes import require_columns, sizes_in
from metrics.columns import (
    Booleans,
    CategoricalCells,
    Domain,
    Floats,
    Integers,
    NumericCells,
    read_cells,
    refuse_rows,
    require,
    scattered,
)


def normalized_certainty_penalty(released: pd.DataFrame, domains: Mapping[str, Domain]) -> float:
    """Normalized certainty penalty: mean share of the domain that a cell covers, in [0, 1].

    The penalty of an interval is its width relative to the domain's, that of a set of u among d categories u / d. A
    single value or a missing one has penalty 0, and ``*`` has 1. The mean is over rows and columns.

    Parameters
    ----------
    released : DataFrame, shape (n, columns)
        Released cells.
    domains : mapping of str to Domain
        The columns to measure, with the domains of their original values.

    Raises
    ------
    ValueError
        If there is no row or no column, the frame lacks a column, or a cell cannot be read.

    References
    ----------
    Xu, Wang, Pei, Wang, Shi and Fu (2006), Utility-based anonymization using local recoding, section 2.
    """
    return _mean_loss(released, domains, certainty_penalties)


def certainty_penalties(cells: NumericCells | CategoricalCells) -> Floats:
    """Share of the domain that each distinct cell covers, shape (distinct,); see `normalized_certainty_penalty`."""
    if isinstance(cells, CategoricalCells):
        members = cells.member.sum(axis=1)
        covered = np.where(members > 1, members / cells.domain.size, 0.0)
    else:
        covered = _width(cells)
    return np.where(cells.suppressed, 1.0, covered)


def generalization_loss(released: pd.DataFrame, domains: Mapping[str, Domain]) -> float:
    """Iyengar's loss: mean of (u - 1) / (d - 1) over cells that cover u of d categories, in [0, 1].

    The loss of an interval of numbers is its width relative to the domain's. A missing value has loss 0, and ``*`` has
    1. The mean is over rows and columns. Parameters and errors are those of `normalized_certainty_penalty`.

    References
    ----------
    Iyengar (2002), Transforming data to satisfy privacy constraints, section 3.1.
    """

    def loss(cells: NumericCells | CategoricalCells) -> Floats:
        if isinstance(cells, CategoricalCells):
            return np.asarray(np.maximum(cells.member.sum(axis=1) - 1, 0) / max(1, cells.domain.size - 1))
        return _width(cells)

    return _mean_loss(released, domains, loss)


def discernibility(frame: pd.DataFrame, quasi_identifiers: Sequence[str], *, classes: Integers | None = None) -> int:
    """Discernibility penalty: the sum of squared class sizes, since each record is penalized by the size of its class.

    Parameters
    ----------
    frame : DataFrame, shape (n, columns)
        Original values or released cells.
    quasi_identifiers : sequence of str
        The columns that an attacker may know.
    classes : ndarray of int, shape (n,), optional
        The classes of `equivalence_classes`, if already computed.

    Raises
    ------
    ValueError
        If the frame has no row or lacks a column.

    References
    ----------
    Bayardo and Agrawal (2005), Data privacy through optimal k-anonymization, section 3.
    """
    return int((sizes_in(frame, quasi_identifiers, classes).astype(np.int64) ** 2).sum())


def average_class_size(
    frame: pd.DataFrame, quasi_identifiers: Sequence[str], *, classes: Integers | None = None
) -> float:
    """Mean size of the equivalence classes; parameters and errors are those of `discernibility`.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan (2006), Mondrian multidimensional k-anonymity, section 5 (there divided by k).
    """
    return float(sizes_in(frame, quasi_identifiers, classes).mean())


def _width(cells: NumericCells) -> Floats:
    """Width of each distinct numeric cell inside the domain, relative to the domain's width, shape (distinct,)."""
    domain = cells.domain
    if domain.low == domain.high:
        return np.zeros(cells.missing.size)
    low, high = (np.clip(end, domain.low, domain.high) for end in cells.hull())
    return np.where(cells.missing, 0.0, (high - low) / (domain.high - domain.low))


def _mean_loss(
    released: pd.DataFrame,
    domains: Mapping[str, Domain],
    loss: Callable[[NumericCells | CategoricalCells], Floats],
) -> float:
    """Mean over rows and columns of a loss of distinct cells; ``*`` counts 1."""
    require(
        len(released) != 0 and domains,
        f"a loss needs rows and columns, got {len(released)} rows and {len(domains)} domains",
    )
    require_columns(released, tuple(domains))
    total = 0.0
    for name, domain in domains.items():
        cells = read_cells(released[name], domain)
        total += float(np.average(np.where(cells.suppressed, 1.0, loss(cells))[cells.codes]))
    return total / len(domains)


def generalization_precision(
    levels: Mapping[str, int], heights: Mapping[str, int], *, suppressed: float = 0.0
) -> float:
    """Sweeney's precision of a full-domain generalization: 1 - mean of level / height over the cells, in [0, 1].

    Parameters
    ----------
    levels : mapping of str to int
        The generalization level of each column.
    heights : mapping of str to int
        The coarsest level of each of these columns.
    suppressed : float
        Share of suppressed records, in [0, 1]; their cells count as generalized to the coarsest level.

    Raises
    ------
    ValueError
        If there is no column, a height is missing, a level lies outside 0 to the height, or `suppressed` outside [0,
        1].

    Notes
    -----
    A column of height 0 cannot be generalized and loses nothing.

    References
    ----------
    Sweeney (2002), Achieving k-anonymity privacy protection using generalization and suppression, section 5.
    """
    require(levels, "precision needs the level of at least one column")
    require(0 <= suppressed <= 1, f"suppressed must be a share in [0, 1], got {suppressed!r}")
    for name, level in levels.items():
        require(name in heights, f"heights lacks column {name!r}")
        height = heights[name]
        require(0 <= level <= height, f"levels: column {name!r} has levels 0 to {height}, got {level!r}")
    level_loss = [level / heights[name] if heights[name] else 0.0 for name, level in levels.items()]
    suppressed_loss = [float(heights[name] > 0) for name in levels]
    return float(1 - (1 - suppressed) * np.mean(level_loss) - suppressed * np.mean(suppressed_loss))


def non_uniform_entropy(original: pd.DataFrame, released: pd.DataFrame, domains: Mapping[str, Domain]) -> float:
    """Non-uniform entropy: share of information lost, 0 for the original table and 1 for a fully suppressed one.

    Parameters
    ----------
    original : DataFrame, shape (n, columns)
        Original values.
    released : DataFrame, shape (n, columns)
        Generalized cells; row i stems from record i.
    domains : mapping of str to Domain
        The columns to measure, with the domains of their original values.

    Raises
    ------
    ValueError
        If there is no row or no column, the tables differ in length, lack a column, or a cell does not cover its
        original value.

    Notes
    -----
    Let c(a) be the number of original records with the value a, and c(g) the number with any value that the cell g
    covers. Given g, the value a has probability c(a) / c(g), so that -log2(c(a) / c(g)) bits are lost. The result is
    the sum over rows and columns, divided by the sum of -log2(c(a) / n); it is 0 if all columns are constant.

    References
    ----------
    De Waal and Willenborg (1999), Information loss through global recoding and local suppression; Gionis and Tassa
    (2009), k-anonymization with minimal loss of information, section 3.
    """
    require(
        len(original) == len(released),
        f"the tables must be of one length, got {len(original)} originals and {len(released)} rows",
    )
    require(
        len(original) != 0 and domains,
        f"entropy needs rows and columns, got {len(original)} rows and {len(domains)} domains",
    )
    require_columns(original, tuple(domains))
    require_columns(released, tuple(domains))
    lost = total = 0.0
    for name, domain in domains.items():
        cells = read_cells(released[name], domain)
        codes, distinct = pd.factorize(original[name], use_na_sentinel=False)
        count = np.bincount(codes)
        if isinstance(cells, NumericCells):
            covered, inside = _numbers_covered(cells, np.asarray(distinct, dtype=float), codes, count)
        else:
            contains = cells.contains(distinct)
            covered, inside = (contains @ count).astype(float), contains[cells.codes, codes]
        refuse_rows(~inside, partial(_uncovered, released[name]))
        lost += float(np.log2(covered[cells.codes] / count[codes]).sum())
        total += float(np.log2(len(original) / count[codes]).sum())
    return lost / total if total > 0 else 0.0


def _uncovered(column: pd.Series[Any], row: int) -> str:
    """What to say of a cell that does not cover its original value."""
    return (
        f"column {column.name!r}, row {row}: {str(column.iloc[row])!r} does not cover the original value; "
        "entropy is about generalized tables in the records' order"
    )


def _numbers_covered(
    cells: NumericCells, distinct: Floats, codes: Integers, count: Integers
) -> tuple[Floats, Booleans]:
    """Number of records that each distinct cell covers, and whether each row's cell covers the row's own value.

    A segment of a cell covers a run of the sorted values, so that no table of cells by values is needed.
    """
    order = np.argsort(distinct)
    ordered = distinct[order][: int((~np.isnan(distinct)).sum())]
    start = np.searchsorted(ordered, cells.low, "left")
    closed, open_ = (np.searchsorted(ordered, cells.high, side) for side in ("right", "left"))
    end = np.where(cells.closed, closed, open_)
    before = np.append(0, np.cumsum(count[order][: ordered.size]))
    records_inside = (before[end] - before[start]).astype(float)
    covered: Floats = np.bincount(cells.owner, weights=records_inside, minlength=cells.missing.size).astype(float)
    absent = cells.missing | cells.suppressed
    covered += absent * count[np.isnan(distinct)].sum()
    rank = scattered(np.arange(order.size), order, order.size)
    # One entry for each pair of a row and a segment of its cell.
    segments = np.bincount(cells.owner, minlength=cells.missing.size)
    first = np.cumsum(segments) - segments
    rows = np.repeat(np.arange(codes.size), segments[cells.codes])
    segment = first[cells.codes[rows]] + np.arange(rows.size) - np.searchsorted(rows, rows)
    own = rank[codes[rows]]
    hits = np.bincount(rows, weights=(start[segment] <= own) & (own < end[segment]), minlength=codes.size)
    return covered, (hits > 0) | (absent[cells.codes] & np.isnan(distinct)[codes])
