"""Parents of the columns of a Bayesian network: possible sets, and scores of low sensitivity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from defenses.synthetic.counted_columns import Columns, CountedColumns
from metrics.arrays import Integers

SCORE_SENSITIVITY = 3
"""Largest change of `dependence` when one record is replaced."""


def maximal_parent_sets(sizes: Mapping[int, int], cells: float, degree: int) -> list[Columns]:
    """Sets of columns that have at most `cells` combinations of values and to which no further column can be added.

    The empty set is the answer where no column fits.

    Parameters
    ----------
    sizes : mapping of int to int
        Number of values of each possible parent.
    cells : float
        Largest number of combinations.
    degree : int
        Largest number of parents, at least 0.

    References
    ----------
    Zhang, Cormode, Procopiuc, Srivastava and Xiao (2017), PrivBayes: private data release via Bayesian networks
    (maximal parent sets).
    """
    ascending = sorted(sizes, key=lambda column: (sizes[column], column))
    return [tuple(sorted(parents)) for parents in _extended((), 1, ascending, 0, sizes, cells, degree)]


def _extended(
    parents: Columns,
    size: int,
    ascending: Sequence[int],
    start: int,
    sizes: Mapping[int, int],
    cells: float,
    degree: int,
) -> Iterator[Columns]:
    """Maximal sets that extend `parents` by columns from position `start` of the ascending ones."""
    smallest = next((column for column in ascending if column not in parents), None)
    if len(parents) == degree or smallest is None or size * sizes[smallest] > cells:
        yield parents
        return
    for position in range(start, len(ascending)):
        column = ascending[position]
        if size * sizes[column] > cells:
            return
        yield from _extended((*parents, column), size * sizes[column], ascending, position + 1, sizes, cells, degree)


def dependence(table: CountedColumns, column: int, parents: Columns) -> float:
    """Half the L1 distance of a column's joint counts with its parents from those of independence.

    Let c(x, p) be the number of records with the value x and the parents' values p. The score is
    R = 1/2 sum_{x, p} |c(x, p) - c(x) c(p) / n|. It is n times the total variation distance between the joint
    distribution and the product of its marginals. It is computed in integers and rounded once.

    Notes
    -----
    Replacing one record changes R by at most `SCORE_SENSITIVITY`. Proof. It moves the vectors of c(x, p), c(x) and
    c(p) by at most 2 in L1 norm. With a = c(x) and b = c(p), of L1 norm at most n, the product changes by
    |a'b' - ab| / n <= (|a' - a| |b'| + |a| |b' - b|) / n <= 4. Hence R changes by at most (2 + 4) / 2. Zhang et al.
    (2017) bound the change of R by 3 + 2/n.
    """
    joint = _integer_counts(table, (*parents, column)).reshape(-1, table.sizes[column])
    product = np.outer(_integer_counts(table, parents), _integer_counts(table, (column,)))
    return float(np.abs(table.n * joint - product).sum()) / (2 * table.n)


def _integer_counts(table: CountedColumns, columns: Columns) -> Integers:
    return table.counts(columns).astype(np.int64)
