"""Optimal protocols without one retention probability per category, and PRAM with the most informative matrix.

With all d (d - 1) entries free, the distance |P v - v| is degenerate. The matrix with every column v/N has distance 0
and epsilon 0 and reveals nothing about any record, but its column is the histogram. Protocols are therefore judged by
the utility of their reports: variance of the unbiased estimate, or mutual information with the original.

A protocol is a matrix Q of shape (outputs, d) whose columns sum to 1. It is epsilon-private if every row is a multiple
of a pattern of entries between 1 and e = exp(epsilon). Both measures are sums over rows of a convex function that is
homogeneous of degree 1. Splitting a row into extreme patterns, whose entries are 1 or e ("staircase"), therefore does
not reduce them. So the best protocol weights the 2^d staircase patterns s_k: with weights w >= 0, sum w_k s_k = 1.

- Mutual information is linear in w: a linear program. A basic solution has at most d outputs, so it is a d x d matrix.
- The Fisher information of the counts, sum w_k s_k s_k' / (s_k' v), is linear in w. The variance is the trace of its
  inverse: a convex program, whose solution may need more outputs than categories.

Source: Kairouz, Oh and Viswanath (2016), Theorems 4 and 6, for the patterns and the linear program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import Self

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment, linprog

from defenses.base import (
    BlockwiseDefense,
    Channel,
    Guarantee,
    Microdata,
    RecordsInBlocks,
    ReleasePlan,
    TransitionTable,
    category_count,
    check_columns,
    chosen_columns,
    public_or_filled,
)
from defenses.pram.matrix import (
    check_epsilon,
    check_histogram,
    check_prior,
    epsilon,
    pk,
    prior_counts,
    public_tables,
    retention_for_epsilon,
    retention_pk,
    transition_matrix,
    unless_public,
)
from defenses.pram.randomized import Categories, Transitions, randomized
from metrics.columns import Floats, check_integer, check_real, refuse, require

MOST_CATEGORIES = 10
"""Largest number of categories for the program of `least_variance_protocol`."""

MOST_ENUMERATED = 12
"""Largest number of categories for the linear program of `most_informative_matrix`."""

SMALLEST_EPSILON = 0.01
"""Smallest epsilon for which the program of least variance is regular enough for its solver."""


def degenerate_matrix(histogram: ArrayLike) -> Floats:
    """Matrix with every column v/N: P v = v and, as a fixed matrix, epsilon 0; it publishes the histogram itself.

    Raises ValueError if the histogram is refused.
    """
    counts = check_histogram(histogram)
    return np.tile((counts / counts.sum())[:, None], counts.size)


def subset_selection(d: int, epsilon: float) -> Floats:
    """Subset selection: the report is a set of w categories, e times as likely if it contains the original one.

    It is optimal for uniform histograms, with w near d/(e + 1). For w = 1 it is retention-replacement.

    - d: Number of categories, at least 2.
    - returns shape (C(d, w), d): Columns sum to 1.

    Raises ValueError if `d` or `epsilon` is refused, or there are more than a million sets.

    Notes
    -----
    Source: Ye and Barg (2018).
    """
    check_integer("d", d, low=2)
    check_epsilon(epsilon)
    e = float(np.exp(min(epsilon, 700.0)))
    w = max(1, round(d / (e + 1)))
    refuse(comb(d, w) * d > 10**7, f"d must be smaller: {d} categories have {comb(d, w)} sets of {w}")
    members = np.array(list(combinations(range(d), w)))
    rows = np.ones((len(members), d))
    np.put_along_axis(rows, members, e, axis=1)
    return np.asarray(rows / rows[:, 0].sum())


def estimation_variance(protocol: ArrayLike, histogram: ArrayLike) -> float:
    """Total variance of the best linear unbiased estimate of the histogram from reports, summed over categories.

    For reports y with expectation Q v it is the trace of (Q' diag(1/(Q v)) Q)^-1 minus the number of records. For a
    square matrix the estimate is Q^-1 y. Infinite where no unbiased estimate exists. Raises ValueError if an argument
    is refused or sizes differ.
    """
    matrix, counts = _checked(protocol, histogram)
    rows = matrix[matrix @ counts > 0]
    information = (rows / (rows @ counts)[:, None]).T @ rows
    if np.linalg.cond(information) > 1e14:
        return float("inf")
    return float(np.trace(np.linalg.inv(information)) - counts.sum())


def mutual_information(protocol: ArrayLike, histogram: ArrayLike) -> float:
    """Mutual information, in nats, between a record drawn from the histogram and its report.

    Raises ValueError if an argument is refused or sizes differ.
    """
    matrix, counts = _checked(protocol, histogram)
    return float(_row_information(matrix, counts / counts.sum()).sum())


def most_informative_matrix(histogram: ArrayLike, epsilon: float) -> Floats:
    """Transition matrix with the largest mutual information under epsilon, for at most 12 categories.

    It has at most d outputs. They are labelled so that as many records as possible keep their category; unused rows
    are zero.

    - histogram of shape (d,): A public histogram: the matrix reveals it.
    - epsilon: Positive and at most 30.

    Raises ValueError if an argument is refused or there are too many categories.
    """
    counts, patterns = _patterns(histogram, epsilon, MOST_ENUMERATED)
    gains = _row_information(patterns, counts / counts.sum())
    # Scaled, because the solver's tolerance is absolute and gains are tiny at small epsilon.
    solution = linprog(
        -gains / max(gains.max(), np.finfo(float).tiny), A_eq=patterns.T, b_eq=np.ones(counts.size), method="highs-ds"
    )
    weights = np.asarray(solution.x, dtype=float)
    used = np.flatnonzero(weights > 0)
    rows = _settled(weights[used, None] * patterns[used], epsilon)
    output, category = linear_sum_assignment(rows * counts, maximize=True)
    matrix = np.zeros((counts.size, counts.size))
    matrix[category] = rows[output]
    return matrix


def least_variance_protocol(histogram: ArrayLike, epsilon: float) -> Floats:
    """Protocol with the smallest `estimation_variance` under epsilon, for at most 10 categories.

    - histogram of shape (d,): A public histogram: the protocol reveals it.
    - epsilon: At least .01 and at most 30; below, the program is nearly singular.
    - returns shape (outputs, d): Columns sum to 1; there may be more outputs than categories.

    Raises ValueError if an argument is refused or there are too many categories. Raises ModuleNotFoundError if CVXOPT
    is not installed.
    """
    import cvxopt

    counts, patterns = _patterns(histogram, epsilon, MOST_CATEGORIES)
    size, d = patterns.shape
    shares = counts / counts.sum()
    scaled = patterns / np.sqrt(patterns @ shares)[:, None]

    def objective(x: object = None, z: object = None) -> object:
        """Trace of the inverse information, its gradient and Hessian; None outside of its domain."""
        if x is None:
            return 0, cvxopt.matrix(1 / patterns.sum(axis=0).mean(), (size, 1))
        information = scaled.T @ (np.array(x) * scaled)
        if np.linalg.eigvalsh(information)[0] <= 1e-14:
            return None
        inverse = np.linalg.inv(information)
        once = scaled @ inverse @ scaled.T
        twice = scaled @ inverse @ inverse @ scaled.T
        value, slope = cvxopt.matrix(np.trace(inverse)), cvxopt.matrix(-np.diag(twice)).T
        return (value, slope) if z is None else (value, slope, z[0] * cvxopt.matrix(2 * once * twice))  # type: ignore[index]

    refuse(epsilon < SMALLEST_EPSILON, f"epsilon must be at least {SMALLEST_EPSILON:g} for this program, got {epsilon}")
    solution = cvxopt.solvers.cp(
        objective,
        G=cvxopt.spdiag([-1.0] * size),
        h=cvxopt.matrix(0.0, (size, 1)),
        A=cvxopt.matrix(patterns.T),
        b=cvxopt.matrix(1.0, (d, 1)),
        options={"show_progress": False, "abstol": 1e-9, "reltol": 1e-9, "feastol": 1e-9},
    )
    weights = np.array(solution["x"]).ravel()
    used = weights > 1e-7 * weights.max()
    return _settled(weights[used, None] * patterns[used], epsilon)


def _settled(protocol: Floats, epsilon: float) -> Floats:
    """Protocol with columns that sum to 1 exactly, mixed with each row's mean just enough to be epsilon-private."""
    settled: Floats = protocol / protocol.sum(axis=0)
    means = settled.mean(axis=1, keepdims=True)
    share = 0.0
    mixed = settled
    while np.log(mixed.max(axis=1) / mixed.min(axis=1)).max() > epsilon:
        share = max(2 * share, 2.0**-52)
        mixed = (1 - share) * settled + share * means
    return mixed


def _patterns(histogram: ArrayLike, epsilon: float, most: int) -> tuple[Floats, Floats]:
    """Counts, and the staircase patterns, shape (2^d - 1, d); the pattern of ones also stands for its multiple of e."""
    counts = check_histogram(histogram)
    check_epsilon(epsilon)
    refuse(epsilon > 30, f"epsilon must be at most 30, got {epsilon}")
    require(counts.size <= most, f"histogram has {counts.size} categories; patterns are enumerated up to {most}")
    bits = (np.arange(2**counts.size - 1)[:, None] >> np.arange(counts.size)) & 1
    return counts, np.where(bits, np.exp(epsilon), 1.0)


def _row_information(rows: Floats, shares: Floats) -> Floats:
    """Sum over j of v_j r_j log(r_j / sum(v r)) for each row r."""
    expected = (rows @ shares)[:, None]
    ratio = np.divide(rows, expected, out=np.ones_like(rows), where=(rows > 0) & (expected > 0))
    return np.asarray((shares * rows * np.log(ratio)).sum(axis=1))


def _checked(protocol: ArrayLike, histogram: ArrayLike) -> tuple[Floats, Floats]:
    matrix, counts = np.asarray(protocol, dtype=float), check_histogram(histogram)
    require(
        matrix.ndim == 2 and matrix.shape[1] == counts.size,
        f"protocol must have {counts.size} columns, one a category, got shape {matrix.shape}",
    )
    require(
        ((matrix >= 0) & (matrix <= 1)).all() and np.allclose(matrix.sum(axis=0), 1, atol=1e-9),
        "protocol must hold probabilities whose columns sum to 1",
    )
    return matrix, counts


class OptimalMatrix(BlockwiseDefense):
    """PRAM with full freedom: the transition matrix of largest mutual information among all that epsilon allows.

    Other forms of PRAM keep a category with some probability and replace it uniformly. Here all d (d - 1) entries are
    free. Mutual information is that of a record and its release, if records follow a public histogram.

    Parameters
    ----------
    epsilon : float
        Epsilon of all columns of a record together, in (0, 30]; it is split evenly over the columns.
    prior : mapping of str to sequence of float, optional
        Public counts of each column's categories or bins, and of its missing values, if any. Columns without counts
        take equal ones.
    columns : sequence of str, optional
        All quasi-identifiers where not given.

    Raises
    ------
    ValueError
        If `epsilon` is out of range or a prior is not a histogram. On `apply` and `guarantee`, if a prior has another
        number of categories than its column.

    Notes
    -----
    The optimum is a linear program over the 2^d staircase patterns (see the module), solved for up to 12
    categories. A column with more of them takes retention-replacement, which is optimal for large epsilon.

    Reads before its noise. Public: the number of records, names and order of the columns, declared domains and their
    types, and the prior; that no value of a randomized column is missing (otherwise nothing holds). Protected:
    the values of the randomized columns. Columns that are not randomized are released as they are, without
    guarantee.

    Guarantee: the matrices do not depend on the records. Epsilon is the sum of the columns' log-ratios, and Pk follows
    from the spreads, both computed from the final matrices. A matrix made of the records themselves has no guarantee;
    the degenerate one with the histogram in every column publishes the histogram.

    References
    ----------
    Kairouz, Oh and Viswanath (2016), Extremal mechanisms for local differential privacy, theorems 4 and 6. Miura and
    Hasegawa, section 5.3, asks for matrices with more freedom.
    """

    randomizes_records_independently = True

    @classmethod
    def example(cls) -> Self:
        """Epsilon 1 and equal priors."""
        return cls(epsilon=1.0)

    def __init__(
        self,
        *,
        epsilon: float,
        prior: Mapping[str, Sequence[float]] | None = None,
        columns: Sequence[str] | None = None,
    ) -> None:
        self.epsilon = check_real("epsilon", epsilon, low=0, high=30, open_low=True)
        if prior is not None:
            check_prior(prior)
        self.columns = check_columns(columns)
        self.prior = prior

    def fit(self, records: RecordsInBlocks, rng: Generator) -> ReleasePlan:
        """The matrix of each column."""
        roles = records.counted
        matrices = self._matrices(roles)
        steps = [randomized([Categories.of(records, name)], Transitions.of(each)) for name, each in matrices.items()]
        parts = [
            TransitionTable(name, roles.domain(name), tuple(map(tuple, matrix.tolist())))
            for name, matrix in matrices.items()
        ]
        return ReleasePlan(steps, Channel(tuple(parts)))

    def guarantee(self, records: Microdata) -> Guarantee:
        """Epsilon and Pk of the randomized columns, computed from the matrices in use."""
        matrices = self._matrices(records)
        if nothing := unless_public(records, list(matrices)):
            return nothing
        # k = 1 + (n - 1) e^-spread for each column, and spreads of independent columns add up.
        spread = float(np.prod([_pk_of_two(matrix) - 1 for matrix in matrices.values()]))
        return Guarantee(
            epsilon=float(sum(epsilon(matrix) for matrix in matrices.values())),
            pk=1 + (len(records) - 1) * spread,
            statement=f"local, one record replaced by any other, of the columns {', '.join(matrices)} together, "
            f"{public_tables(list(matrices))}; other columns are released as they are",
        )

    def _matrices(self, records: Microdata) -> dict[str, Floats]:
        names = public_or_filled(records, chosen_columns(records, self.columns, records.quasi_identifiers))
        budget = float(self.epsilon) / max(1, len(names))
        return {name: _optimum(self._counts(name, category_count(records, name)), budget) for name in names}

    def _counts(self, name: str, categories: int) -> tuple[float, ...]:
        if self.prior is None or name not in self.prior:
            return (1.0,) * categories
        return tuple(prior_counts(self.prior, name, categories).tolist())


def _pk_of_two(matrix: Floats) -> float:
    """Pk of two records that are released through the matrix of one column."""
    # Many categories have retention-replacement, whose Pk does not take O(d^3).
    return pk(matrix, 2) if len(matrix) <= MOST_ENUMERATED else retention_pk(np.diagonal(matrix), 2)


@lru_cache(64)
def _optimum(counts: tuple[float, ...], budget: float) -> Floats:
    """The matrix of one column; shared between calls and therefore read-only."""
    d = len(counts)
    if d == 1:
        matrix = np.ones((1, 1))
    elif d <= MOST_ENUMERATED:
        matrix = most_informative_matrix(counts, budget)
    else:
        matrix = transition_matrix(np.full(d, retention_for_epsilon(budget, d)))
    matrix.setflags(write=False)
    return matrix
