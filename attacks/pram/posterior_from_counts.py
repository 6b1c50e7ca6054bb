"""Exact posterior of the record behind a released row, for an adversary who knows the whole table.

The table's n records are randomized independently and shuffled uniformly. The probability that row i is record j is a
ratio of permanents: the sum of prod_rows P(row | its record) over the one-to-one assignments that map i to j, divided
by the sum over all assignments. Equal rows and equal records are exchangeable, so only counts matter.

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

from metrics.columns import Array, Integers, refuse, require

MOST_STEPS = 100_000_000
"""Largest number of additions for the posterior of a general table."""


def posterior_from_counts(likelihood: Array, released: Integers, records: Integers) -> Array:
    """Posterior probability that a row of value x stems from a record of value y, from the counts of both sides.

    Parameters
    ----------
    likelihood : ndarray, shape (X, Y)
        Probability of released value x under record value y; floats, or fractions in an array of objects.
    released : ndarray of int, shape (X,)
        Number of rows of each released value; positive.
    records : ndarray of int, shape (Y,)
        Number of records of each value; positive, with the same sum.

    Returns
    -------
    ndarray, shape (X, Y)
        Numbers of the likelihood's type.

    Raises
    ------
    ValueError
        If the sums differ, the release is impossible for the table, or there are too many counts to enumerate.
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

    Parameters
    ----------
    law : ndarray, shape (n_1 + 1, n_2 + 1, ...)
        Probability of each vector of counts, for all values except the last; larger counts are left out.
    weights : ndarray, shape (values,)
        Probability of each value; there is one value more than `law` has axes.
    """
    updated: Array = law * weights[-1]
    for axis in range(law.ndim):
        up = [slice(None)] * law.ndim
        down = [slice(None)] * law.ndim
        up[axis], down[axis] = slice(1, None), slice(None, -1)
        updated[tuple(up)] += law[tuple(down)] * weights[axis]
    return updated
