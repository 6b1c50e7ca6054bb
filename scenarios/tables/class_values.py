"""What equivalence classes show about a sensitive column."""

from __future__ import annotations

import numpy as np
import pandas as pd

from metrics.arrays import Integers


def class_values(classes: Integers, values: pd.Series[str]) -> tuple[float, int]:
    """Largest excess of a value's share in a class, and number of records in classes that hold one value.

    Cells that hold no single value (``*``, sets and missing values) are values of their own here.

    Parameters
    ----------
    classes : ndarray of int, shape (rows,)
        The class of each record.
    values : Series of str, shape (rows,)
        Cells of the sensitive column.

    Returns
    -------
    excess : float
        Largest (p - q) / (1 - q) for a value with share p in a class and q in the table; 0 if there is one value only.
    one_value : int
        Records in classes all of whose records have one value (distinct l-diversity 1). Classes of one record count.
    """
    codes, names = pd.factorize(values.astype(object).where(values.notna(), "").astype(str))
    if len(names) < 2:
        return 0.0, int(codes.size)
    table = np.bincount(codes, minlength=len(names)) / codes.size
    pairs, counts = np.unique(classes * len(names) + codes, return_counts=True)
    share, overall = counts / np.bincount(classes)[pairs // len(names)], table[pairs % len(names)]
    excess = (share - overall) / (1 - overall)
    return float(excess.max()), int(counts[share == 1].sum())
