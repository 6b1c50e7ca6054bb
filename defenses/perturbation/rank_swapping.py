"""Rank swapping."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base import (
    Channel,
    Microdata,
    MicrodataDefense,
    MicrodataRelease,
    category_codes,
    check_columns,
    chosen_columns,
    filled,
    plain_numbers,
    released_frame,
    rowwise_release,
)
from defenses.base.channel_parts import RankWindow
from metrics.columns import NumericDomain, check_real


class RankSwapping(MicrodataDefense):
    """Rank swapping: each value is swapped with one whose rank in the column differs by at most a window.

    Numbers are ranked by value, and categories by their position in the domain (which is meaningful only where the
    domain is ordered). Ties are broken at random. The column keeps its values exactly. Ranks are cut into blocks of
    window + 1 at a random offset and matched at random inside their block. All values are swapped except one in each
    block of odd size. Missing values keep their rows. It guarantees nothing.

    Parameters
    ----------
    window : float
        Largest difference of rank as a share of the number of values in the column, in (0, 1]; at least one rank.
    columns : sequence of str, optional
        The columns to swap; by default all quasi-identifiers.

    Raises
    ------
    ValueError
        If the window lies outside (0, 1].

    Notes
    -----
    Moore draws the partner uniformly from the window, record by record. Here all swaps are drawn at once, and a partner
    is the more likely the closer its rank (see `SwapLaw`).

    References
    ----------
    Moore (1996), "Controlled data-swapping techniques for masking public use microdata sets".
    """

    called = ("Rank swapping", "Data swapping", "Rank swap")

    def __init__(self, *, window: float = 0.05, columns: Sequence[str] | None = None) -> None:
        self.window = check_real("window", window, low=0, high=1, open_low=True)
        self.columns = check_columns(columns)

    def check(self, records: Microdata) -> None:
        """Check that the columns exist."""
        chosen_columns(records, self.columns, records.quasi_identifiers)

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Release the swapped columns."""
        frame = released_frame(records)
        parts = []
        for name in filled(records, chosen_columns(records, self.columns, records.quasi_identifiers)):
            domain = records.domain(name)
            if isinstance(domain, NumericDomain):
                keys = plain_numbers(records.frame[name])
                present = np.flatnonzero(~np.isnan(keys))
            else:
                keys = category_codes(records, name).astype(float)
                present = np.flatnonzero(keys < domain.size)
            window = min(max(1, int(self.window * present.size)), present.size - 1)
            order = present[np.lexsort((rng.random(present.size), keys[present]))]
            source = np.arange(len(records))
            source[order] = order[swapped_ranks(present.size, window, rng)]
            frame[name] = frame[name].iloc[source].reset_index(drop=True)
            values, counts = np.unique(keys[present], return_counts=True)
            parts.append(RankWindow(name, domain, tuple(values.tolist()), tuple(counts.tolist()), window))
        return rowwise_release(frame, Channel(tuple(parts)))


def swapped_ranks(total: int, window: int, rng: Generator) -> NDArray[np.intp]:
    """Draw the partner of each of the ranks 0, …, total - 1, the rank itself if it is not swapped; see `SwapLaw`."""
    block = window + 1
    blocks = (np.arange(total) + block - rng.integers(block)) // block
    ranks = np.lexsort((rng.random(total), blocks))
    position = np.arange(total)
    neighbour = position + np.where((position - np.searchsorted(blocks, blocks)) % 2 == 0, 1, -1)
    alone = (neighbour == total) | (blocks[np.minimum(neighbour, total - 1)] != blocks)
    partner = np.empty(total, dtype=np.intp)
    partner[ranks] = ranks[np.where(alone, position, neighbour)]
    return partner
