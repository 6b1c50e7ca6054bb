"""What a node of the lattice of generalizations costs, suppressed rows included."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from defenses.grouping.incognito.lattice import FrequencySet, Lattice, Node
from metrics.arrays import Booleans, Floats


class NodeLoss(ABC):
    """A loss of nodes that does not fall along generalization where no row is suppressed."""

    @abstractmethod
    def bounds(self, lattice: Lattice) -> Floats:
        """For every node a number that its loss does not fall below, whatever is suppressed; shape of the lattice."""

    @abstractmethod
    def of(self, lattice: Lattice, node: Node, classes: FrequencySet, suppressed: Booleans) -> float:
        """Loss of a node with these classes, of which some are suppressed."""


class CellLoss(NodeLoss):
    """Mean over rows and columns of a loss per cell in [0, 1], 1 where suppressed.

    As no cell loses more than 1, suppression only adds, and the mean without it is a lower bound.
    """

    @abstractmethod
    def cells(self, lattice: Lattice, column: int) -> Floats:
        """Loss on each level of each value of a column, shape (levels, groups on level 0)."""

    def bounds(self, lattice: Lattice) -> Floats:
        """Mean without suppression: the sum of what each column loses by itself."""
        sizes = lattice.finest.sizes
        means = []
        for index, column in enumerate(lattice.columns):
            rows = np.bincount(column.codes, weights=sizes, minlength=column.counts[0])
            means.append(self.cells(lattice, index) @ rows / (sizes.sum() * len(lattice.columns)))
        return outer_sum(means)

    def of(self, lattice: Lattice, node: Node, classes: FrequencySet, suppressed: Booleans) -> float:
        """Sum the cells of the classes kept, and 1 for every other cell."""
        kept = classes.members[~suppressed]
        row = np.zeros(kept.size)
        for index, (column, level) in enumerate(zip(lattice.columns, node, strict=True)):
            row += self.cells(lattice, index)[level, column.codes[kept]]
        columns = len(node)
        total = row @ classes.sizes[~suppressed] + columns * classes.sizes[suppressed].sum()
        return float(total / (columns * classes.sizes.sum()))


class NormalizedLoss(CellLoss):
    """Share of the domain that a cell is blurred into: (leaves - 1) / (all leaves - 1)."""

    def cells(self, lattice: Lattice, column: int) -> Floats:
        """Losses of the hierarchy."""
        return lattice.columns[column].losses


class PrecisionLoss(CellLoss):
    """Level by height of the hierarchy: 1 - Sweeney's precision."""

    def cells(self, lattice: Lattice, column: int) -> Floats:
        """Level by height, the same for every value."""
        losses = lattice.columns[column].losses
        share = np.linspace(0.0, 1.0, len(losses)) if len(losses) > 1 else np.zeros(1)
        return np.broadcast_to(share[:, None], losses.shape)


class HeightLoss(NodeLoss):
    """Sum of the levels; suppression is free."""

    def bounds(self, lattice: Lattice) -> Floats:
        """The loss itself."""
        return outer_sum([np.arange(levels, dtype=float) for levels in lattice.shape])

    def of(self, lattice: Lattice, node: Node, classes: FrequencySet, suppressed: Booleans) -> float:
        """Add the levels."""
        return float(sum(node))


class DiscernibilityLoss(NodeLoss):
    """Every row kept counts the rows of its class, every suppressed one all rows of the table."""

    def bounds(self, lattice: Lattice) -> Floats:
        """Classes only grow: no node tells rows apart better than their original values."""
        return np.full(lattice.shape, float((lattice.finest.sizes.astype(float) ** 2).sum()))

    def of(self, lattice: Lattice, node: Node, classes: FrequencySet, suppressed: Booleans) -> float:
        """Sum the squares of the classes kept, and n for every suppressed row."""
        sizes = classes.sizes.astype(float)
        return float((sizes[~suppressed] ** 2).sum() + sizes[suppressed].sum() * sizes.sum())


class AverageClassSizeLoss(NodeLoss):
    """Mean number of rows in a class; all suppressed rows are one class."""

    def bounds(self, lattice: Lattice) -> Floats:
        """There are no more classes than distinct combinations of original values."""
        return np.full(lattice.shape, float(lattice.finest.sizes.mean()))

    def of(self, lattice: Lattice, node: Node, classes: FrequencySet, suppressed: Booleans) -> float:
        """Divide rows by classes."""
        return float(classes.sizes.sum() / ((~suppressed).sum() + suppressed.any()))


LOSSES: dict[str, NodeLoss] = {
    "normalized": NormalizedLoss(),
    "precision": PrecisionLoss(),
    "discernibility": DiscernibilityLoss(),
    "average_class_size": AverageClassSizeLoss(),
    "height": HeightLoss(),
}


def outer_sum(terms: Sequence[Floats]) -> Floats:
    """Sum of one term from each sequence, for all choices; shape (len(terms[0]), len(terms[1]), …)."""
    total = np.zeros(())
    for term in terms:
        total = total[..., None] + term
    return np.asarray(total)
