"""Whether a classifier can tell a released table from the original."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import sparse

from metrics.domains import Domain
from metrics.profile import Profile, check_comparable, original_profile, profile


def propensity_mean_squared_error(
    original: pd.DataFrame, released: pd.DataFrame, domains: Mapping[str, Domain], *, order: int = 2
) -> float:
    """Mean squared distance of the predicted chance of being a released row from the share of released rows.

    Parameters
    ----------
    original : DataFrame, shape (n, columns)
        Original values.
    released : DataFrame, shape (m, columns)
        Released cells.
    domains : mapping of str to Domain
        The columns to look at, with their public bins.
    order : {1, 2}
        1 lets the model see columns one by one, 2 pairs of columns too, without which it overlooks that independent
        columns have lost their associations.

    Returns
    -------
    float
        From 0, where nothing tells the tables apart, to c (1 - c), where everything does, with c = m / (n + m): to
        1/4 for tables of one length.

    Raises
    ------
    ValueError
        If a table has no row, lacks a column, a cell cannot be read, or `order` is neither 1 nor 2.

    Notes
    -----
    The model is a logistic regression of "released" on the bins of every column (with a ridge penalty of weight 1,
    since bins repeat each other); a generalized cell is spread over its bins. Without a penalty and with the two
    tables drawn from one distribution its expected value is about (p - 1) (1 - c)² c / (n + m) for p parameters, so
    that small tables are told apart by chance already.

    References
    ----------
    Woo, Reiter, Oganian and Karr (2009), Global measures of data utility for microdata masked for disclosure
    limitation, section 3; Snoke, Raab, Nowok, Dibben and Slavkovic (2018), General and specific utility measures for
    synthetic data.
    """
    from sklearn.linear_model import LogisticRegression

    if order not in (1, 2):
        raise ValueError(f"order must be 1 or 2, got {order!r}")
    check_comparable(original, released, domains, "propensity needs")
    sides = original_profile(original, domains), profile(released, domains)
    features = sparse.vstack([_features(side, order) for side in sides]).tocsr()
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
