"""Columns of numbers whose public bins are too coarse to tell most values apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from metrics.columns import Domain, Floats, NumericCells, NumericDomain, read_cells
from scenarios.tables.dataset import Dataset
from scenarios.tables.note import Note

MOST = 0.5
"""Share of the records in one bin, apart from its commonest value, from which the bins are too coarse."""
DIFFERENT = 0.2
"""Difference of the distribution functions from which two columns of numbers differ much."""
FAR = 0.5
"""Standard deviations by which a mean must move until two columns of numbers differ much."""
ALIKE = 0.1
"""Difference of the shares of bins up to which two columns look alike."""


def coarse_bin_warnings(dataset: Dataset, frame: pd.DataFrame) -> Iterator[Note]:
    """Warnings of columns most of whose records fall into one bin, though their values differ.

    Parameters
    ----------
    dataset : Dataset
        The data set.
    frame : DataFrame
        Values of the records, or of a sample of them.

    Notes
    -----
    Synthesizers draw numbers evenly inside a bin, and l-diversity, utility and inferred values compare bins. A value
    that most records share may fill a bin of its own, so it does not count.
    """
    records = dataset.records
    for name in records.released_columns:
        domain = records.domain(name)
        numbers = _numbers(frame[name]) if isinstance(domain, NumericDomain) else np.empty(0)
        if not isinstance(domain, NumericDomain) or not numbers.size or dataset.written.dates(name) is not None:
            continue
        values, counts = np.unique(numbers, return_counts=True)
        bins = domain.codes(values)
        fullest = np.bincount(bins, counts).argmax()
        inside = counts[bins == fullest]
        if inside.sum() - inside.max() > MOST * numbers.size:
            share = inside.sum() / numbers.size
            said = {"share": share, "bins": domain.size, "fullest": domain.cells()[fullest]}
            yield Note("coarse bins", (name,), said)


def hidden_differences(original: pd.DataFrame, released: pd.DataFrame, domains: Mapping[str, Domain]) -> Iterator[Note]:
    """Warnings of columns of plain numbers that differ much in mean or distribution, though their bins do not.

    Parameters
    ----------
    original : DataFrame, shape (n, columns)
        Original values.
    released : DataFrame, shape (m, columns)
        Released cells.
    domains : mapping of str to Domain
        Domains of the columns to compare.

    Notes
    -----
    Distributions are compared by the statistic of Kolmogorov and Smirnov, the largest distance of their functions.
    """
    for name, domain in domains.items():
        if not isinstance(domain, NumericDomain) or name not in original or name not in released:
            continue
        cells = read_cells(released[name], domain)
        if not isinstance(cells, NumericCells) or not (cells.plain | cells.missing)[cells.codes].all():
            continue
        before, after = _numbers(original[name]), cells.midpoint()[cells.codes]
        after = after[~np.isnan(after)]
        if not before.size or not after.size:
            continue
        shares = [np.bincount(domain.codes(values), minlength=domain.size) / values.size for values in (before, after)]
        if np.abs(shares[0] - shares[1]).sum() / 2 >= ALIKE:
            continue
        distance = _largest_distance(before, after)
        if abs(after.mean() - before.mean()) > FAR * before.std() or distance > DIFFERENT:
            said = {"before": before.mean(), "after": after.mean(), "distance": distance}
            yield Note("hidden difference", (name,), said)


def _largest_distance(first: Floats, second: Floats) -> float:
    """Largest distance of two empirical distribution functions."""
    values = np.union1d(first, second)
    shares = [np.searchsorted(np.sort(one), values, side="right") / one.size for one in (first, second)]
    return float(np.abs(shares[0] - shares[1]).max())


def _numbers(column: pd.Series[float]) -> Floats:
    """Values of a column that are not missing."""
    return np.asarray(column.dropna(), dtype=float)
