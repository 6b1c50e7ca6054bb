"""Losses of the nodes in the lattice of generalizations, including suppressed rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from defenses.grouping.incognito.lattice import FrequencySet, Lattice, Node
from metrics.columns import Booleans, Floats


class NodeLoss(ABC):
    """A loss that generalization never reduces as long as no row is suppressed."""

    def terms(self, lattice: Lattice) -> list[Floats] | None:
        """For each column, its share of the loss at each level without suppression; None if the loss is no such sum."""
        return None

    @abstractmethod
    def bounds(self, lattice: Lattice) -> Floats:
        """Lower bound on the loss of every node, for any set of suppressed rows; has the shape of the lattice."""

    @abstractmethod
    def of(self, lattice: Lattice, node: Node, classes: FrequencySet, suppressed: Booleans) -> float:
        """Loss of a node with these classes, some of them suppressed."""


class CellLoss(NodeLoss):
    """Mean over rows and columns of a loss per cell in [0, 1]; a suppressed cell costs 1.

    No cell costs more than 1, so suppression never reduces the mean. The mean without suppression is a lower bound.
    """

    @abstractmethod
    def cells(self, lattice: Lattice, column: int) -> Floats:
        """Loss of each value of a column at each level, shape (levels, groups on level 0)."""

    def terms(self, lattice: Lattice) -> list[Floats]:
        """Each column's share of the mean without suppression."""
        sizes = lattice.finest.sizes
        means = []
        for index, column in enumerate(lattice.columns):
            rows = np.bincount(column.codes, weights=sizes, minlength=column.counts[0])
            means.append(self.cells(lattice, index) @ rows / (sizes.sum() * len(lattice.columns)))
        return means

    def bounds(self, lattice: Lattice) -> Floats:
        """Mean without suppression, which is a sum over the columns."""
        return outer_sum(self.terms(lattice))

    def of(self, lattice: Lattice, node: Node, classes: FrequencySet, suppressed: Booleans) -> float:
        """Average the losses of the released cells, and 1 for every suppressed cell."""
        members = classes.members[~suppressed]
        row_loss = np.zeros(members.size)
        for index, (column, level) in enumerate(zip(lattice.columns, node, strict=True)):
            row_loss += self.cells(lattice, index)[level, column.codes[members]]
        columns = len(node)
        total = row_loss @ classes.sizes[~suppressed] + columns * classes.sizes[suppressed].sum()
        return float(total / (columns * classes.sizes.sum()))


class NormalizedLoss(CellLoss):
    """Normalised loss: the share (leaves - 1) / (all leaves - 1) of the domain that a cell covers."""

    def cells(self, lattice: Lattice, column: int) -> Floats:
        """Losses given by the hierarchy."""
        return lattice.columns[column].losses


class PrecisionLoss(CellLoss):
    """Precision loss: level divided by the height of the hierarchy, which is 1 - Sweeney's precision."""

    def cells(self, lattice: Lattice, column: int) -> Floats:
        """Level divided by height, equal for all values."""
        losses = lattice.columns[column].losses
        share = np.linspace(0.0, 1.0, len(losses)) if len(losses) > 1 else np.zeros(1)
        return np.broadcast_to(share[:, None], losses.shape)


class HeightLoss(NodeLoss):
    """Height: sum of the levels; suppression costs nothing."""

    def terms(self, lattice: Lattice) -> list[Floats]:
        """Levels of each column."""
        return [np.arange(levels, dtype=float) for levels in lattice.shape]

    def bounds(self, lattice: Lattice) -> Floats:
        """Exact loss of every node."""
        return outer_sum(self.terms(lattice))

    def of(self, lattice: Lattice, node: Node, classes: FrequencySet, suppressed: Booleans) -> float:
        """Add the levels."""
        return float(sum(node))


class DiscernibilityLoss(NodeLoss):
    """Discernibility: each released row counts the size of its class, and each suppressed row the table's size."""

    def bounds(self, lattice: Lattice) -> Floats:
        """Loss of the original values: classes only grow, so no node has a smaller one."""
        return np.full(lattice.shape, float((lattice.finest.sizes.astype(float) ** 2).sum()))

    def of(self, lattice: Lattice, node: Node, classes: FrequencySet, suppressed: Booleans) -> float:
        """Sum the squared sizes of the released classes, and n for every suppressed row."""
        sizes = classes.sizes.astype(float)
        return float((sizes[~suppressed] ** 2).sum() + sizes[suppressed].sum() * sizes.sum())


class AverageClassSizeLoss(NodeLoss):
    """Average class size; all suppressed rows form one class."""

    def bounds(self, lattice: Lattice) -> Floats:
        """Average class size of the original values, which have the most classes."""
        return np.full(lattice.shape, float(lattice.finest.sizes.mean()))

    def of(self, lattice: Lattice, node: Node, classes: FrequencySet, suppressed: Booleans) -> float:
        """Divide the number of rows by the number of classes."""
        return float(classes.sizes.sum() / ((~suppressed).sum() + suppressed.any()))


LOSSES: dict[str, NodeLoss] = {
    "normalized": NormalizedLoss(),
    "precision": PrecisionLoss(),
    "discernibility": DiscernibilityLoss(),
    "average_class_size": AverageClassSizeLoss(),
    "height": HeightLoss(),
}


def outer_sum(terms: Sequence[Floats]) -> Floats:
    """Sums of one term from each sequence, in all combinations; shape (len(terms[0]), len(terms[1]), …)."""
    total = np.zeros(())
    for term in terms:
        total = total[..., None] + term
    return np.asarray(total)
