"""A metric in one file: the share of cells that a release leaves unchanged."""

import pandas as pd


def kept_cells(original: pd.DataFrame, released: pd.DataFrame) -> float:
    """Share of released cells that equal the original cell.

    Parameters
    ----------
    original, released : DataFrame, shape (n, columns)
        Row i of both is about the same person. Columns that were not released are ignored.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        If the tables have different numbers of rows, or no column or row in common.

    Examples
    --------
    >>> original = pd.DataFrame({"age": [21, 35], "job": ["cook", "nurse"]})
    >>> kept_cells(original, pd.DataFrame({"age": [20, 40], "job": ["cook", "nurse"]}))
    0.5
    """
    if len(original) != len(released):
        raise ValueError(f"original has {len(original)} rows, released has {len(released)}")
    columns = [name for name in released.columns if name in original.columns]
    if not columns or original.empty:
        raise ValueError("original and released must share at least one row and one column")
    same = original[columns].astype(str).to_numpy() == released[columns].astype(str).to_numpy()
    return float(same.mean())
