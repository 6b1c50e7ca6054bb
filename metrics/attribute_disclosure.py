"""How much more a class says about a sensitive column than the table does: delta-disclosure, beta-likeness.

Both compare the shares p of sensitive values in a class with their shares q in the whole table, value by value; a
missing value is a value of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from metrics.arrays import Floats, Integers
from metrics.diversity import sensitive_counts


def delta_disclosure(
    frame: pd.DataFrame, quasi_identifiers: Sequence[str], sensitive: str, *, classes: Integers | None = None
) -> float:
    """Largest |ln(p / q)| over classes and sensitive values; infinite where a class lacks a value.

    A table is delta-disclosure private for every delta above it.

    Parameters
    ----------
    frame : DataFrame, shape (n, columns)
        Original values or released cells.
    quasi_identifiers : sequence of str
        The columns that an attacker may know.
    sensitive : str
        The column to protect.
    classes : ndarray of int, shape (n,), optional
        The classes by `equivalence_classes`, where they are known already.

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
    """Basic beta-likeness: the largest relative gain (p - q) / q over classes and sensitive values, at least 0.

    Parameters and errors as for `delta_disclosure`.

    References
    ----------
    Cao and Karras (2012), Publishing microdata with a robust privacy guarantee, definition 2.
    """
    return float(max(0.0, _gains(frame, quasi_identifiers, sensitive, classes)[0].max()))


def enhanced_beta_likeness(
    frame: pd.DataFrame, quasi_identifiers: Sequence[str], sensitive: str, *, classes: Integers | None = None
) -> float:
    """Smallest beta with every gain (p - q) / q at most min(beta, -ln q); infinite where a gain exceeds -ln q.

    Parameters and errors as for `delta_disclosure`.

    References
    ----------
    Cao and Karras (2012), definition 3.
    """
    gains, shares = _gains(frame, quasi_identifiers, sensitive, classes)
    # A share of 1 leaves nothing to gain; rounding must not make it something.
    gained = gains > 1e-12
    if (gains[gained] > -np.log(shares[gained])).any():
        return float(np.inf)
    return float(gains[gained].max(initial=0.0))


def _gains(
    frame: pd.DataFrame, quasi_identifiers: Sequence[str], sensitive: str, classes: Integers | None
) -> tuple[Floats, Floats]:
    """Relative gain of each value present in a class, and its share in the table."""
    counts = sensitive_counts(frame, quasi_identifiers, sensitive, classes)
    table = counts.table[counts.values]
    return (counts.shares - table) / table, table
