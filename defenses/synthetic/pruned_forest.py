"""Leaves of a forest that hold enough records, with their bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrics.columns import Floats, Integers

Features = NDArray[np.float32]


@dataclass(frozen=True)
class PrunedForest:
    """Trees in which every leaf holds at least a given number of records.

    Nodes of all trees are numbered together. A split with too few records on one side is dropped, and all records of
    the node go to the other side. A node with too few records on either side becomes a leaf.

    Attributes
    ----------
    left, right : ndarray of int, shape (nodes,)
        Children of each node; both are the same node after a dropped split, and the node itself for a leaf.
    feature : ndarray of int, shape (nodes,)
        Feature that is split; 0 for leaves.
    threshold : ndarray of float, shape (nodes,)
        Values up to it go left.
    roots : ndarray of int, shape (trees,)
        Root of each tree.
    """

    left: Integers
    right: Integers
    feature: Integers
    threshold: Floats
    roots: Integers

    @staticmethod
    def of(trees: Sequence[Any], features: Features, fewest: int) -> PrunedForest:
        """Prune fitted trees.

        Parameters
        ----------
        trees : sequence of DecisionTreeClassifier
            The fitted trees.
        features : ndarray of float, shape (n, features)
            The records that count.
        fewest : int
            Smallest number of records in a leaf, at most n.
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

        Parameters
        ----------
        columns : int
            Number of features.
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

    Attributes
    ----------
    leaf : ndarray of int, shape (n, trees)
        Leaf of each record in each tree.
    members : ndarray of int, shape (n * trees,)
        Records in the order of their leaves.
    start, count : ndarray of int, shape (nodes,)
        Position of each leaf's first record among `members`, and its number of records.
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
