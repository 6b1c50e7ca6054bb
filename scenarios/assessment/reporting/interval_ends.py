"""Ends of released intervals that are values of single people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from metrics.cells import NumericCells, read_cells
from metrics.domains import Domain

TIGHT = 0.5
"""Share of a column's ends that are values of one person each, above which the intervals were fitted to people."""


def interval_end_warnings(
    released: pd.DataFrame, records: pd.DataFrame, domains: Mapping[str, Domain]
) -> Iterator[str]:
    """One sentence for each column whose intervals end at values of single people.

    Parameters
    ----------
    released : DataFrame, shape (rows, columns)
        Released cells.
    records : DataFrame, shape (records, more columns)
        Original values.
    domains : mapping of str to Domain
        Domains of the released columns.

    Notes
    -----
    Intervals as narrow as a class allows end at the values of two people of it. Downcoding (Cohen 2022) recovers
    records from them. Ends of a public hierarchy meet the value of one person only by chance.
    """
    for name in released.columns:
        cells = read_cells(released[name], domains[str(name)])
        if isinstance(cells, NumericCells):
            ends = _ends(cells)
            values, people = np.unique(records[name].dropna().to_numpy(dtype=float), return_counts=True)
            single = int(np.isin(ends, values[people == 1]).sum())
            if single > TIGHT * ends.size:
                yield (
                    f"{name}: {single:,} of {ends.size:,} ends of intervals are values of one person each; whoever "
                    "sees such an end learns that somebody has this value. Hierarchies have public ends: see Incognito."
                )


def _ends(cells: NumericCells) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Distinct ends of the intervals of a column, without those of its domain."""
    wide = (cells.low < cells.high) & ~cells.suppressed[cells.owner]
    ends = np.unique(np.concatenate([cells.low[wide], cells.high[wide]]))
    return np.asarray(ends[np.isfinite(ends) & (ends != cells.domain.low) & (ends != cells.domain.high)])
