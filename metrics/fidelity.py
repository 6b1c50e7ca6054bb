"""Fidelity of a released table's statistics: marginals, associations and range counts.

Each measure lies in [0, 1] and is 1 for the original table. The measures are *not* anchored: a table of constants
scores well above 0 on most of them. `metrics.table_utility` anchors them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.random import Generator

from metrics.columns import Booleans, Domain, Floats, NumericDomain, refuse
from metrics.profile import Profile, check_comparable, original_profile, profile


def marginal_fidelity(original: Profile, released: Profile) -> float:
    """1 - the total variation distance between original and released marginals, averaged over the columns."""
    difference = np.abs(original.counts / original.rows - released.counts / released.rows)
    return float(1 - np.add.reduceat(difference, original.starts).mean() / 2)


def association_fidelity(original: Profile, released: Profile) -> float:
    """1 - the absolute difference of `association`, averaged over pairs of columns."""
    return float(1 - np.abs(association(original) - association(released)).mean())


def relative_association_fidelity(strength: Floats, released: Profile) -> float:
    """1 - the sum of squared differences of `association`, relative to the original's sum of squares; at least 0.

    Relative to the sum, the noise of the many weak pairs does not hide the strong ones. Tables without associations
    have fidelity 0, and tables in which all pairs are equally associated reach little.

    Parameters
    ----------
    strength : ndarray of float, shape (pairs,)
        The original's `association`.
    released : Profile
        The released table.
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

    References
    ----------
    Bergsma (2013), A bias-correction for Cramer's V and Tschuprow's T, section 3.
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

    Attributes
    ----------
    first, second : ndarray of float, shape (bins, queries)
        1 where a bin belongs to the query's range in its first, and in its second, column.
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
        chosen: Booleans = (position >= low) & (position <= high)
    else:
        chosen = rng.permutation(domain.size) < max(1, domain.size // 2)
    return chosen


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
