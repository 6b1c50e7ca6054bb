"""Fidelity of a release: distances of distributions, and the propensity that tells its rows from the records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.random import Generator
from scipy import sparse

from metrics.columns import Booleans, Domain, Floats, NumericDomain, refuse, require
from metrics.profile import Profile, check_comparable, original_profile, profile


def propensity_mean_squared_error(
    original: pd.DataFrame, released: pd.DataFrame, domains: Mapping[str, Domain], *, order: int = 2
) -> float:
    """Propensity score mean squared error: mean squared distance of the scores from the share of released rows.

    A propensity score is the predicted probability that a row belongs to the released table.

    Parameters
    ----------
    original : DataFrame, shape (n, columns)
        Original values.
    released : DataFrame, shape (m, columns)
        Released cells.
    domains : mapping of str to Domain
        The columns to compare, with their public bins.
    order : {1, 2}
        With 1 the model has the single columns as features, with 2 also all pairs of columns. Without pairs it does not
        notice lost associations between columns.

    Returns
    -------
    float
        From 0, if the tables cannot be separated, to c (1 - c) with c = m / (n + m), if they can be separated
        perfectly; this maximum is 1/4 for tables of equal length.

    Raises
    ------
    ValueError
        If a table has no row, lacks a column, a cell cannot be read, or `order` is neither 1 nor 2.

    Notes
    -----
    The model is a logistic regression of "released" on the bins of every column. It has a ridge penalty of weight 1,
    since the bins are collinear; a generalized cell is spread over its bins. Suppose that there is no penalty, and that
    both tables are drawn from one distribution. The expected value is then about (p - 1) (1 - c)² c / (n + m) for p
    parameters. Small tables are therefore separated to some degree by chance.

    References
    ----------
    Woo, Reiter, Oganian and Karr (2009), Global measures of data utility for microdata masked for disclosure
    limitation, section 3; Snoke, Raab, Nowok, Dibben and Slavkovic (2018), General and specific utility measures for
    synthetic data.
    """
    from sklearn.linear_model import LogisticRegression

    require(order in (1, 2), f"order must be 1 or 2, got {order!r}")
    check_comparable(original, released, domains, "propensity needs")
    profiles = original_profile(original, domains), profile(released, domains)
    features = sparse.vstack([_features(table, order) for table in profiles]).tocsr()
    label = np.repeat([0, 1], [len(original), len(released)])
    model = LogisticRegression(max_iter=300, tol=1e-3).fit(features, label)
    share = len(released) / label.size
    return float(((model.predict_proba(features)[:, 1] - share) ** 2).mean())


def _features(table: Profile, order: int) -> sparse.csr_matrix:
    """Mass in each bin and, for order 2, in each pair of bins of different columns, shape (rows, features)."""
    count = table.starts.size
    blocks = [sparse.csr_matrix(table.block(column)) for column in range(count)]
    pairs = [
        blocks[second].multiply(blocks[first][:, [value]])
        for first, second in (combinations(range(count), 2) if order == 2 else ())
        for value in range(blocks[first].shape[1])
    ]
    return sparse.hstack([*blocks, *pairs]).tocsr()


def marginal_fidelity(original: Profile, released: Profile) -> float:
    """1 - the total variation distance between original and released marginals, averaged over the columns."""
    difference = np.abs(original.counts / original.rows - released.counts / released.rows)
    return float(1 - np.add.reduceat(difference, original.starts).mean() / 2)


def worst_pair_fidelity(original: Profile, released: Profile) -> float:
    """1 - the largest total variation distance between original and released tables of counts of two columns.

    A table of one column is compared by its marginals.
    """
    difference = np.abs(original.joint / original.rows - released.joint / released.rows)
    pairs = np.add.reduceat(np.add.reduceat(difference, original.starts, axis=0), original.starts, axis=1)
    first, second = np.triu_indices(len(pairs), k=min(1, len(pairs) - 1))
    return float(1 - pairs[first, second].max() / 2)


TAILS = (0.01, 0.05, 0.95, 0.99)
"""Levels of the quantiles that are compared."""


def tail_fidelity(original: Floats, released: Floats) -> float:
    """1 - the largest distance of the quantiles `TAILS`, relative to the distance of the original's outermost ones.

    - original, released: Numbers; NaN is left out.

    Larger distances count as that one. The result is 1 where the original has no numbers, and 0 where only the release
    has none.
    """
    known, others = original[~np.isnan(original)], released[~np.isnan(released)]
    if not known.size or not others.size:
        return float(not known.size)
    before, after = np.quantile(known, TAILS), np.quantile(others, TAILS)
    return float(1 - np.divide(np.abs(before - after).max(), np.ptp(before) or 1.0).clip(0, 1))


def association_fidelity(original: Profile, released: Profile) -> float:
    """1 - the absolute difference of `association`, averaged over pairs of columns."""
    return float(1 - np.abs(association(original) - association(released)).mean())


def relative_association_fidelity(strength: Floats, released: Profile) -> float:
    """1 - the sum of squared differences of `association`, relative to the original's sum of squares; at least 0.

    Relative to the sum, the noise of the many weak pairs does not hide the strong ones. Tables without associations
    have fidelity 0, and tables in which all pairs are equally associated reach little.

    - strength, shape (pairs,): The original's `association`.
    """
    return max(0.0, 1 - relative_squared_distance(strength, association(released), strength))


def relative_squared_distance(first: Floats, second: Floats, scale: Floats) -> float:
    """Sum of squared differences relative to the sum of squares of `scale`, or to 1 per pair if that is 0."""
    total = float(np.square(scale).sum()) or float(scale.size)
    return float(np.square(first - second).sum()) / total


def association(table: Profile) -> Floats:
    """Bias-corrected Cramer's V of every pair of columns, shape (pairs,), in [0, 1].

    The correction subtracts the expected value for independent columns in a sample of this size, so that associations
    from sampling noise count as none. Numbers are compared by their public bins, so that one measure serves columns of
    all types.

    Source: Bergsma (2013), A bias-correction for Cramer's V and Tschuprow's T, section 3.
    """
    n, starts = table.rows, table.starts
    joint, counts = table.joint, table.counts
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = joint**2 / np.outer(counts, counts)
    ratio[~np.isfinite(ratio)] = 0.0
    phi_squared = np.add.reduceat(np.add.reduceat(ratio, starts, axis=0), starts, axis=1) - 1
    used = np.add.reduceat((counts > 0).astype(float), starts)
    slack = max(1, n - 1)
    corrected = np.maximum(0.0, phi_squared - np.outer(used - 1, used - 1) / slack)
    levels = used - (used - 1) ** 2 / slack
    smallest = np.minimum.outer(levels, levels) - 1
    first, second = np.triu_indices(starts.size, k=1)
    scale = smallest[first, second]
    squared = np.divide(corrected[first, second], scale, out=np.zeros(first.size), where=scale > 0)
    return np.asarray(np.sqrt(np.minimum(1.0, squared)))


@dataclass(frozen=True)
class RangeQueries:
    """Random count queries: the number of rows in a range of one column and a range of another.

    - first, second, shape (bins, queries): 1 where a bin belongs to the query's range in its first, and in its
      second, column.
    """

    first: Floats
    second: Floats

    @classmethod
    def random(cls, domains: Mapping[str, Domain], count: int, rng: Generator) -> RangeQueries:
        """Draw queries over two different columns each (over the same column twice if there is only one).

        A range is a run of bins for numbers and ordered categories, and a random half of the categories otherwise.
        """
        columns = list(domains.values())
        starts = np.cumsum([0, *(domain.size + 1 for domain in columns)])
        pairs = np.array([rng.choice(len(columns), 2, replace=len(columns) < 2) for _ in range(count)]).T
        tables = []
        for chosen in pairs:
            table = np.zeros((starts[-1], count))
            for query, column in enumerate(chosen):
                domain = columns[column]
                table[starts[column] : starts[column] + domain.size, query] = _random_range(domain, rng)
            tables.append(table)
        return cls(tables[0], tables[1])

    def answers(self, table: Profile) -> Floats:
        """Expected share of rows in the ranges of each query, shape (queries,).

        The share is the sum of the rows in all pairs of bins, one of either range: (first' joint second) / rows.
        """
        return np.asarray(((table.joint @ self.second) * self.first).sum(axis=0) / table.rows)


def query_fidelity(truth: Floats, answer: Floats, rows: int) -> float:
    """1 - mean relative error of the answers to range queries.

    An error is relative to the true share, or to one of the original's rows if that is more, and at most 1.
    """
    error = np.abs(answer - truth) / np.maximum(truth, 1 / rows)
    return float(1 - np.minimum(error, 1.0).mean())


def _random_range(domain: Domain, rng: Generator) -> Booleans:
    if isinstance(domain, NumericDomain) or domain.ordered:
        low, high = np.sort(rng.integers(0, domain.size, size=2))
        position = np.arange(domain.size)
        return np.asarray((position >= low) & (position <= high))
    return np.asarray(rng.permutation(domain.size) < max(1, domain.size // 2))


# Relative error of count queries that are answered from a released table.


def query_error(
    original: pd.DataFrame,
    released: pd.DataFrame,
    domains: Mapping[str, Domain],
    rng: Generator,
    *,
    count: int = 200,
) -> float:
    """Mean relative error of the share of rows in random ranges of two columns, in [0, 1].

    Parameters
    ----------
    original : DataFrame, shape (n, columns)
        Original values.
    released : DataFrame, shape (m, columns)
        Released cells; a generalized cell counts by the share of it inside the range.
    domains : mapping of str to Domain
        The columns to query, with their public bins.
    rng : Generator
        Draws the queries; see `metrics.fidelity.RangeQueries`.
    count : int
        Number of queries, at least 1.

    Raises
    ------
    ValueError
        If a table has no row, lacks a column, a cell cannot be read, or `count` is not an integer of at least 1.

    Notes
    -----
    An error is relative to the true share, or to one row if that is more, and at most 1.
    """
    refuse(
        isinstance(count, bool) or not isinstance(count, int) or count < 1,
        f"count must be an integer of at least 1, got {count!r}",
    )
    check_comparable(original, released, domains, "queries need")
    queries = RangeQueries.random(domains, count, rng)
    truth, answer = original_profile(original, domains), profile(released, domains)
    return 1 - query_fidelity(queries.answers(truth), queries.answers(answer), len(original))
