"""Relative error of count queries that are answered from a released table."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from numpy.random import Generator

from metrics.columns.domains import Domain
from metrics.columns.parameters import refuse
from metrics.fidelity import RangeQueries, query_fidelity
from metrics.profile import check_comparable, original_profile, profile


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
    return 1 - query_fidelity(original_profile(original, domains), profile(released, domains), queries)
