"""Propensity scores: how well a classifier separates a released table from the original."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import sparse

from metrics.columns import Domain, require
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
    pairs = []
    for first, second in combinations(range(count), 2) if order == 2 else ():
        pairs += [blocks[second].multiply(blocks[first][:, [value]]) for value in range(blocks[first].shape[1])]
    return sparse.hstack([*blocks, *pairs]).tocsr()
