"""Attribute disclosure: delta-disclosure privacy and beta-likeness.

Both compare the shares p of the sensitive values in a class with their shares q in the whole table, value by value. A
missing value is a value of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from metrics.columns.arrays import Floats, Integers
from metrics.diversity import sensitive_counts


def delta_disclosure(
    frame: pd.DataFrame, quasi_identifiers: Sequence[str], sensitive: str, *, classes: Integers | None = None
) -> float:
    """Delta-disclosure: largest |ln(p / q)| over classes and sensitive values; infinite where a class lacks a value.

    A table is delta-disclosure private for every delta above this number.

    Parameters
    ----------
    frame : DataFrame, shape (n, columns)
        Original values or released cells.
    quasi_identifiers : sequence of str
        The columns that an attacker may know.
    sensitive : str
        The column to protect.
    classes : ndarray of int, shape (n,), optional
        The classes of `equivalence_classes`, if already computed.

    Raises
    ------
    ValueError
        If the frame has no row, lacks a column, or the sensitive column is a quasi-identifier.

    References
    ----------
    Brickell and Shmatikov (2008), The cost of privacy, section 3.
    """
    counts = sensitive_counts(frame, quasi_identifiers, sensitive, classes)
    if counts.values.size < counts.sizes.size * counts.table.size:
        return float(np.inf)
    return float(np.abs(np.log(counts.shares / counts.table[counts.values])).max())


def beta_likeness(
    frame: pd.DataFrame, quasi_identifiers: Sequence[str], sensitive: str, *, classes: Integers | None = None
) -> float:
    """Basic beta-likeness: largest relative gain (p - q) / q over classes and sensitive values, at least 0.

    Parameters and errors are those of `delta_disclosure`.

    References
    ----------
    Cao and Karras (2012), Publishing microdata with a robust privacy guarantee, definition 2.
    """
    return float(max(0.0, _gains(frame, quasi_identifiers, sensitive, classes)[0].max()))


def enhanced_beta_likeness(
    frame: pd.DataFrame, quasi_identifiers: Sequence[str], sensitive: str, *, classes: Integers | None = None
) -> float:
    """Enhanced beta-likeness: smallest beta with every gain at most min(beta, -ln q); infinite if a gain exceeds -ln q.

    The gain of a value is (p - q) / q. Parameters and errors are those of `delta_disclosure`.

    References
    ----------
    Cao and Karras (2012), definition 3.
    """
    gains, shares = _gains(frame, quasi_identifiers, sensitive, classes)
    # With a share of 1 the gain is 0; rounding errors must not count as a gain.
    positive = gains > 1e-12
    if (gains[positive] > -np.log(shares[positive])).any():
        return float(np.inf)
    return float(gains[positive].max(initial=0.0))


def _gains(
    frame: pd.DataFrame, quasi_identifiers: Sequence[str], sensitive: str, classes: Integers | None
) -> tuple[Floats, Floats]:
    """Relative gain of each value that occurs in a class, and its share in the table."""
    counts = sensitive_counts(frame, quasi_identifiers, sensitive, classes)
    table = counts.table[counts.values]
    return (counts.shares - table) / table, table
