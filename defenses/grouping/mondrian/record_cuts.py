"""The best cut of each class in a column of numbers with few ties.

With such a column a cut may lie after nearly every record, so that the gains of all places would be most of Mondrian's
work. Let x_1 <= ... <= x_n be the numbers of a class and w(d) = min(1, d / width of the domain). The cut after record i
gains n w(x_n - x_1) - i w(x_i - x_1) - (n - i) w(x_n - x_{i+1}). The second term grows with i and the third falls.
For all places from a to b the gain is therefore at most n w(x_n - x_1) - a w(x_a - x_1) - (n - b) w(x_n - x_{b+1}).
The places of a class form runs of a few neighbours. A run whose bound lies below the gain of another run's first place
is skipped. Each rounded operation is monotone, so that the bound holds for the computed numbers too. The same cut is
found as by trying all places.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from defenses.grouping.mondrian.columns import MISSING, OrderedColumn, OrderedNumbers
from defenses.grouping.mondrian.open_classes import CutRules, Cuts, OpenClasses, best_of_each_class
from metrics.arrays import Floats, Integers
from metrics.classes import group_starts

_RUN = 16
"""Places in a run: short, so that bounds are tight; long, so that there are few bounds."""


def is_continuous(column: OrderedColumn) -> bool:
    """Tell whether a column holds numbers, few of them tied and none missing."""
    if not isinstance(column, OrderedNumbers) or column.size <= column.codes.size // 2:
        return False
    return column.domain.high > column.domain.low and bool(column.codes.min() > MISSING)


@dataclass(frozen=True)
class PlaceRuns:
    """Runs of neighbouring places between two records, with at least k records of the class on both sides.

    Attributes
    ----------
    group : ndarray of int, shape (runs,)
        Class of each run, ascending.
    first, last : ndarray of int, shape (runs,)
        Position of the record before the first and before the last place of each run.
    """

    group: Integers
    first: Integers
    last: Integers

    @classmethod
    def between(cls, classes: OpenClasses, k: int) -> PlaceRuns:
        """All places of these classes; a class of fewer than 2 k records has none."""
        places = np.maximum(0, classes.sizes - 2 * k + 1)
        counts = -(-places // _RUN)
        group = np.repeat(np.arange(counts.size), counts)
        rank = np.arange(group.size) - (np.cumsum(counts) - counts)[group]
        first = (classes.begins + k - 1)[group] + rank * _RUN
        return cls(group, first, np.minimum(first + _RUN, (classes.begins + k - 1 + places)[group]) - 1)

    def taken(self, runs: Integers) -> PlaceRuns:
        """Some of the runs."""
        return PlaceRuns(self.group[runs], self.first[runs], self.last[runs])


def cuts_between_records(column: OrderedNumbers, classes: OpenClasses, runs: PlaceRuns, rules: CutRules) -> Cuts | None:
    """Best cuts of a column with few ties and no missing value; None if a relaxed cut may fall among ties.

    Parameters
    ----------
    column : OrderedNumbers
        A continuous column.
    classes : OpenClasses
        The classes; each row is a record.
    runs : PlaceRuns
        All places of the classes.
    rules : CutRules
        What a cut must satisfy.
    """
    codes = classes.sorted_codes(column)
    tied = bool((codes[1:] == codes[:-1]).any())
    if tied and not rules.strict:
        return None
    lowest, highest = column.numbers[codes[classes.begins]], column.numbers[codes[classes.begins + classes.sizes - 1]]
    width = column.domain.high - column.domain.low
    uncut = classes.sizes * np.minimum(1.0, (highest - lowest) / width)
    # Places from `first` to `last` of a run, and the records around them; shape (runs, 1) or (runs, places).
    if not rules.requirements:
        group, first, last = runs.group, runs.first, runs.last
        below = _loss(first - classes.begins[group] + 1, column.numbers[codes[first]] - lowest[group], width)
        rows_right = (classes.begins + classes.sizes)[group] - 1
        above = [_loss(rows_right - at, highest[group] - column.numbers[codes[at + 1]], width) for at in (first, last)]
        reached = uncut[group] - below - above[0]
        if tied:
            reached[codes[first] == codes[first + 1]] = -np.inf
        starts = group_starts(group)
        reached = np.repeat(np.maximum.reduceat(reached, starts), np.diff(starts, append=group.size))
        runs = runs.taken(np.flatnonzero(uncut[group] - below - above[1] >= reached))
    group = runs.group
    at = runs.first[:, None] + np.arange(_RUN)
    np.minimum(at, runs.last[:, None], out=at)
    left = at - (classes.begins[group] - 1)[:, None]
    before, after = codes[at], codes[at + 1]
    gain = uncut[group, None] - _loss(left, column.numbers[before] - lowest[group, None], width)
    gain -= _loss(classes.sizes[group, None] - left, highest[group, None] - column.numbers[after], width)
    if tied:
        gain[before == after] = -np.inf
    if rules.requirements:
        allowed = gain > -np.inf
        groups = np.broadcast_to(group[:, None], gain.shape)
        gain[~classes.satisfied(column, groups, left, allowed, rules.requirements)] = -np.inf
    place = gain.argmax(axis=1)
    of_run = np.arange(group.size), place
    best, run = best_of_each_class(gain[of_run], group, classes.sizes.size)
    cut = at[of_run][run]
    return Cuts(best, codes[cut].astype(np.intp), cut + 1 - classes.begins)


def _loss(records: Integers, spread: Floats, width: float) -> Floats:
    """Certainty penalty of this number of records whose numbers spread this far."""
    return np.asarray(records * np.minimum(1.0, spread / width))
