"""What a release costs: column by column in words, and pairs of columns in rank correlations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from defenses import Microdata, MicrodataRelease
from leaderboard.pages.number_text import counted
from metrics.columns import (
    Booleans,
    CategoricalCells,
    Domain,
    Floats,
    NumericCells,
    NumericDomain,
    equal_values,
    format_number,
    read_cells,
)

VALUES, SECONDS = "values", "seconds"
"""What integers count without a unit, and in columns of dates with a time of day."""
_DURATIONS = (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1))


def column_costs(
    records: Microdata, release: MicrodataRelease, units: Mapping[str, str] = MappingProxyType({})
) -> dict[str, str]:
    """What a release does to each released column of the records, in words.

    Columns whose rows stem from no person are compared by their distributions.

    - units: What integers count, such as ``days``, by column; ``values`` by default.

    Examples
    --------
    >>> import pandas as pd
    >>> from defenses import Microdata, MicrodataRelease
    >>> from metrics import NumericDomain
    >>> ages = NumericDomain(0, 99, integer=True)
    >>> records = Microdata(pd.DataFrame({"age": [23, 45]}), quasi_identifiers=("age",), domains={"age": ages})
    >>> column_costs(records, MicrodataRelease(pd.DataFrame({"age": ["[20,29]", "*"]}), [0, 1]))
    {'age': '50 % suppressed; 50 % ranges of 10 of the 100 values (median)'}
    """
    table, origin = release.analyst_table, release.origin
    costs = {}
    for name in records.released_columns:
        domain = records.domain(name)
        if name not in table.columns:
            costs[name] = "left out"
            continue
        cells = read_cells(table[name], domain)
        if not len(table):
            costs[name] = "no row is released"
        elif (origin < 0).any():
            costs[name] = _distribution(records.frame[name], cells, units.get(name, VALUES))
        else:
            original = records.frame[name].iloc[origin].reset_index(drop=True)
            costs[name] = _cells(original, cells, units.get(name, VALUES))
    return costs


def _distribution(original: pd.Series[Any], cells: NumericCells | CategoricalCells, unit: str) -> str:
    """What rows of unknown people hold, and how far their distribution is from the original's."""
    domain, rows = cells.domain, cells.codes
    before = np.bincount(domain.codes(original), minlength=domain.size + 1) / len(original)
    distance = np.abs(before - cells.mass()[rows].mean(axis=0)).sum() / 2
    general = ~cells.plain[rows] & ~cells.suppressed[rows]
    parts = [*_general_parts(cells, general, unit), f"distribution differs by {_percent(distance)}"]
    if isinstance(cells, NumericCells) and (cells.plain & ~cells.missing)[rows].any() and original.notna().any():
        parts.append(_shift(original, cells, unit))
    return "; ".join(parts)


def _general_parts(cells: NumericCells | CategoricalCells, general: Booleans, unit: str) -> list[str]:
    """Shares of suppressed cells, and of ranges or sets."""
    suppressed = cells.suppressed[cells.codes]
    parts = [f"{_percent(suppressed.mean())} suppressed"] if suppressed.any() else []
    return [*parts, f"{_percent(general.mean())} {_width(cells, general, unit)}"] if general.any() else parts


def _cells(original: pd.Series[Any], cells: NumericCells | CategoricalCells, unit: str) -> str:
    """What happened to the cells of the same people."""
    rows = cells.codes
    plain, suppressed = cells.plain[rows], cells.suppressed[rows]
    same = plain & equal_values(original, cells)
    general, changed = ~plain & ~suppressed, plain & ~same
    if same.all():
        return "unchanged"
    parts = _general_parts(cells, general, unit)
    if changed.any():
        parts.append(f"{_percent(changed.mean())} changed{_distance(original, cells, changed, unit)}")
    return "; ".join(parts)


