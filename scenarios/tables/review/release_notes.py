"""What is doubtful in a release beside its original table, from the number of rows of each cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from defenses.base import CountedCells
from metrics.columns import (
    SUPPRESSED,
    Domain,
    Floats,
    Integers,
    NumericCells,
    NumericDomain,
    holds_generalized,
    read_cells,
)
from scenarios.tables.note import Note

MOSTLY_EMPTY = 0.5
"""Share of the cells of a column that say nothing, above which the column is named."""
DIFFERENT = 0.2
"""Difference of the distribution functions from which two columns of numbers differ much."""
FAR = 0.5
"""Standard deviations by which a mean must move until two columns of numbers differ much."""
ALIKE = 0.1
"""Difference of the shares of bins up to which two columns look alike."""
FIRST = 100
"""Number of released cells that are looked at before all are read."""


def counted_cells(frame: pd.DataFrame, names: Iterable[Any]) -> dict[str, CountedCells]:
    """Counts of the cells of those of some columns that a table has."""
    return {str(name): CountedCells.of(frame[name]) for name in names if name in frame}


def release_notes(
    original: Mapping[str, CountedCells], released: Mapping[str, CountedCells], domains: Mapping[str, Domain]
) -> list[Note]:
    """All that is doubtful in a release; `domains` are those of the original columns that are no dates."""
    return [
        *empty_cells_warning(original, released),
        *lost_gaps_note(original, released),
        *hidden_differences(original, released, domains),
    ]


def empty_cells_warning(original: Mapping[str, CountedCells], released: Mapping[str, CountedCells]) -> list[Note]:
    """A warning of columns of a release most of whose cells say nothing.

    A cell says nothing if it is suppressed, or the same in every row unless the original column holds one value, too.
    """
    rows = max((int(counts.counts.sum()) for counts in released.values()), default=0)
    if rows < 2:
        return []
    empty = {
        name: None
        if name in original and counts.all_same and len(original[name].values) > 1
        else counts.suppressed / int(counts.counts.sum())
        for name, counts in released.items()
    }
    columns = [
        f"{name} (the same in every row)" if share is None else f"{name} ({100 * share:.0f} % are {SUPPRESSED})"
        for name, share in empty.items()
        if share is None or share > MOSTLY_EMPTY
    ]
    share = sum(1.0 if share is None else share for share in empty.values()) / max(1, len(empty))
    if columns:
        of = "this column" if len(columns) == 1 else "these columns"
        return [Note("empty cells", numbers={"these": of, "empty": ", ".join(columns), "share": 100 * share})]
    return [Note("mostly empty", numbers={"share": 100 * share})] if share > MOSTLY_EMPTY else []


def lost_gaps_note(original: Mapping[str, CountedCells], released: Mapping[str, CountedCells]) -> list[Note]:
    """A note on columns whose missing values a release lacks, as synthetic rows do.

    Where some released cells are suppressed or grouped, a missing value may be among them.
    """
    lost = [
        f"{name} ({original[name].missing:,} of {original[name].counts.sum():,})"
        for name, counts in released.items()
        if name in original
        and original[name].missing
        and len(counts.values)
        and not counts.missing
        and not holds_generalized(counts.values)
    ]
    return [Note("gaps vanish", numbers={"gaps": ", ".join(lost)})] if lost else []


def hidden_differences(
    original: Mapping[str, CountedCells], released: Mapping[str, CountedCells], domains: Mapping[str, Domain]
) -> Iterator[Note]:
    """Warnings of columns of plain numbers that differ much in mean or distribution, though their bins do not.

    Distributions are compared by the statistic of Kolmogorov and Smirnov, the largest distance of their functions.
    """
    for name, domain in domains.items():
        if not isinstance(domain, NumericDomain) or name not in original or name not in released:
            continue
        counts = released[name]
        # Most released columns that are not plain show it in their first cells, which spares the reading of all.
        if holds_generalized(counts.values.head(FIRST)):
            continue
        cells = read_cells(counts.values, domain)
        if not isinstance(cells, NumericCells) or not (cells.plain | cells.missing)[cells.codes].all():
            continue
        before = _present(original[name].values.to_numpy(dtype=float), original[name].counts)
        after = _present(cells.midpoint()[cells.codes], counts.counts)
        if not before[0].size or not after[0].size:
            continue
        shares = [np.bincount(domain.codes(values), rows, domain.size) / rows.sum() for values, rows in (before, after)]
        if np.abs(shares[0] - shares[1]).sum() / 2 >= ALIKE:
            continue
        distance = _largest_distance(before, after)
        means = [float(np.average(values, weights=rows)) for values, rows in (before, after)]
        deviation = np.sqrt(np.average((before[0] - means[0]) ** 2, weights=before[1]))
        if abs(means[1] - means[0]) > FAR * deviation or distance > DIFFERENT:
            yield Note("hidden difference", (name,), {"before": means[0], "after": means[1], "distance": distance})


def _present(values: Floats, rows: Integers) -> tuple[Floats, Integers]:
    """Distinct numbers, ascending and without missing ones, and the number of rows of each."""
    order = np.argsort(values)[: np.count_nonzero(~np.isnan(values))]
    return values[order], rows[order]


def _largest_distance(first: tuple[Floats, Integers], second: tuple[Floats, Integers]) -> float:
    """Largest distance of two empirical distribution functions."""
    values = np.union1d(first[0], second[0])
    below = [
        np.append(0, np.cumsum(rows))[np.searchsorted(numbers, values, side="right")] / rows.sum()
        for numbers, rows in (first, second)
    ]
    return float(np.abs(below[0] - below[1]).max())
