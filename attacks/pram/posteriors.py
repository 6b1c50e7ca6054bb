"""Posteriors of original values under PRAM: from a matrix that leaks its histogram, and from released counts.

An adversary knows the whole table. Its n records are randomized independently and shuffled uniformly. The probability
that row i is record j is a ratio of permanents: the sum of prod_rows P(row | its record) over the one-to-one
assignments that map i to j, divided by the sum over all assignments. Equal rows and equal records are exchangeable, so
only counts matter.

Independent form: every row independently draws a record value, y with probability w[x, y] proportional to
m_y P(x | y), where m_y is the number of records of value y. Condition on every value being drawn as often as it has
records. The draws are then distributed as in the random assignment: each assignment of values stands for prod m_y!
assignments of records, and factors of m_y and of a row's total cancel. Hence

    Pr(row of value x has record value y) is proportional to w[x, y] Pr(the other rows draw the counts m - 1_y).

The last probabilities come from adding rows one by one (a Poisson multinomial distribution). Only sums, products and
quotients are used, so exact fractions remain exact.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import ArrayLike

from attacks.base import Attack, Knowledge, NotApplicable, RankedAnswers, cell_codes, column_matrix, given, values
from defenses.base import Microdata, MicrodataRelease
from metrics.columns import Array, Floats, Integers, check_choice, check_real, refuse, require


def histogram_from_matrix(matrix: ArrayLike) -> Floats:
    """Relative counts of the categories, read from a transition matrix that is optimal for their histogram.

    For optimal flip probabilities q_i = 1 - P[i, i] away from their bounds, v_i q_i is the same for all categories. So
    counts are proportional to 1/q_i. The two smallest and the two largest q, and their ties, may be at a bound.

    Parameters
    ----------
    matrix : array_like, shape (d, d)
        Probability of each released category (row) under each original one (column).

    Returns
    -------
    ndarray, shape (d,)
        1/q_i, scaled to a sum of 1 over the categories that can be read; NaN for those that may be at a bound. The
        numbers are meaningful only if the matrix is tuned to the records.

    Raises
    ------
    ValueError
        If `matrix` is not square.

    References
    ----------
    Miura and Hasegawa, section 5.2.2, for the publication of the matrix.
    """
    array = np.asarray(matrix, dtype=float)
    refuse(
        array.ndim != 2 or array.shape[0] != array.shape[1],
        f"matrix must be square with one row and one column per category, got shape {array.shape}",
    )
    flips = 1 - np.diag(array)
    if flips.size < 5:
        return np.full(flips.size, np.nan)
    ranked = np.sort(flips)
    slack = 1e-12 * ranked[-1]
    free = (flips > ranked[1] + slack) & (flips < ranked[-2] - slack)
    shares = np.full(flips.size, np.nan)
    shares[free] = 1 / flips[free]
    shares[free] /= shares[free].sum()
    return shares


TABLES = ("worst", "drawn")


class BestPosterior(Attack):
    """Answer the pair of row and record with the largest exact posterior, knowing the whole table.

    This is the optimal attack on a given table, since a pair wins with the probability of its posterior.

    Parameters
    ----------
    table : {"worst", "drawn"}
        "worst": the adversary picks the table that the mechanism protects least. One record is alone in its category,
        and all others share one other category. "drawn": the table is drawn from real records.

    Raises
    ------
    ValueError
        If `table` is unknown.

    References
    ----------
    Miura and Hasegawa, appendix A.1, for the game; Ikarashi, Kikuchi, Chida and Takahashi (2015), k-anonymous microdata
    release via post randomisation method, for Pk-anonymity.
    """

    goal = "pk"

    def __init__(self, *, table: str = "worst") -> None:
        self.table = check_choice("table", table, TABLES)

    def choose(self, knowledge: Knowledge, rng: Generator) -> pd.DataFrame | None:
        """Worst table under the matrix that the defense discloses when it is simulated on a table of this form.

        Raises
        ------
        NotApplicable
            If the mechanism is unknown or has no transition matrix.
        """
        if self.table == "drawn":
            return None
        simulate = given(knowledge.simulate, "the worst table requires knowledge of the mechanism")
        column, count = str(knowledge.candidates.columns[0]), len(knowledge.candidates)
        domain = knowledge.auxiliary.domain(column)
        table = _lone_record(knowledge.auxiliary, column, 0, min(1, domain.size - 1), count)
        matrix = column_matrix(simulate(table, rng).channel, column, domain)
        alone, others, _ = most_informative_pair(matrix)
        return _lone_record(knowledge.auxiliary, column, alone, others, count).frame

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> RankedAnswers:
        """Answer one row and one record with their posterior as score, ties at random, or abstain.

        Raises
        ------
        NotApplicable
            If the release discloses no transition matrix, or the table has too many matchings.
        """
        column = str(knowledge.candidates.columns[0])
        domain = knowledge.auxiliary.domain(column)
        matrix = column_matrix(release.channel, column, domain)
        cells, rows = np.unique(cell_codes(release.frame[column], domain), return_inverse=True)
        categories, records = np.unique(domain.codes(knowledge.candidates[column]), return_inverse=True)
        likelihood = matrix[np.ix_(cells, categories)]
        try:
            posteriors = posterior_from_counts(likelihood, np.bincount(rows), np.bincount(records))
        except ValueError as error:
            raise NotApplicable(str(error)) from None
        best = float(posteriors.max())
        if not self._answers(best, matrix, len(records)):
            return RankedAnswers(len(rows), len(records), *np.empty((3, 0)))
        cell, category = rng.choice(np.argwhere(posteriors == best))
        row, record = rng.choice(np.flatnonzero(rows == cell)), rng.choice(np.flatnonzero(records == category))
        return RankedAnswers(len(rows), len(records), np.array([row]), np.array([record]), np.array([best]))

    def _answers(self, best: float, matrix: Floats, count: int) -> bool:
        """Whether to answer rather than abstain."""
        return True


def most_informative_pair(matrix: Floats) -> tuple[int, int, float]:
    """Categories a, b with the largest ratio (P[x, a]/P[x, b]) / (P[y, a]/P[y, b]) over all releases x, y.

    Take one record in a and n - 1 in b. The release of one x among n - 1 of y gives the posterior 1/(1 + (n - 1)/ratio)
    that x is the lone record's. This is the largest posterior of any table.

    Returned are a, b and the ratio, which is 1 if no pair of categories can be distinguished.
    """
    alone, others, largest = 0, 0, 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        for a in range(len(matrix)):
            odds = matrix[:, [a]] / matrix
            # Releases that are impossible under both categories have no odds.
            spread = np.nanmax(odds, axis=0) / np.nanmin(odds, axis=0)
            b = int(np.argmax(spread))
            if spread[b] > largest:
                alone, others, largest = a, b, float(spread[b])
    return alone, others, largest


def _lone_record(records: Microdata, column: str, alone: int, others: int, count: int) -> Microdata:
    """Table whose first record has one category and whose other records all have another."""
    codes = np.full(count, others)
    codes[:1] = alone
    chosen = values(records.domain(column)).iloc[codes].reset_index(drop=True)
    return records.with_frame(pd.DataFrame({column: chosen}))


# Pk attack that answers only after informative releases.


class LeakagePosterior(BestPosterior):
    """Pick the worst table, and abstain unless the posterior is close to the largest of any release.

    The win rate among its answers is about the largest that Pk-anonymity allows. With many records, sufficiently
    informative releases practically never occur.

    Parameters
    ----------
    share : float
        Share of 1/k that a posterior must reach, in (0, 1]; k is the matrix's exact Pk-anonymity.

    Raises
    ------
    ValueError
        If `share` lies outside (0, 1].

    References
    ----------
    Miura and Hasegawa, appendix A.1, for the game.
    """

    def __init__(self, *, share: float = 0.95) -> None:
        super().__init__()
        self.share = check_real("share", share, low=0, high=1, open_low=True)

    def _answers(self, best: float, matrix: Floats, count: int) -> bool:
        _, _, ratio = most_informative_pair(matrix)
        # Rounding may put a posterior of exactly 1/k slightly below it.
        return best * (1 + 1e-9) >= self.share / (1 + (count - 1) / ratio)


MOST_STEPS = 100_000_000
"""Largest number of additions for the posterior of a general table."""


def posterior_from_counts(likelihood: Array, released: Integers, records: Integers) -> Array:
    """Posterior probability that a row of value x stems from a record of value y, from the counts of both sides.

    The result has shape (X, Y) and the likelihood's type. A ValueError is raised if the sums differ, the release is
    impossible for the table, or there are too many counts to enumerate.

    - likelihood, shape (X, Y): Probability of released value x under record value y; floats, or fractions in an array
      of objects.
    - released, shape (X,): Number of rows of each released value; positive.
    - records, shape (Y,): Number of records of each value; positive, with the same sum.
    """
    refuse(
        released.sum() != records.sum(),
        f"there are {released.sum()} rows and {records.sum()} records; they must be as many",
    )
    if records.size == 1:
        require(not (likelihood == 0).any(), "the release cannot stem from the table")
        return np.full((released.size, 1), 1 / (0 * likelihood[0, 0] + records[0]))
    if records.size == 2 and records.min() == 1:
        return _lone_record_posterior(likelihood, released, records)
    return _counted_posterior(likelihood, released, records)


def _lone_record_posterior(likelihood: Array, released: Integers, records: Integers) -> Array:
    """Posterior where one record has a value of its own and all others agree: r_x / sum_y c_y r_y, with r the odds."""
    alone = int(np.argmin(records))
    certain = likelihood[:, 1 - alone] == 0
    if certain.any():
        odds = np.where(certain, likelihood[:, alone], 0 * likelihood[:, alone])
        possible = released[certain].sum() == 1
    else:
        odds, possible = likelihood[:, alone] / likelihood[:, 1 - alone], True
    total = (released * odds).sum()
    require(possible and total != 0, "the release cannot stem from the table")
    result = np.empty_like(likelihood)
    result[:, alone] = odds / total
    result[:, 1 - alone] = (1 - result[:, alone]) / records[1 - alone]
    return result


def _counted_posterior(likelihood: Array, released: Integers, records: Integers) -> Array:
    # The count of the value `last` follows from the other counts, so it needs no axis.
    order = np.argsort(records, kind="stable")
    last, shape = order[-1], tuple(records[order[:-1]] + 1)
    refuse(
        float(np.prod([float(size) for size in shape])) * released.sum() * released.size * records.size > MOST_STEPS,
        f"a table of {records.sum()} records of {records.size} values has too many matchings",
    )
    weights = likelihood * records
    require(not (weights.sum(axis=1) == 0).any(), "the release cannot stem from the table")
    weights = weights / weights.sum(axis=1, keepdims=True)
    result = np.empty_like(weights)
    for x in range(released.size):
        others = np.repeat(np.arange(released.size), released - (np.arange(released.size) == x))
        law = np.full(shape, 0 * weights[0, 0])
        law[(0,) * len(shape)] = law[(0,) * len(shape)] + 1
        for row in others:
            law = with_row(law, weights[row, order])
        result[x, last] = weights[x, last] * law[tuple(records[order[:-1]])]
        for axis, y in enumerate(order[:-1]):
            missing = records[order[:-1]] - (np.arange(len(shape)) == axis)
            result[x, y] = weights[x, y] * law[tuple(missing)]
    totals = result.sum(axis=1, keepdims=True)
    require(not (totals == 0).any(), "the release cannot stem from the table")
    return np.asarray(result / totals / records)


def with_row(law: Array, weights: Array) -> Array:
    """Distribution of counts after one more row has drawn its value.

    - law, shape (n_1 + 1, n_2 + 1, ...): Probability of each vector of counts, for all values except the last; larger
      counts are left out.
    - weights, shape (values,): Probability of each value; there is one value more than `law` has axes.
    """
    updated: Array = law * weights[-1]
    for axis in range(law.ndim):
        np.moveaxis(updated, axis, 0)[1:] += np.moveaxis(law, axis, 0)[:-1] * weights[axis]
    return updated
