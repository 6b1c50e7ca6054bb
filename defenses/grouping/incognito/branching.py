"""Best-first search of lattices that are too large to visit: branch and bound over ever larger subsets of columns."""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from defenses.grouping.constraints import all_hold
from defenses.grouping.incognito.lattice import FrequencySet, Lattice, Node, number_tuples
from defenses.grouping.incognito.losses import NodeLoss
from defenses.grouping.incognito.search import DIGITS, ClassRequirements, SearchResult, Verdict
from metrics.arrays import Integers

_Partition = tuple[Integers, int]
"""Class of each distinct combination of original values, and the number of classes."""


@dataclass(frozen=True)
class LimitedResult:
    """The best node of a limited search.

    Attributes
    ----------
    best : SearchResult or None
        The accepted node of least loss among those tested; None if none was accepted.
    bound : float
        Lower bound on the loss of every accepted node.
    complete : bool
        Whether the search ended by itself: `best` is then an optimum, or no node is accepted.
    """

    best: SearchResult | None
    bound: float
    complete: bool


@dataclass(frozen=True)
class _Branch:
    """All nodes with the same levels in some columns, and at least given levels in the others.

    Attributes
    ----------
    levels : tuple of int
        Level of each fixed column, and the lowest level of each other column.
    fixed : tuple of int
        Positions of the fixed columns.
    """

    levels: Node
    fixed: tuple[int, ...]


def limited_optimum(
    lattice: Lattice, requirements: ClassRequirements, loss: NodeLoss, tests: int, seconds: float | None = None
) -> LimitedResult:
    """Find the accepted node of least loss by branch and bound; ties go to the least height, then to the lowest levels.

    A branch fixes the levels of some columns. It is closed if these levels alone violate k-anonymity (subset property),
    or if no free column has a level that satisfies it together with them. Each free column's lowest such level bounds
    the loss of the branch from below. The search expands the branch of least bound and follows its best child down to
    a node, so that good nodes appear early. A node with suppressed rows is accepted only if these rows form a class
    that meets all requirements.

    Parameters
    ----------
    lattice : Lattice
        The lattice; it is never held as a whole.
    requirements : ClassRequirements
        The requirements on classes.
    loss : NodeLoss
        The loss to minimise.
    tests : int
        Largest number of subsets of columns that are tested at some levels.
    seconds : float, optional
        Largest running time; the result then depends on the machine.

    Notes
    -----
    Bound. Free columns only coarsen from their lowest levels, and no loss falls by generalization without suppression.
    No loss falls by suppression below that of the same node without it. The loss of the branch's finest node without
    suppression is therefore a lower bound.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan (2005), Incognito, section 3.1 (the a-priori pruning of subsets).
    Prasser, Bild, Eicher, Spengler and Kuhn (2016), Lightning: utility-driven anonymization of high-dimensional data,
    for the setting: large lattices searched best-first under a limit.
    """
    return _Search(lattice, requirements, loss, tests, seconds).run()


