"""Special uniques (SUDA): minimal sets of columns that make a record unique."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd

from metrics.classes import class_sizes, joint_codes, require_columns
from metrics.columns import SUPPRESSED, Booleans, Floats, Integers, check_integer, require

Subset = tuple[str, ...]


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
    A set of columns makes a row unique if any of its subsets does. The search goes level by level. A set is minimal for
    the rows that it makes unique and that no subset with one column less makes unique. This is one pass over the rows
    for each set.

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
    yield from minimal_unique_sets(columns, np.ones(len(frame), dtype=np.intp), suppressed, max_size=max_size)


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
    """Minimal sample uniques of rows that stand for several records each.

    Parameters
    ----------
    columns : mapping of str to ndarray of int, each of shape (n,)
        Code of each row in each column, at least 0.
    counts : ndarray of int, shape (n,)
        Number of records that each row stands for, at least 1.
    suppressed : mapping of str to int, optional
        Code of ``*`` in the columns that hold it. A set makes no row unique whose cell there is ``*``.
    max_size : int
        Largest number of columns in a set.

    Yields
    ------
    columns : tuple of str
        A set of columns, small sets first.
    rows : ndarray of int
        The rows of one record for which the set is minimal, at least one row.
    """
    alone = np.flatnonzero(counts == 1)
    weights = None if alone.size == counts.size else counts
    sizes = {name: int(codes.max(initial=0)) + 1 for name, codes in columns.items()}
    hidden = {name: columns[name][alone] == code for name, code in (suppressed or {}).items()}
    covered: dict[Subset, Booleans] = {(): np.full(alone.size, counts.sum() == 1)}
    for size in range(1, min(max_size, len(columns)) + 1):
        singled = {}
        for subset in combinations(columns, size):
            joint, bound = joint_codes([(columns[name], sizes[name]) for name in subset], counts.size)
            unique = np.bincount(joint, weights, minlength=bound)[joint[alone]] == 1
            for name in subset:
                if name in hidden:
                    unique &= ~hidden[name]
            before = np.logical_or.reduce([covered[part] for part in combinations(subset, size - 1)])
            rows = alone[unique & ~before]
            if rows.size:
                yield subset, rows
            singled[subset] = unique | before
        covered = singled


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
