"""A column of numbers or categories as synthesizers read and write it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base import (
    CodedColumn,
    Microdata,
    category_cells,
    category_codes,
    code_column,
    code_values,
    plain_numbers,
    stored_alike,
)
from metrics.columns import Domain, Floats, Integers, NumericDomain

# Leaves of a forest that hold enough records, with their bounds.

Features = NDArray[np.float32]


@dataclass(frozen=True)
class PrunedForest:
    """Trees in which every leaf holds at least a given number of records.

    Nodes of all trees are numbered together. A split with too few records on one side is dropped, and all records of
    the node go to the other side. A node with too few records on either side becomes a leaf.

    - left, right of shape (nodes,): Children of each node; both are the same node after a dropped split, and the node
      itself for a leaf.
    - feature of shape (nodes,): Feature that is split; 0 for leaves.
    - threshold of shape (nodes,): Values up to it go left.
    - roots of shape (trees,): Root of each tree.
    """

    left: Integers
    right: Integers
    feature: Integers
    threshold: Floats
    roots: Integers

    @staticmethod
    def of(trees: Sequence[Any], features: Features, fewest: int) -> PrunedForest:
        """Prune fitted trees.

        - features of shape (n, features): The records that count.
        - fewest: Smallest number of records in a leaf, at most n.
        """
        sizes = [tree.tree_.node_count for tree in trees]
        roots = np.cumsum([0, *sizes[:-1]])
        own = np.arange(sum(sizes))
        is_leaf = np.concatenate([tree.tree_.children_left < 0 for tree in trees])

        def children(side: str) -> Integers:
            child = np.concatenate([getattr(tree.tree_, side) + root for tree, root in zip(trees, roots, strict=True)])
            return np.where(is_leaf, own, child)

        left, right = children("children_left"), children("children_right")
        counts = np.concatenate(
            [
                np.bincount(tree.decision_path(features, check_input=False).indices, minlength=size)
                for tree, size in zip(trees, sizes, strict=True)
            ]
        )
        enough_left, enough_right = counts[left] >= fewest, counts[right] >= fewest
        return PrunedForest(
            np.where(enough_left, left, np.where(enough_right, right, own)),
            np.where(enough_right, right, np.where(enough_left, left, own)),
            np.concatenate([np.maximum(tree.tree_.feature, 0) for tree in trees]),
            np.concatenate([tree.tree_.threshold for tree in trees]),
            roots,
        )

    def leaves(self, features: Features) -> Integers:
        """Leaf of each record in each tree, shape (n, trees)."""
        node = np.tile(self.roots, (len(features), 1))
        while True:
            value = np.take_along_axis(features, self.feature[node], axis=1)
            following = np.where(value <= self.threshold[node], self.left[node], self.right[node])
            if (following == node).all():
                return np.asarray(node)
            node = following

    def bounds(self, columns: int) -> tuple[Floats, Floats]:
        """Bounds of every node in every feature, two arrays of shape (nodes, columns).

        A record reaches a node only if each feature is above the lower and at most the upper bound.
        """
        low = np.full((self.left.size, columns), -np.inf)
        high = np.full((self.left.size, columns), np.inf)
        frontier = self.roots
        while frontier.size:
            left, right = self.left[frontier], self.right[frontier]
            inner = left != frontier
            parent, left, right = frontier[inner], left[inner], right[inner]
            for child in (left, right):
                low[child], high[child] = low[parent], high[parent]
            split = left != right
            cut, by = self.threshold[parent[split]], self.feature[parent[split]]
            high[left[split], by] = np.minimum(high[left[split], by], cut)
            low[right[split], by] = np.maximum(low[right[split], by], cut)
            frontier = np.unique(np.concatenate([left, right]))
        return low, high


@dataclass(frozen=True)
class LeafMembers:
    """Records of the leaves of all trees.

    - leaf of shape (n, trees): Leaf of each record in each tree.
    - members of shape (n * trees,): Records in the order of their leaves.
    - start, count of shape (nodes,): Position of each leaf's first record among `members`, and its number of records.
    """

    leaf: Integers
    members: Integers
    start: Integers
    count: Integers

    @staticmethod
    def of(leaf: Integers) -> LeafMembers:
        """Sort the records by their leaves."""
        count = np.bincount(leaf.ravel())
        members = np.argsort(leaf.ravel(), kind="stable") // leaf.shape[1]
        return LeafMembers(leaf, members, np.cumsum(count) - count, count)

    def drawn(self, rows: int, rng: np.random.Generator) -> Integers:
        """Draw a leaf for each new row, shape (rows,): of a random tree, with probability its share of records."""
        n, trees = self.leaf.shape
        return np.asarray(self.leaf[rng.integers(n, size=rows), rng.integers(trees, size=rows)])

    def donors(self, leaf: Integers, columns: int, rng: np.random.Generator) -> Integers:
        """Draw a record of its leaf for each cell of each new row, shape (rows, columns)."""
        positions = rng.integers(self.count[leaf][:, None], size=(leaf.size, columns))
        return np.asarray(self.members[self.start[leaf][:, None] + positions])


Drawn = NDArray[Any]
"""Values of new rows: numbers with NaN where missing, or codes of categories."""


@dataclass(frozen=True)
class MixedColumn:
    """A column of numbers, or of categories as codes.

    - original of shape (n,): The column as the publisher holds it.
    - domain, optional: Its domain; None for a column of released cells.
    - values of shape (n,): Numbers, NaN where missing; or the code of each record's category.
    - cells of shape (categories + 1,), optional: Released cell of each code, the missing value last; None for a column
      of numbers.
    """

    original: pd.Series[Any]
    domain: Domain | None
    values: NDArray[Any]
    cells: NDArray[Any] | None

    @property
    def numeric(self) -> bool:
        """Whether the column holds numbers."""
        return self.cells is None

    @cached_property
    def distinct(self) -> Floats:
        """The distinct numbers in ascending order, or the codes of all categories."""
        if self.cells is not None:
            return np.arange(self.cells.size, dtype=float)
        return np.unique(self.values[~np.isnan(self.values)])

    @cached_property
    def ranks(self) -> Integers:
        """Position of each record's value among `distinct`, shape (n,); -1 for a missing number.

        Trees split ranks as they split numbers. 32-bit features hold ranks exactly, but not all numbers.
        """
        if not self.numeric:
            return np.asarray(self.values, dtype=np.intp)
        return np.where(np.isnan(self.values), -1, np.searchsorted(self.distinct, self.values))

    def released(self, drawn: Drawn) -> pd.Series[Any]:
        """Released cells of new rows, shape (m,); numbers are rounded where the domain holds integers."""
        if self.cells is not None:
            return pd.Series(self.cells[drawn], dtype=object)
        whole = isinstance(self.domain, NumericDomain) and self.domain.integer
        return stored_alike(np.rint(drawn) if whole else drawn, self.original)


def mixed_column(records: Microdata, name: str) -> MixedColumn:
    """Read a column with at least one value.

    Raises ValueError if a value is no finite number or no category of the domain; names the column.
    """
    original = records.frame[name]
    if name in records.generalized:
        coded = code_values(original)
        return MixedColumn(original, None, coded.codes, np.append(coded.values, [None]))
    domain = records.domain(name)
    if isinstance(domain, NumericDomain):
        return MixedColumn(original, domain, plain_numbers(original), None)
    return MixedColumn(original, domain, category_codes(records, name), category_cells(domain))


# Empirical distributions of columns, with their quantiles.

# Order of unordered categories that lets a tree split them like numbers.


def category_order(codes: Integers, size: int, responses: Floats) -> Floats:
    """Rank of each category by the first principal component of its mean responses, shape (size,).

    With a single response this is the order of the category's means. A tree's best split of the categories into two
    sets is then a cut of that order (Breiman et al. 1984, theorem 4.5). With several responses it is an approximation.

    - codes of shape (n,): Category of each record.
    - size: Number of categories; those without records come last.
    - responses of shape (n, responses): Numbers, or indicators of classes.

    References
    ----------
    Coppersmith, Hong and Hosking (1999), Partitioning nominal attributes in decision trees, section 4.
    """
    counts = np.bincount(codes, minlength=size).astype(float)
    sums = np.column_stack([np.bincount(codes, weights=response, minlength=size) for response in responses.T])
    means = sums / np.maximum(counts, 1.0)[:, None]
    centered = means - responses.mean(axis=0)
    covariance = (centered * counts[:, None]).T @ centered
    component = np.linalg.eigh(covariance)[1][:, -1]
    scores = np.where(counts > 0, centered @ component, np.inf)
    rank = np.empty(size)
    rank[np.argsort(scores, kind="stable")] = np.arange(size)
    return rank


def split_ranks(column: MixedColumn, responses: Floats) -> Floats:
    """Numbers by which a tree splits a column, shape (n,): ranks of numbers, or of categories by their responses."""
    if column.cells is None:
        return column.ranks.astype(float)
    return np.asarray(category_order(column.ranks, column.cells.size, responses)[column.ranks])


@dataclass(frozen=True)
class CategoryDistribution:
    """Empirical distribution of categories or released cells, in the order of their codes.

    - codes of shape (n,): The cell of each record.
    - cells of shape (cells,): The released cell of each code.
    """

    codes: Integers
    cells: NDArray[Any]

    def shares(self) -> Floats:
        """Mid-rank of each record as a share, shape (n,)."""
        share = self._counts() / self.codes.size
        return np.asarray((np.cumsum(share) - share / 2)[self.codes])

    def at(self, shares: Floats) -> Drawn:
        """Codes of the quantiles at these shares, shape (m,)."""
        return _codes_at(self._counts(), shares)

    def smoothed_at(self, shares: Floats, smoothing: float, rng: Generator) -> Drawn:
        """Codes of the quantiles of the smoothed distribution, shape (m,)."""
        return _codes_at(self._counts() + smoothing * pd.notna(self.cells), shares)

    def _counts(self) -> Integers:
        return np.bincount(self.codes, minlength=self.cells.size)


@dataclass(frozen=True)
class NumberDistribution:
    """Distribution of numbers, interpolated linearly between the middles of steps; a missing number is the last.

    - domain: Range and bins of the numbers.
    - coded: The column coded by its domain, with at least one number.
    """

    domain: NumericDomain
    coded: CodedColumn

    def shares(self) -> Floats:
        """Mid-rank of each record as a share, shape (n,)."""
        counts = self.coded.counts
        twice_the_rank = 2 * np.cumsum(counts) - counts
        return np.asarray((twice_the_rank / 2 / self.coded.codes.size)[self.coded.codes])

    def at(self, shares: Floats) -> Drawn:
        """Interpolated quantiles at these shares, rounded where the domain holds integers; shape (m,)."""
        present = slice(self.coded.missing)
        ordered = np.repeat(self.coded.values[present], self.coded.counts[present])
        rank = shares * self.coded.codes.size
        values = np.interp(rank - 0.5, np.arange(ordered.size), ordered)
        return np.where(rank < ordered.size, np.rint(values) if self.domain.integer else values, np.nan)

    def smoothed_at(self, shares: Floats, smoothing: float, rng: Generator) -> Drawn:
        """Quantiles of the smoothed distribution, uniform inside each public bin, shape (m,)."""
        domain = self.domain
        edges = np.ceil(domain.edges) if domain.integer else domain.edges
        # A bin strictly between two integers holds no integer.
        possible = ~(domain.integer & (np.diff(edges) == 0))
        bins = domain.codes(self.coded.values)
        counts = np.bincount(bins, weights=self.coded.counts, minlength=domain.size + 1)
        code = _codes_at(counts + smoothing * np.append(possible, 0), shares)
        low, high = np.append(edges[:-1], np.nan)[code], np.append(edges[1:], np.nan)[code]
        values = low + rng.random(code.size) * (high - low)
        return np.asarray(np.floor(values) if domain.integer else values)


def distribution(column: MixedColumn) -> CategoryDistribution | NumberDistribution:
    """Distribution of a column with at least one value."""
    if column.cells is not None:
        return CategoryDistribution(column.values, column.cells)
    assert isinstance(column.domain, NumericDomain)  # noqa: S101 (other columns have cells)
    return NumberDistribution(column.domain, code_column(column.original, column.domain))


def _codes_at(weights: NDArray[Any], shares: Floats) -> Integers:
    """Code at each share in [0, 1), shape (m,), given the weights of the codes; codes of weight 0 never occur."""
    cumulative = np.cumsum(weights, dtype=float)
    last = int(np.flatnonzero(weights)[-1])
    return np.asarray(np.minimum(np.searchsorted(cumulative, shares * cumulative[-1], side="right"), last))
