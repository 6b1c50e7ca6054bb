"""PrivBayes: differentially private synthetic rows from a Bayesian network."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations

import numpy as np
from numpy.random import Generator

from defenses.base import Guarantee, Microdata, MicrodataDefense, MicrodataRelease, project_to_simplex
from defenses.dp import DiscreteLaplace, Exponential
from defenses.synthetic.graphical import (
    INDEPENDENT,
    Columns,
    CountedColumns,
    DrawnCodes,
    Placement,
    combined,
    drawn_release,
    rounded,
)
from defenses.synthetic.row_synthesizer import Zeros, check_public_domains, check_structural_zeros
from metrics.columns import Floats, Integers, check_integer, check_real, refuse

# Parents of the columns of a Bayesian network: possible sets, and scores of low sensitivity.

SCORE_SENSITIVITY = 3
"""Largest change of `dependence` when one record is replaced."""


def maximal_parent_sets(sizes: Mapping[int, int], cells: float, degree: int) -> list[Columns]:
    """Sets of columns that have at most `cells` combinations of values and to which no further column can be added.

    The empty set is the answer where no column fits.

    - sizes: Number of values of each possible parent.
    - degree: Largest number of parents, at least 0.

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


MOST_CELLS = 100_000
"""Largest number of cells of a joint distribution of several columns."""
MOST_OPTIONS = 100_000
"""Largest number of combinations of a column with parents; with many columns, the degree is lower than declared."""
LEAST_EPSILON = 2.0**-20
"""Smallest epsilon of a single choice or measurement."""
# Rounding never makes the parts of the budget exceed the whole.
BELOW = 1 - 2.0**-50
# Noisy totals that lie fewer standard deviations of their noise below n count as n.
DEVIATIONS = 3.0


