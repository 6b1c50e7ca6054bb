"""Rank correlations of pairs of numbers before and after, which the part `associations` of a utility may hide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from metrics.columns import Domain, Floats, NumericCells, NumericDomain, read_cells

SHOWN = 5
"""Most pairs that are shown."""
CLEAR = 0.2
"""Rank correlation from which its loss is warned of; a smaller one may be chance."""
LOST = 0.5
"""Share of a rank correlation that is lost, from which the loss is warned of."""


@dataclass(frozen=True)
class RankCorrelation:
    """Spearman's rank correlation of two columns.

    Attributes
    ----------
    columns : tuple of str
        The two columns.
    before, after : float
        In the original table and in the release, in [-1, 1].
    """

    columns: tuple[str, str]
    before: float
    after: float

    @property
    def name(self) -> str:
        """The pair in words."""
        return " and ".join(self.columns)

    @property
    def halved(self) -> bool:
        """Whether a clear correlation lost half or more, or changed its sign."""
        return abs(self.before) >= CLEAR and self.after * np.sign(self.before) <= (1 - LOST) * abs(self.before)


def rank_correlations(
    original: pd.DataFrame, released: pd.DataFrame, domains: Mapping[str, Domain]
) -> list[RankCorrelation]:
    """The pairs of numbers whose rank correlation changed most, at most `SHOWN`, the largest change first.

    Parameters
    ----------
    original : DataFrame, shape (n, columns)
        Original values.
    released : DataFrame, shape (m, columns)
        Released cells. A range counts as its middle. Suppressed and missing cells are left out.
    domains : mapping of str to Domain
        Domains of the columns.
    """
    values: dict[str, tuple[Floats, Floats]] = {}
    for name, domain in domains.items():
        if isinstance(domain, NumericDomain) and name in original and name in released:
            cells = read_cells(released[name], domain)
            if isinstance(cells, NumericCells):
                middle = np.where(cells.suppressed, np.nan, cells.midpoint())[cells.codes]
                values[name] = original[name].to_numpy(dtype=float, na_value=np.nan), np.asarray(middle, dtype=float)
    pairs = []
    for first, second in combinations(values, 2):
        before, after = (_spearman(one, other) for one, other in zip(values[first], values[second], strict=True))
        if before is not None:
            # A column of equal cells has no ranks, and tells nothing about another one.
            pairs.append(RankCorrelation((first, second), before, after or 0.0))
    return sorted(pairs, key=lambda pair: -abs(pair.after - pair.before))[:SHOWN]


def correlation_warnings(pairs: Sequence[RankCorrelation]) -> list[str]:
    """A warning of each pair whose rank correlation fell by half."""
    return [
        f"{pair.name}: the rank correlation is {pair.before:.2f} in the original table and {pair.after:.2f} in the "
        "release"
        for pair in pairs
        if pair.halved
    ]


def _spearman(first: Floats, second: Floats) -> float | None:
    """Rank correlation over the rows in which both numbers are known; None if one of them does not vary."""
    both = ~(np.isnan(first) | np.isnan(second))
    ranks = np.array([pd.Series(column[both]).rank().to_numpy(dtype=float) for column in (first, second)])
    if not both.any() or (np.ptp(ranks, axis=1) == 0).any():
        return None
    return float(np.corrcoef(ranks)[0, 1])
