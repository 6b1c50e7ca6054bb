"""MDAV (maximum distance to average vector): groups of at least k similar records."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from metrics.columns import Floats, Integers, check_choice, refuse, require


def groups(numbers: ArrayLike, k: int, categories: ArrayLike | None = None, *, distance: str = "squared") -> Integers:
    """Group close records by MDAV, so that each group holds k to 2k - 1 records.

    - numbers of shape (n, p): Numeric coordinates on comparable scales; the distance of two records sums over the
      coordinates.
    - k: Smallest group size, 1 <= k <= n.
    - categories of shape (n, q), optional: Category codes from 0; each column in which two records differ adds 1 to
      their distance.
    - distance, {"squared", "absolute"}: Contribution of a difference of coordinates to the distance. Squares give the
      squared Euclidean distance. Absolute values give p + q times Gower's distance if coordinates are divided by their
      range.
    - returns shape (n,): Group of each record, from 0; if n < 2k, one group holds all records.

    Raises ValueError if `k` lies outside 1..n, the shapes do not fit, or the distance is unknown. If a coordinate is
    not finite, or a code is negative.

    Notes
    -----
    Repeat while at least 3k records remain. Let r be the record farthest from the average of the remaining records,
    and s the record farthest from r. Then r and its k - 1 nearest records form a group. Among the others, s and its
    k - 1 nearest records form a group as well. If 2k to 3k - 1 records remain, the record farthest from the average
    and its k - 1 nearest form a group. The others form the last group. This takes n / 2k rounds of three passes over
    the remaining records.

    Categories are corners of a simplex with edges of length 1. Encoded as 0/1 indicators times 1/sqrt(2), two
    different categories are at squared distance (1 + 1)/2 = 1. The average of such indicators is the vector m of
    shares. Category a is at squared distance |e_a - m|²/2 = (1 - 2 m_a + sum m²)/2 from the average. These distances
    are tabulated per category instead of computed per record. With absolute differences, category a is at its mean
    distance 1 - m_a from the remaining records.

    References
    ----------
    Domingo-Ferrer and Mateo-Sanz (2002), Practical data-oriented microaggregation.
    Domingo-Ferrer and Torra (2005), Ordinal, continuous and heterogeneous k-anonymity through microaggregation,
    section 3 (MDAV-generic).
    """
    check_choice("distance", distance, _KINDS)
    remaining = _KINDS[distance](*_checked(numbers, k, categories))
    group = np.empty(remaining.count, dtype=np.intp)
    formed = 0
    while remaining.count >= 2 * k:
        farthest = int(remaining.distances(*remaining.average()).argmax())
        for _ in range(2 if remaining.count >= 3 * k else 1):
            distances = remaining.distances(*remaining.center(farthest))
            nearest = np.argpartition(distances, k - 1)[:k]
            distances[nearest] = -1.0
            farthest = int(distances.argmax())
            members, farthest = remaining.remove(nearest, farthest)
            group[members] = formed
            formed += 1
    group[remaining.rows] = formed
    return group


class _Remaining:
    """The remaining records, which have no group yet; they fill the front of arrays with one row per column.

    - numbers of shape (p, n): Coordinates.
    - codes of shape (q, n): Category codes; each column continues the numbering of the previous one.
    - starts of shape (q,): First category code of each column.
    """

    def __init__(self, numbers: Floats, codes: Integers, starts: Integers) -> None:
        self.count = numbers.shape[1]
        self._numbers, self._codes, self._starts = numbers, codes, starts
        self._rows = np.arange(self.count)
        # Without categories, there are no codes to move.
        self._moved = [numbers, self._rows, *([codes] if codes.size else [])]
        self._frequency = np.bincount(codes.ravel()) if codes.size else np.zeros(0, dtype=np.intp)
        self._difference = np.empty_like(numbers)

    @property
    def rows(self) -> Integers:
        """The remaining records, shape (count,)."""
        return self._rows[: self.count]

    def average(self) -> tuple[Floats, Floats]:
        """The average record: mean of each coordinate, and distance of each category from the average."""
        mean: Floats = self._numbers[:, : self.count].mean(axis=1)
        share = self._frequency / self.count
        return mean, self._from_average(share) if share.size else share

    def center(self, position: int) -> tuple[Floats, Floats]:
        """The record at a position: its coordinates, and the distance of each category from its own."""
        mismatch = np.ones(self._frequency.size)
        mismatch[self._codes[:, position]] = 0.0
        return self._numbers[:, position].copy(), mismatch

    def distances(self, coordinates: Floats, mismatch: Floats) -> Floats:
        """Distance of every remaining record from a center, shape (count,)."""
        difference = self._difference[:, : self.count]
        np.subtract(self._numbers[:, : self.count], coordinates[:, None], out=difference)
        distances = self._summed(difference)
        for codes in self._codes[:, : self.count]:
            distances += mismatch[codes]
        return distances

    def _summed(self, difference: Floats) -> Floats:
        """Distances, shape (count,), from the differences of coordinates, shape (p, count)."""
        return np.asarray(np.einsum("ij,ij->j", difference, difference))

    def _from_average(self, share: Floats) -> Floats:
        """Distance of each category from the average, given its share."""
        concentration = np.add.reduceat(share**2, self._starts)
        column = np.repeat(np.arange(self._starts.size), np.diff(self._starts, append=share.size))
        return (1 - 2 * share + concentration[column]) / 2

    def remove(self, positions: Integers, followed: int) -> tuple[Integers, int]:
        """Remove records; the last remaining ones move into the gaps.

        - returns members: The removed records.
        - returns followed: New position of the record that was at `followed`.
        """
        members = self._rows[positions]
        if self._codes.size:
            self._frequency -= np.bincount(self._codes[:, positions].ravel(), minlength=self._frequency.size)
        self.count -= positions.size
        in_front = positions < self.count
        holes, movers = positions, np.arange(self.count, self.count + positions.size)
        if not in_front.all():
            holes, movers = positions[in_front], np.setdiff1d(movers, positions, assume_unique=True)
        for array in self._moved:
            array[..., holes] = array[..., movers]
        moved = holes[movers == followed] if followed >= self.count else holes[:0]
        return members, int(moved[0]) if moved.size else followed


class _RemainingByAbsolute(_Remaining):
    """The remaining records under absolute instead of squared differences."""

    def _summed(self, difference: Floats) -> Floats:
        return np.asarray(np.abs(difference, out=difference).sum(axis=0))

    def _from_average(self, share: Floats) -> Floats:
        return 1 - share


_KINDS = {"squared": _Remaining, "absolute": _RemainingByAbsolute}


def _checked(numbers: ArrayLike, k: int, categories: ArrayLike | None) -> tuple[Floats, Integers, Integers]:
    coordinates = np.asarray(numbers, dtype=float)
    require(
        coordinates.ndim == 2,
        f"numbers must have a row per record and a column per coordinate, got {coordinates.ndim} axes",
    )
    n = coordinates.shape[0]
    require(1 <= k <= n, f"k must lie between 1 and the number of records, got k = {k} for n = {n}")
    require(np.isfinite(coordinates).all(), "numbers must be finite, got a missing value or an infinity")
    codes = np.zeros((n, 0), dtype=np.intp) if categories is None else np.asarray(categories, dtype=np.intp)
    refuse(
        codes.ndim != 2 or codes.shape[0] != n or (codes < 0).any(),
        f"categories must be {n} rows of codes of at least 0, got shape {codes.shape}",
    )
    sizes = codes.max(axis=0) + 1
    starts = np.cumsum(sizes) - sizes
    return np.array(coordinates.T, order="C"), np.array((codes + starts).T, order="C"), starts