class PrivBayes(MicrodataDefense):
    """PrivBayes: differentially private synthetic rows from a Bayesian network of bounded degree.

    There are as many rows as records. Numbers are counted by public bins and drawn uniformly inside a bin.

    Parameters
    ----------
    epsilon : float
        Privacy parameter epsilon, positive.
    degree : int
        Largest number of parents of a column, at least 1. It is lowered where columns and parents could be combined in
        more than 100,000 ways. Three parents are possible for up to 29 columns, and two for up to 59.
    usefulness : float
        Smallest ratio theta of the mean count of a joint distribution's cells to the scale of their noise, positive. It
        limits the number of cells, and so the parents.
    structure_share : float
        Share of epsilon with which the network is chosen, in (0, 1).
    structural_zeros : sequence of mapping of str to str
        Combinations of cells that cannot occur, in the grammar of `metrics.columns.cells`. They are public. Rows that
        hold one are drawn again.

    Raises
    ------
    ValueError
        If a parameter is out of range; on `apply`, if a released column has no declared domain.
        On `apply`, if a structural zero cannot be read or avoided, or `epsilon` is too small to be divided among the
        columns.

    Warns
    -----
    UserWarning
        If epsilon is too small to measure any pair of columns. They are then released independently.

    Notes
    -----
    Reads before its noise. Public: the number of records, names and order of the released columns, declared domains and
    their types, including whether numbers are integers. Protected: all values, and which of them are missing.

    1. A random column comes first. Each further column and its parents, a set of earlier columns, are chosen together
       by the exponential mechanism. The score is the total variation distance from independence, times n. Replacing a
       record moves it by 3 at most (`defenses.synthetic.priv_bayes`). The d - 1 choices share
       `structure_share` of epsilon.
    2. The joint counts of each column with its parents get discrete Laplace noise (L1 sensitivity 2) and are projected
       to a distribution. Counts that other joint counts contain are sums of these. The m measured ones share the rest
       of epsilon.
    3. Rows are drawn in the order of the network, by column-wise rounding.

    The choices and measurements compose to epsilon in sequence, with delta 0; the third step is post-processing. n is
    public. With d columns and epsilon_2 for step 2, counts of c cells have the mean n / c and noise of scale
    2 d / epsilon_2. So the parent sets of step 1 are the maximal ones with
    c <= n epsilon_2 / (2 d theta). If no pair of columns has so few cells, all of epsilon goes to step 2.

    Missing values and categories outside the domain are not counted and never released. Noise and choices are drawn
    exactly (`defenses.dp.exact`). No row stems from a record, and there is no channel. Two parts of the paper are left
    out: parents at a coarser level of their hierarchy, and the mutual consistency of the joint counts.

    References
    ----------
    Zhang, Cormode, Procopiuc, Srivastava and Xiao (2017), PrivBayes: private data release via Bayesian networks,
    ACM Transactions on Database Systems 42 (4), article 25 (the score R, theta-usefulness, maximal parent sets).

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from defenses import Microdata, PrivBayes
    >>> from metrics import CategoricalDomain
    >>> domains = {"smokes": CategoricalDomain(("no", "yes")), "coughs": CategoricalDomain(("no", "yes"))}
    >>> frame = pd.DataFrame({"smokes": ["no", "yes"] * 200, "coughs": ["no", "yes"] * 200})
    >>> released = PrivBayes(epsilon=2.0).apply(Microdata(frame, domains=domains), np.random.default_rng(0)).frame
    >>> bool((released["smokes"] == released["coughs"]).mean() > 0.9)
    True
    """

    called = ("PrivBayes", "Bayesian network", "DataSynthesizer")

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        degree: int = 3,
        usefulness: float = 4.0,
        structure_share: float = 0.3,
        structural_zeros: Zeros = (),
    ) -> None:
        self.epsilon = check_real("epsilon", epsilon, low=LEAST_EPSILON, high=2.0**20)
        self.degree = check_integer("degree", degree, low=1)
        self.usefulness = check_real("usefulness", usefulness, low=0, open_low=True)
        self.structure_share = check_real(
            "structure_share", structure_share, low=0, high=1, open_low=True, open_high=True
        )
        self.structural_zeros = check_structural_zeros(structural_zeros)

    def guarantee(self, records: Microdata) -> Guarantee:
        """Return the epsilon of the whole table."""
        check_public_domains(records, self.structural_zeros)
        columns = max(2, len(records.released_columns))
        least = float(self.epsilon) * min(self.structure_share / (columns - 1), (1 - self.structure_share) / columns)
        refuse(
            least * BELOW < LEAST_EPSILON,
            f"epsilon is too small to be divided among {columns} columns, got {self.epsilon!r}",
        )
        return Guarantee(
            epsilon=float(self.epsilon),
            statement="one record replaced by any other, number of records and declared domains public",
        )

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Choose the network, measure its joint counts and draw the rows."""
        self.guarantee(records)

        def fit(table: CountedColumns) -> DrawnCodes:
            return partial(_rows, *self._measured(table, rng), table.sizes)

        return drawn_release(records, self.structural_zeros, fit, {}, rng)

    def _measured(
        self, table: CountedColumns, rng: Generator
    ) -> tuple[list[tuple[int, Columns]], dict[Columns, Floats]]:
        """Choose the network, and measure joint counts; both together cost epsilon."""
        columns = len(table.sizes)
        rest = float(self.epsilon) * (1 - self.structure_share)
        cells = min(MOST_CELLS, table.n * rest / (2 * columns * self.usefulness))
        if any(a * b <= cells for a, b in combinations(table.sizes, 2)):
            choice = float(self.epsilon) * self.structure_share / (columns - 1) * BELOW
            network = self._network(table, cells, choice, rng)
        else:
            if columns > 1:
                warnings.warn(f"{type(self).__name__}: {INDEPENDENT}", stacklevel=5)
            network, rest = [(column, ()) for column in range(columns)], float(self.epsilon)
        sets = {tuple(sorted((*parents, column))) for column, parents in network}
        largest = sorted(one for one in sets if not any(set(one) < set(other) for other in sets))
        return network, {one: _noisy(table, one, rest / len(largest) * BELOW, rng) for one in largest}

    def _network(
        self, table: CountedColumns, cells: float, epsilon: float, rng: Generator
    ) -> list[tuple[int, Columns]]:
        """Choose columns with their parents one after the other; each choice costs epsilon."""
        first = int(rng.integers(len(table.sizes)))
        network: list[tuple[int, Columns]] = [(first, ())]
        waiting = [column for column in range(len(table.sizes)) if column != first]
        scores: dict[tuple[int, Columns], float] = {}
        degree = self._degree(len(table.sizes))
        while waiting:
            sizes = {column: table.sizes[column] for column, _ in network}
            sets = {
                size: maximal_parent_sets(sizes, cells / size, degree)
                for size in {table.sizes[column] for column in waiting}
            }
            options = [(column, parents) for column in waiting for parents in sets[table.sizes[column]]]
            for option in options:
                if option not in scores:
                    scores[option] = dependence(table, *option) if option[1] else 0.0
            chosen = options[self._selected(np.array([scores[option] for option in options]), epsilon, rng)]
            network.append(chosen)
            waiting.remove(chosen[0])
        return network

    def _degree(self, columns: int) -> int:
        """Largest number of parents for which columns and parents can be combined in at most `MOST_OPTIONS` ways."""
        possible = range(2, min(int(self.degree), columns - 1) + 1)
        return max((k for k in possible if columns * math.comb(columns - 1, k) <= MOST_OPTIONS), default=1)

    def _selected(self, scores: Floats, epsilon: float, rng: Generator) -> int:
        """Position of an option chosen by the exponential mechanism."""
        return int(Exponential(epsilon=epsilon, sensitivity=SCORE_SENSITIVITY).release(scores, rng))


def _noisy(table: CountedColumns, columns: Columns, epsilon: float, rng: Generator) -> Floats:
    """Joint distribution from counts with discrete Laplace noise, one axis for each column."""
    counts = table.counts(columns).astype(np.int64)
    noise = DiscreteLaplace(epsilon=epsilon, sensitivity=2)
    noisy = np.asarray(noise.release(counts.ravel(), rng), dtype=float)
    total = float(noisy.sum())
    # Where values are missing, the total is smaller than n; only shares matter for the rows.
    missing = table.n - total > DEVIATIONS * math.sqrt(noisy.size * noise.variance)
    return project_to_simplex(noisy, max(total, 1.0) if missing else table.n).reshape(counts.shape)


def _rows(
    network: Sequence[tuple[int, Columns]],
    joints: Mapping[Columns, Floats],
    sizes: Columns,
    rows: int,
    rng: Generator,
) -> list[Integers]:
    """Draw the value of each column for each row, in the order of the network."""
    drawn = [np.zeros(rows, dtype=np.intp) for _ in sizes]
    for column, parents in network:
        given = combined([drawn[parent] for parent in parents], [sizes[parent] for parent in parents], rows)
        drawn[column] = rounded(_conditional(joints, column, parents, sizes), given, rng)
    return drawn


def _conditional(joints: Mapping[Columns, Floats], column: int, parents: Columns, sizes: Columns) -> Floats:
    """Weights of a column's values given those of its parents, shape (combinations, values)."""
    wanted = (*parents, column)
    measured = next(columns for columns in joints if set(wanted) <= set(columns))
    weights = Placement(wanted, measured, sizes).summed(joints[measured]).reshape(-1, sizes[column])
    # Combinations of parents that the noise has emptied take the column's own distribution.
    return np.asarray(np.where(weights.sum(axis=1, keepdims=True) > 0, weights, weights.sum(axis=0)))