def _width(cells: NumericCells | CategoricalCells, general: Booleans, unit: str) -> str:
    """Median width of ranges, or median size of sets."""
    domain = cells.domain
    if isinstance(cells, NumericCells):
        low, high = cells.hull()
        numeric = cells.domain
        widths = np.minimum(high, numeric.edges[-1]) - np.maximum(low, numeric.low)
        # A closed range of integers holds both ends.
        widths[np.unique(cells.owner[cells.closed])] += numeric.integer
        # Four digits, since sums of decimals have seventeen.
        median = float(np.median(widths[cells.codes][general]))
        if unit == SECONDS:
            return f"ranges of {duration(median)} of {duration(numeric.high - numeric.low + 1)} (median)"
        width = format_number(float(f"{median:.4g}"))
        whole = f"{format_number(numeric.low)} to {format_number(numeric.high)}"
        span = f"the {format_number(numeric.high - numeric.low + 1)} {unit}" if numeric.integer else whole
        return f"ranges of {width} of {span} (median)"
    sizes = cells.member.sum(axis=1)[cells.codes][general]
    return f"sets of {format_number(float(np.median(sizes)))} of {domain.size} categories (median)"


def _distance(original: pd.Series[Any], cells: NumericCells | CategoricalCells, changed: Booleans, unit: str) -> str:
    """Median distance of changed numbers from their originals."""
    if not isinstance(cells, NumericCells):
        return ""
    distance = np.abs(cells.midpoint()[cells.codes] - original.to_numpy(dtype=float, na_value=np.nan))[changed]
    return f", by {amount(np.nanmedian(distance), unit)} (median)" if np.isfinite(distance).any() else ""


def _shift(original: pd.Series[Any], cells: NumericCells, unit: str) -> str:
    """Means of numbers before and after; of dates, how far the mean moved."""
    before = float(np.nanmean(original.to_numpy(dtype=float, na_value=np.nan)))
    after = float(np.nanmean(cells.midpoint()[cells.codes]))
    if unit == VALUES:
        return f"mean {amount(before, unit)} before, {amount(after, unit)} after"
    return f"mean {amount(abs(after - before), unit)} {'later' if after > before else 'earlier'}"


def amount(value: float, unit: str = VALUES) -> str:
    """An amount of three digits, more before the point, and its unit unless it is a plain number."""
    if unit == SECONDS:
        return duration(value)
    digits = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return digits if unit == VALUES else f"{digits} {unit}"


def duration(seconds: float) -> str:
    """A number of seconds in its largest unit and the next smaller one.

    Examples
    --------
    >>> duration(93_600), duration(3600), duration(75)
    ('1 day 2 hours', '1 hour', '1 minute 15 seconds')
    """
    left = round(seconds)
    counts = []
    for unit, size in _DURATIONS:
        count, left = divmod(left, size)
        counts.append((count, unit))
    first = next((place for place, (count, _) in enumerate(counts) if count), len(counts) - 1)
    shown = [(count, unit) for count, unit in counts[first : first + 2] if count] or counts[-1:]
    return " ".join(counted(count, unit) for count, unit in shown)


def _percent(share: float) -> str:
    """A share in percent; positive ones do not become 0."""
    return f"{share:.0%}".replace("%", " %") if share >= 0.005 else "under 1 %"


# Rank correlations of pairs of numbers before and after, which the part `associations` of a utility may hide.


SHOWN = 5
"""Most pairs that are shown."""
CLEAR = 0.2
"""Rank correlation from which its loss is warned of; a smaller one may be chance."""
LOST = 0.5
"""Share of a rank correlation that is lost, from which the loss is warned of."""


@dataclass(frozen=True)
class RankCorrelation:
    """Spearman's rank correlation of two columns in the original table and in the release, in [-1, 1]."""

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

    A released range counts as its middle. Suppressed and missing cells are left out.
    """
    values: dict[str, tuple[Floats, Floats]] = {}
    for name, domain in domains.items():
        if isinstance(domain, NumericDomain) and name in original and name in released:
            cells = read_cells(released[name], domain)
            if isinstance(cells, NumericCells):
                values[name] = original[name].to_numpy(dtype=float, na_value=np.nan), cells.row_values()
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