class _Search:
    """One search: the open branches, the best node, and the remaining limits."""

    def __init__(
        self, lattice: Lattice, requirements: ClassRequirements, loss: NodeLoss, tests: int, seconds: float | None
    ) -> None:
        self.lattice, self.requirements, self.loss = lattice, requirements, loss
        self.terms = loss.terms(lattice)
        self.sizes = lattice.finest.sizes
        self.members = np.arange(self.sizes.size)
        self.tests = tests
        self.deadline = math.inf if seconds is None else time.monotonic() + seconds
        self.best: SearchResult | None = None
        self.rank: tuple[float, int, Node] = (math.inf, 0, ())
        self.open: list[tuple[float, int, _Branch]] = []
        self.pushed = 0

    def run(self) -> LimitedResult:
        columns = len(self.lattice.shape)
        self._try(tuple(levels - 1 for levels in self.lattice.shape))
        self._push(_Branch((0,) * columns, ()))
        while self.open and self.open[0][0] <= self.rank[0]:
            if self.tests <= 0 or time.monotonic() >= self.deadline:
                return LimitedResult(self.best, min(self.open[0][0], self.rank[0]), complete=False)
            self._dive(heapq.heappop(self.open)[2])
        return LimitedResult(self.best, self.rank[0], complete=True)

    def _dive(self, branch: _Branch) -> None:
        """Follow the best child down to a node, and keep the other children open."""
        partition: _Partition = (np.zeros(self.members.size, dtype=np.intp), 1)
        for column in branch.fixed:
            partition = self._split(partition, column, branch.levels[column])
        while True:
            expanded = self._tightened(branch, partition)
            if expanded is None:
                return
            branch, splits = expanded
            if self._bound(branch.levels) > self.rank[0]:
                return
            if not splits:
                self._try(branch.levels)
                return
            column = self._branching_column(branch, splits)
            child, *others = self._children(branch, column)
            for other in others:
                self._push(other)
            branch, partition = child, splits[column]

    def _tightened(self, branch: _Branch, partition: _Partition) -> tuple[_Branch, dict[int, _Partition]] | None:
        """The branch with the lowest possible levels, and the classes with each free column added; None if closed."""
        levels, splits = list(branch.levels), {}
        for column, level_count in enumerate(self.lattice.shape):
            if column in branch.fixed:
                continue
            for level in range(levels[column], level_count):
                split = self._split(partition, column, level)
                self.tests -= 1
                if not self._refuted(split):
                    levels[column], splits[column] = level, split
                    break
            else:
                return None
        return _Branch(tuple(levels), branch.fixed), splits

    def _branching_column(self, branch: _Branch, splits: dict[int, _Partition]) -> int:
        """The free column whose next level raises the bound most; one without a next level comes first."""

        def rise(column: int) -> tuple[float, int]:
            level = branch.levels[column] + 1
            if level == self.lattice.shape[column]:
                return math.inf, splits[column][1]
            levels = (*branch.levels[:column], level, *branch.levels[column + 1 :])
            return (0.0 if self.terms is None else self._bound(levels)), splits[column][1]

        return max(splits, key=rise)

    def _children(self, branch: _Branch, column: int) -> Iterator[_Branch]:
        """Fix a column at each of its remaining levels, the finest first."""
        fixed = (*branch.fixed, column)
        for level in range(branch.levels[column], self.lattice.shape[column]):
            yield _Branch((*branch.levels[:column], level, *branch.levels[column + 1 :]), fixed)

    def _push(self, branch: _Branch) -> None:
        bound = self._bound(branch.levels)
        if bound <= self.rank[0]:
            # Of equal bounds the deeper branch, then the older one, comes first.
            order = -len(branch.fixed) * (1 << 40) + self.pushed
            heapq.heappush(self.open, (bound, order, branch))
            self.pushed += 1

    def _bound(self, levels: Node) -> float:
        """Loss of this node without suppression, rounded: a lower bound on all coarser ones."""
        if self.terms is not None:
            return round(float(sum(term[level] for term, level in zip(self.terms, levels, strict=True))), DIGITS)
        classes = self.lattice.frequency_set(levels)
        return round(self.loss.of(self.lattice, levels, classes, np.zeros(classes.sizes.size, dtype=bool)), DIGITS)

    def _split(self, partition: _Partition, column: int, level: int) -> _Partition:
        """Split classes by a column at a level."""
        classes, count = partition
        leveled = self.lattice.columns[column]
        return number_tuples([classes, leveled.at(level, self.members)], [count, leveled.counts[level]])

    def _refuted(self, partition: _Partition) -> bool:
        """Whether too many rows are in classes of fewer than k; this holds for all finer nodes too."""
        classes, count = partition
        rows = np.bincount(classes, weights=self.sizes, minlength=count)
        return float(rows[rows < self.requirements.k].sum()) > self.requirements.limit

    def _try(self, node: Node) -> None:
        """Test a node and keep it if it is accepted and the best so far."""
        classes = self.lattice.frequency_set(node)
        verdict = self.requirements.test(classes)
        self.tests -= 1
        if not verdict.accepted or not self._suppressed_meet(classes, verdict):
            return
        node_loss = self.loss.of(self.lattice, node, classes, verdict.suppressed)
        rank = (round(node_loss, DIGITS), sum(node), node)
        if self.best is None or rank < self.rank:
            self.rank, self.best = rank, SearchResult(node, node_loss, classes, verdict.suppressed)

    def _suppressed_meet(self, classes: FrequencySet, verdict: Verdict) -> bool:
        if not verdict.suppressed.any():
            return True
        together = classes.put_together(verdict.suppressed)
        required = self.requirements
        enough = int(together.sizes[0]) >= required.k
        return enough and bool(all_hold(required.constraints, required.columns, together.histograms, 1).all())
