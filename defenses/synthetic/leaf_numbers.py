"""Distribution of a column of numbers inside the leaves of a forest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy import special

from defenses.synthetic.mixed_column import MixedColumn
from defenses.synthetic.pruned_forest import LeafMembers
from metrics.arrays import Floats, Integers


@dataclass(frozen=True)
class LeafNumbers:
    """A uniform or truncated normal distribution of numbers for each leaf.

    Attributes
    ----------
    low, high : ndarray of float, shape (nodes,)
        Bounds of the numbers.
    mean, deviation : ndarray of float, shape (nodes,), optional
        Mean and standard deviation before truncation; None for uniform distributions.
    """

    low: Floats
    high: Floats
    mean: Floats | None = None
    deviation: Floats | None = None

    @staticmethod
    def of(column: MixedColumn, low: Floats, high: Floats, members: LeafMembers, *, normal: bool) -> LeafNumbers:
        """Fit the distributions.

        Parameters
        ----------
        column : MixedColumn
            A column of numbers.
        low, high : ndarray of float, shape (nodes,)
            Bounds of the column's ranks in each node.
        members : LeafMembers
            Records of the leaves.
        normal : bool
            Whether the distributions are truncated normal, or else uniform.
        """
        values = np.repeat(column.values, members.leaf.shape[1])
        present = ~np.isnan(values)
        leaf, values = members.leaf.ravel()[present], values[present]
        size = members.count.size
        count = np.maximum(np.bincount(leaf, minlength=size), 1)
        bounds = _between(column.distinct, low[:size]), _between(column.distinct, high[:size])
        if not normal:
            return LeafNumbers(*bounds)
        mean = np.bincount(leaf, weights=values, minlength=size) / count
        variance = np.bincount(leaf, weights=(values - mean[leaf]) ** 2, minlength=size) / count
        return LeafNumbers(*bounds, mean, np.sqrt(variance))

    def drawn(self, leaf: Integers, rng: Generator) -> Floats:
        """Draw a number in the leaf of each new row, shape (rows,)."""
        low, high, share = self.low[leaf], self.high[leaf], rng.random(leaf.size)
        if self.mean is None or self.deviation is None:
            return np.asarray(low + share * (high - low))
        mean, deviation = self.mean[leaf], self.deviation[leaf]
        scale = np.where(deviation > 0, deviation, 1.0)
        below, above = special.ndtr((low - mean) / scale), special.ndtr((high - mean) / scale)
        numbers = mean + scale * special.ndtri(below + share * (above - below))
        return np.where(deviation > 0, np.clip(numbers, low, high), mean)


def _between(distinct: Floats, ranks: Floats) -> Floats:
    """Numbers at bounds between ranks, which end at the smallest and the largest number."""
    inside = np.clip(ranks, 0, distinct.size - 1)
    return np.interp(inside, np.arange(distinct.size), distinct)
