"""Scoreboard de-anonymization of sparse, dated ratings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base import Attack, Knowledge, RankedAnswers, applicable, each_of_ranges, given
from defenses.base import MicrodataRelease
from metrics.classes import ranks_in_groups
from metrics.columns import (
    Floats,
    Integers,
    NumericCells,
    check_integer,
    check_real,
    numbers_of,
    read_cells,
    require,
    unescape,
)


class ScoreboardDeanonymization(Attack):
    r"""Scoreboard de-anonymization: identifies people in released ratings by a few of their ratings.

    Every released person gets a score for each target. Let (r, t) be the target's known rating and day of an item i,
    (r', t') the released ones, and |supp i| the number of released people who rated i:

        score(person) = ∑ (exp(-\|r - r'\| / rating_scale) + exp(-\|t - t'\| / date_scale)) / log \|supp i\|

    The sum is over the target's known items that the person rated. Without dates the second term is left out. Rare
    items have large weights. A wrong rating or date lowers one term and never excludes the person.

    The attack answers with the person of the highest score if its lead over the second is large enough. The lead must
    be at least `eccentricity` standard deviations of all people's scores. Otherwise the attack abstains.

    The distance of a known value from a released interval is that from the interval's nearest end, and 0 within. An
    item that is generalized or suppressed counts as not rated.

    Parameters
    ----------
    item, rating, date : str
        Names of the columns; the date is in days.
    rating_scale : float
        Difference of ratings at which their similarity is 1/e, in stars, positive.
    date_scale : float
        The same for dates, in days, positive.
    eccentricity : float
        Smallest lead that is answered, in standard deviations, at least 0. With 0 every target with a positive score is
        answered.
    depth : int
        Number of ranked people for each answered target, at least 1.

    Notes
    -----
    The paper's scales are 1.5 stars and 30 days. With 1.5 stars the attack identifies fewer people, since a difference
    of one star lowers the score little. The default is half a star, the step of the rating scale.

    References
    ----------
    Narayanan and Shmatikov (2008), Robust de-anonymization of large sparse datasets, section 5 (Scoreboard-RH).
    """

    called = ("Scoreboard", "Narayanan-Shmatikov")

    goal = "deanonymization"

    def __init__(
        self,
        *,
        item: str = "item",
        rating: str = "rating",
        date: str = "day",
        rating_scale: float = 0.5,
        date_scale: float = 30.0,
        eccentricity: float = 1.5,
        depth: int = 10,
    ) -> None:
        self.rating_scale = check_real("rating_scale", rating_scale, low=0, open_low=True)
        self.date_scale = check_real("date_scale", date_scale, low=0, open_low=True)
        self.eccentricity = check_real("eccentricity", eccentricity, low=0)
        self.depth = check_integer("depth", depth, low=1)
        self.item = item
        self.rating = rating
        self.date = date

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> RankedAnswers:
        """Rank released persons for each person of the known ratings.

        Targets are the distinct persons of the known ratings in sorted order. Answers are positions among the distinct
        released persons in sorted order.

        Raises
        ------
        NotApplicable
            If no column identifies the person of a row, or the release lacks the person or the item column.
        ValueError
            If the known ratings lack a column or are empty, or a cell cannot be read.
        """
        person = given(
            knowledge.auxiliary.person, "no column says whose row it is; the attack is on many rows a person"
        )
        for name in (person, self.item):
            applicable(name in release.frame, f"the release has no column {name!r}")
        for name in (person, self.item, self.rating):
            require(name in knowledge.candidates, f"the known ratings have no column {name!r}")
        require(not knowledge.candidates.empty, "no rating is known of anybody")
        target, targets = _numbered(knowledge.candidates[person])
        owner, owners = _numbered(release.frame[person])
        known, row, support = _shared_items(release.frame[self.item], knowledge.candidates[self.item])
        parts = (
            _similarity(release, knowledge, name, known, row, scale)
            for name, scale in ((self.rating, self.rating_scale), (self.date, self.date_scale))
            if name in knowledge.candidates and name in release.frame
        )
        gain = 1 / np.log(np.maximum(support, 2)) * sum(parts, np.zeros(known.size))
        return self._answers(target[known], owner[row], gain, targets, owners, rng)

    def _answers(
        self, target: Integers, owner: Integers, gain: Floats, targets: int, owners: int, rng: Generator
    ) -> RankedAnswers:
        """Sum gains by target and owner, and rank owners for the targets with a large enough lead."""
        keys, group = np.unique(target * owners + owner, return_inverse=True)
        score = np.bincount(group, weights=gain, minlength=keys.size).astype(float)
        target, owner = keys // owners, keys % owners
        # Best first within each target; equal scores in random order.
        order = np.lexsort((rng.random(keys.size), -score, target))
        target, owner, score = target[order], owner[order], score[order]
        rank = ranks_in_groups(target)
        best, second = np.zeros(targets), np.zeros(targets)
        best[target[rank == 0]], second[target[rank == 1]] = score[rank == 0], score[rank == 1]
        mean = np.bincount(target, weights=score, minlength=targets) / max(1, owners)
        square = np.bincount(target, weights=score**2, minlength=targets) / max(1, owners)
        deviation = np.sqrt(np.maximum(square - mean**2, 0))
        leads = (best > 0) & (best - second >= self.eccentricity * deviation)
        answered = leads[target] & (rank < self.depth)
        return RankedAnswers(targets, owners, target[answered], owner[answered], score[answered])


def _numbered(column: pd.Series[Any]) -> tuple[Integers, int]:
    """Position of each value among the sorted distinct values, and the number of distinct values."""
    codes, distinct = pd.factorize(column, sort=True, use_na_sentinel=False)
    return codes, len(distinct)


def _shared_items(released_items: pd.Series[Any], known_items: pd.Series[Any]) -> tuple[Integers, Integers, Integers]:
    """Pair each known rating with all released ratings of its item.

    Returned are positions of pairs among the known ratings and the released rows, and how many released ratings the
    pair's item has.
    """
    code, cells = pd.factorize(released_items.astype(object), use_na_sentinel=True)
    texts = [str(cell) for cell in cells]
    numbers = {unescape(text): number for number, text in enumerate(texts) if not text.startswith(("{", "*", "["))}
    matches = known_items.astype(str).map(numbers)
    usable = np.flatnonzero(matches.notna())
    item = matches.to_numpy(dtype=float, na_value=-1)[usable].astype(np.intp)
    by_item = np.argsort(code, kind="stable")
    start = np.searchsorted(code[by_item], np.arange(len(texts) + 1))
    pair, place = each_of_ranges(start[item], start[item + 1])
    return usable[pair], by_item[place], np.diff(start)[item][pair]


def _similarity(
    release: MicrodataRelease, knowledge: Knowledge, name: str, known: Integers, row: Integers, scale: float
) -> Floats:
    """exp(-distance / scale) of each pair in a numeric column; 0 if either side is missing."""
    cells = read_cells(release.frame[name], knowledge.domains([name])[name])
    if not isinstance(cells, NumericCells):
        raise ValueError(f"column {name!r} must hold numbers")
    low, high = cells.hull()
    cell = cells.codes[row]
    value = numbers_of(knowledge.candidates[name])[known]
    distance = np.maximum(0.0, np.maximum(low[cell] - value, value - high[cell]))
    return np.asarray(np.nan_to_num(np.exp(-distance / scale), nan=0.0), dtype=float)
