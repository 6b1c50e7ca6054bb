"""Special uniques (SUDA): minimal sets of columns that make a record unique."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import combinations
from math import comb, factorial, prod
from typing import Any

import numpy as np
import pandas as pd

from metrics.classes import class_sizes, joint_codes, require_columns
from metrics.columns import SUPPRESSED, Booleans, Floats, Integers, check_integer, require

Subset = tuple[str, ...]
_CELLS = 1 << 20
"""Largest number of combinations in a table of counts that several sets of columns share."""
_SUMS = 2
"""Sums over the combinations of such a table, in multiples of the number of rows."""


def minimal_sample_uniques(
    frame: pd.DataFrame, quasi_identifiers: Sequence[str], *, max_size: int = 3
) -> Iterator[tuple[Subset, Integers]]:
    """Minimal sample uniques: for each set of columns, the rows that it makes unique while none of its subsets does.

    Parameters
    ----------
    frame : DataFrame, shape (n, columns)
        Original values or released cells. A missing value is a value of its own, and ``*`` is none: it makes no row
        unique.
    quasi_identifiers : sequence of str
        The columns that an attacker may know.
    max_size : int
        Largest number of columns in a set, at least 1.

    Yields
    ------
    columns : tuple of str
        A set of columns, small sets first.
    rows : ndarray of int
        The rows for which the set is minimal, at least one.

    Raises
    ------
    ValueError
        If the frame has no row or lacks a column, a column is named twice, or `max_size` is not an integer of at
        least 1.

    Notes
    -----
    A set of columns makes a row unique if any of its subsets does. A set is minimal for the rows that it makes unique
    and that no subset with one column less makes unique. Sets of few combinations are searched in tables of counts that
    they share, the others in one pass over the rows for each set.

    References
    ----------
    Elliot, Manning and Ford (2002), A computational algorithm for handling the special uniques problem.
    """
    require_columns(frame, quasi_identifiers)
    names = tuple(quasi_identifiers)
    require(len(set(names)) == len(names), f"each quasi-identifier must be named once, got {', '.join(names)}")
    check_integer("max_size", max_size, low=1)
    class_sizes(np.zeros(len(frame), dtype=np.intp))
    columns, suppressed = coded_cells(frame, names)
    found = minimal_unique_sets(columns, np.ones(len(frame), dtype=np.intp), suppressed, max_size=max_size)
    yield from sorted(found, key=lambda one: len(one[0]))


def coded_cells(frame: pd.DataFrame, names: Sequence[str]) -> tuple[dict[str, Integers], dict[str, int]]:
    """Code of each row in each column, and the code of ``*`` in the columns that hold it."""
    columns, suppressed = {}, {}
    for name in names:
        columns[name], distinct = pd.factorize(frame[name], use_na_sentinel=False)
        if (found := np.flatnonzero(np.asarray(distinct == SUPPRESSED, dtype=bool))).size:
            suppressed[name] = int(found[0])
    return columns, suppressed


def minimal_unique_sets(
    columns: Mapping[str, Integers], counts: Integers, suppressed: Mapping[str, int] | None = None, *, max_size: int = 3
) -> Iterator[tuple[Subset, Integers]]:
    """Minimal sample uniques of rows that stand for several records each; the sets come in any order.

    - columns, each, shape (n,): Code of each row in each column, at least 0.
    - counts, shape (n,): Number of records that each row stands for, at least 1.
    - suppressed, optional: Code of ``*`` in the columns that hold it. A set makes no row unique whose cell there is
      ``*``.
    - max_size: Largest number of columns in a set.
    """
    stars = suppressed or {}
    sizes = {name: int(codes.max(initial=0)) + 1 for name, codes in columns.items()}
    weights = None if (counts == 1).all() else counts.astype(float)
    done: set[Subset] = set()
    for names in _tabled(sizes, counts.size, max_size):
        chosen = [subset for subset in _subsets(names, max_size) if subset not in done]
        yield from _in_one_table({name: columns[name] for name in names}, sizes, weights, stars, chosen)
        done |= set(chosen)
    yield from _by_rows(columns, sizes, counts, stars, [one for one in _subsets(columns, max_size) if one not in done])


def _subsets(names: Iterable[str], max_size: int) -> list[Subset]:
    """All sets of at most `max_size` columns, small ones first."""
    return [subset for size in range(1, max_size + 1) for subset in combinations(names, size)]


def _tabled(sizes: Mapping[str, int], rows: int, max_size: int) -> Iterator[Subset]:
    """Sets of columns that share a table of counts, which together hold the sets of few combinations.

    A table gains the column with which it holds most further sets, as long as its sums take no longer than its rows.
    """
    most = min(rows // 2, _CELLS)
    left = {
        frozenset(subset): subset
        for subset in reversed(_subsets(sizes, max_size))
        if prod(sizes[name] for name in subset) <= most
    }

    def gain(names: Subset, name: str) -> int:
        sums = sum(comb(len(names) + 1, size) for size in range(1, max_size + 1))
        cells = prod(sizes[one] for one in (*names, name))
        fits = name not in names and cells <= min(_CELLS, _SUMS * rows // sums)
        return sum(frozenset((*part, name)) in left for part in combinations(names, max_size - 1)) if fits else 0

    while left:
        names = next(iter(left.values()))
        while gain(names, best := max(sizes, key=partial(gain, names))):
            names = tuple(name for name in sizes if name in (*names, best))
        yield names
        for subset in _subsets(names, max_size):
            left.pop(frozenset(subset), None)


def _in_one_table(
    columns: Mapping[str, Integers],
    sizes: Mapping[str, int],
    weights: Floats | None,
    stars: Mapping[str, int],
    subsets: Sequence[Subset],
) -> Iterator[tuple[Subset, Integers]]:
    """Minimal sets among some, from the number of records with each combination of all columns.

    Where a combination has one record, the sum of the positions of its rows is the position of that record's row. Most
    tables have no such combination, and need no positions.
    """
    shape = [sizes[name] for name in columns]
    rows = next(iter(columns.values())).size
    joint, bound = joint_codes([(codes, sizes[name]) for name, codes in columns.items()], rows)
    records = np.bincount(joint, weights, minlength=bound).reshape(shape)
    if not (records == 1).any():
        return
    positions: Any = None
    axes = {name: axis for axis, name in enumerate(columns)}
    unique: dict[Subset, Booleans] = {(): np.array(records.sum() == 1)}
    for subset in _subsets(columns, max(map(len, subsets), default=0)):
        others = tuple(axis for name, axis in axes.items() if name not in subset)
        unique[subset] = records.sum(axis=others, keepdims=True) == 1
        for name in stars.keys() & set(subset):
            np.moveaxis(unique[subset], axes[name], 0)[stars[name]] = False
        minimal = unique[subset] & ~reduce(
            np.logical_or, [unique[part] for part in combinations(subset, len(subset) - 1)]
        )
        if subset in subsets and minimal.any():
            if positions is None:
                positions = np.bincount(joint, np.arange(rows), minlength=bound).reshape(shape)
            yield subset, np.sort(positions.sum(axis=others, keepdims=True)[minimal].astype(np.intp))


def _by_rows(
    columns: Mapping[str, Integers],
    sizes: Mapping[str, int],
    counts: Integers,
    stars: Mapping[str, int],
    subsets: Sequence[Subset],
) -> Iterator[tuple[Subset, Integers]]:
    """Minimal sets among some, small ones first, from whether a set makes each row of one record unique."""
    alone = np.flatnonzero(counts == 1)
    weights = None if alone.size == counts.size else counts
    covered: dict[Subset, Booleans] = {(): np.full(alone.size, counts.sum() == 1)}

    def unique(subset: Subset) -> Booleans:
        joint, bound = joint_codes([(columns[name], sizes[name]) for name in subset], counts.size)
        found: Booleans = np.bincount(joint, weights, minlength=bound)[joint[alone]] == 1
        unstarred = (columns[name][alone] != stars[name] for name in stars.keys() & set(subset))
        return np.asarray(np.logical_and.reduce([found, *unstarred]))

    for subset in subsets:
        parts = list(combinations(subset, len(subset) - 1))
        covered |= {part: unique(part) for part in parts if part not in covered}
        before = reduce(np.logical_or, [covered[part] for part in parts])
        fresh = before if before.all() else unique(subset) & ~before
        if not before.all() and fresh.any():
            yield subset, alone[fresh]
        if len(subset) < len(subsets[-1]):
            covered[subset] = fresh | before


def suda_scores(frame: pd.DataFrame, quasi_identifiers: Sequence[str], *, max_size: int = 3) -> Floats:
    """SUDA scores: a row's score grows with the number of its minimal sample uniques, and with their smallness.

    Parameters and errors are those of `minimal_sample_uniques`.

    Returns
    -------
    ndarray of float, shape (n,)
        0 for a row without a minimal sample unique of at most `max_size` columns.

    Notes
    -----
    With m columns and M = min(max_size, m - 1), a minimal sample unique of k columns adds
    (m - k) (m - k - 1) … (m - M) = (m - k)! / (m - 1 - M)!, which is 1 where k = m. This is about the number of ways in
    which larger sets contain it.

    References
    ----------
    Elliot, Manning and Ford (2002), section 3.
    """
    scores = np.zeros(len(frame))
    m = len(quasi_identifiers)
    rest = m - 1 - min(max_size, m - 1)
    for subset, rows in minimal_sample_uniques(frame, quasi_identifiers, max_size=max_size):
        scores[rows] += factorial(m - len(subset)) / factorial(rest)
    return scores
