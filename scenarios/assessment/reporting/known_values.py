"""The quasi-identifier that predicts a sensitive value without any release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from metrics.arrays import Integers
from metrics.domains import Domain


def best_predictor(
    frame: pd.DataFrame, column: str, candidates: Sequence[str], domains: Mapping[str, Domain]
) -> tuple[str, float] | None:
    """The column whose value alone tells most people's value of another column.

    Parameters
    ----------
    frame : DataFrame, shape (n, columns)
        Original values.
    column : str
        The column that is predicted.
    candidates : sequence of str
        Columns to predict from.
    domains : mapping of str to Domain
        Their domains; numbers are compared by their public bins.

    Returns
    -------
    tuple of str and float, or None
        The column, and the share of people whose value is the commonest among the others alike. None without a column
        that tells more than the commonest value of all.

    Examples
    --------
    >>> import pandas as pd
    >>> from metrics.domains import CategoricalDomain
    >>> frame = pd.DataFrame({"ward": ["A", "A", "B", "B"], "illness": ["flu", "flu", "cold", "cold"]})
    >>> domains = {"ward": CategoricalDomain(("A", "B")), "illness": CategoricalDomain(("cold", "flu"))}
    >>> best_predictor(frame, "illness", ["ward"], domains)
    ('ward', 1.0)
    """
    codes = {name: domains[name].codes(frame[name]) for name in (column, *candidates)}
    shares = {name: _told(codes[name], codes[column]) for name in candidates}
    best = max(shares, key=shares.__getitem__, default=None)
    commonest = _told(np.zeros(len(frame), dtype=np.intp), codes[column])
    return None if best is None or shares[best] <= commonest else (best, shares[best])


def _told(known: Integers, told: Integers) -> float:
    """Share of people whose value is the commonest among the others with the same known value."""
    counts = np.zeros((known.max(initial=0) + 1, told.max(initial=0) + 1), dtype=np.intp)
    np.add.at(counts, (known, told), 1)
    # Nobody predicts themselves.
    others = counts[known]
    others[np.arange(known.size), told] -= 1
    own = others[np.arange(known.size), told]
    return float(((own == others.max(axis=1)) & (own > 0)).mean()) if known.size else 0.0
