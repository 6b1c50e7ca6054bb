"""Utility of released ratings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from metrics.columns import (
    Domain,
    Floats,
    Integers,
    NumericCells,
    NumericDomain,
    read_cells,
    refuse,
    require,
    scattered,
    unescape,
)

PARTS = ("items", "ratings", "dates", "item_means", "pairs")
POPULAR = 50
# The means of items with fewer original ratings are too noisy to compare.
FEWEST = 10


class RatingUtility:
    """Utility of releases of one table of dated ratings.

    Every component is 1 for the original and 0 for a table of constants, clipped to [0, 1].

    - original, shape (ratings, columns): The ratings, at least one.
    - domains: Public domains; rating and date are numbers.

    Raises ValueError if there is no rating, or rating or date has no numeric domain.
    """

    def __init__(
        self, original: pd.DataFrame, domains: Mapping[str, Domain], person: str, item: str, rating: str, date: str
    ) -> None:
        refuse(original.empty, "there is no rating")
        for name in (rating, date):
            require(isinstance(domains.get(name), NumericDomain), f"column {name!r} needs a numeric domain")
        self.domains = {name: domains[name] for name in (rating, date)}
        self.person, self.item, self.rating, self.date = person, item, rating, date
        codes, items = pd.factorize(original[item].astype(str))
        self.items = {name: number for number, name in enumerate(items)}
        self.shares = {name: self._shares(original, name) for name in (rating, date)}
        self.popularity = np.bincount(codes, minlength=len(items)) / len(codes)
        self.counts = np.bincount(codes, minlength=len(items))
        self.popular = np.argsort(-self.counts, kind="stable")[:POPULAR]
        self.together = self._together(original, codes)
        self.means = _means(codes, original[rating].to_numpy(dtype=float), len(items))

    def score(self, released: pd.DataFrame) -> dict[str, float | None]:
        """Components of a release's utility.

        - returns: ``utility_items``, ``utility_ratings`` and ``utility_dates``: 1 - total variation distance of the
          items' popularity, the ratings and the dates (in public bins), anchored at a constant table.
          ``utility_item_means``: share of the variance of the items' mean ratings that the released means explain, over
          items with at least 10 original ratings; None if there are none. ``utility_pairs``: 1 - (sum of squared
          errors) / (sum of squares) of the correlations between the 50 most popular items. Two items correlate if the
          same persons rated them, beyond what the persons' activity explains; recommendations depend on these
          correlations. A component is 0 where its column is missing.
        """
        if released.empty:
            return dict.fromkeys((f"utility_{name}" for name in PARTS), 0.0)
        codes = self._items(released)
        popularity = np.bincount(codes[codes >= 0], minlength=self.popularity.size) / len(released)
        return {
            "utility_items": _anchored(self.popularity, popularity),
            "utility_ratings": self._marginal(released, self.rating),
            "utility_dates": self._marginal(released, self.date),
            "utility_item_means": self._item_means(released, codes),
            "utility_pairs": self._pairs(released, codes),
        }

    def _shares(self, frame: pd.DataFrame, name: str) -> Floats:
        return np.asarray(read_cells(frame[name], self.domains[name]).row_mass().mean(axis=0))

    def _marginal(self, released: pd.DataFrame, name: str) -> float:
        return _anchored(self.shares[name], self._shares(released, name)) if name in released else 0.0

    def _items(self, released: pd.DataFrame) -> Integers:
        """Number of each row's item; -1 where it is missing, generalized or suppressed."""
        if self.item not in released:
            return np.full(len(released), -1)
        codes, cells = pd.factorize(released[self.item].astype(object))
        numbers = [self.items.get(unescape(str(cell)), -1) for cell in cells]
        return np.array([*numbers, -1], dtype=np.intp)[codes]

    def _together(self, frame: pd.DataFrame, codes: Integers) -> Floats:
        """Correlations over persons of which popular items they rated, shape (popular, popular), 0 on the diagonal."""
        number = scattered(np.arange(self.popular.size), self.popular, self.counts.size + 1)
        persons = pd.factorize(frame[self.person], use_na_sentinel=False)[0]
        rated = np.zeros((int(persons.max(initial=-1)) + 1, self.popular.size))
        column = number[codes]
        rated[persons[column >= 0], column[column >= 0]] = 1.0
        # Active persons rate many pairs of items: subtract the expected value for independent persons and items.
        centered = rated - np.outer(rated.sum(axis=1), rated.sum(axis=0)) / max(1.0, rated.sum())
        norm = np.sqrt(np.square(centered).sum(axis=0))
        scaled = centered / np.where(norm > 0, norm, 1.0)
        result: Floats = scaled.T @ scaled
        np.fill_diagonal(result, 0.0)
        return result

    def _pairs(self, released: pd.DataFrame, codes: Integers) -> float | None:
        size = float(np.square(self.together).sum())
        if size == 0:
            return None
        if self.person not in released:
            return 0.0
        error = float(np.square(self._together(released, codes) - self.together).sum())
        return float(np.clip(1 - error / size, 0, 1))

    def _item_means(self, released: pd.DataFrame, codes: Integers) -> float | None:
        frequent = self.counts >= FEWEST
        weight, means = self.counts[frequent], self.means[frequent]
        if not frequent.any() or np.ptp(means) == 0:
            return None
        if self.rating not in released:
            return 0.0
        cells = read_cells(released[self.rating], self.domains[self.rating])
        assert isinstance(cells, NumericCells)  # noqa: S101 (the domain is numeric)
        stars = cells.midpoint()[cells.codes]
        usable = (codes >= 0) & ~np.isnan(stars)
        released_means = _means(codes[usable], stars[usable], self.counts.size)[frequent]
        center = np.average(means, weights=weight)
        # An item without released ratings counts as an average item.
        error = np.average((np.where(np.isnan(released_means), center, released_means) - means) ** 2, weights=weight)
        return float(np.clip(1 - error / np.average((means - center) ** 2, weights=weight), 0, 1))


def _anchored(original: Floats, released: Floats) -> float:
    """1 - total variation distance, rescaled so that all mass in the original's most frequent place gives 0."""
    distance = np.abs(original - released).sum() / 2 + max(0.0, 1 - released.sum()) / 2
    worst = 1 - original.max()
    return float(np.clip(1 - distance / worst, 0, 1)) if worst > 0 else float(distance < 1e-12)


def _means(codes: Integers, values: Floats, count: int) -> Any:
    with np.errstate(invalid="ignore"):
        return np.bincount(codes, weights=values, minlength=count) / np.bincount(codes, minlength=count)
