"""Best-first search of lattices that are too large to visit: branch and bound over ever larger subsets of columns."""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from defenses.grouping.constraints import all_hold
from defenses.grouping.incognito.lattice import DENSE, FrequencySet, Lattice, Node, number_tuples
from defenses.grouping.incognito.losses import NodeLoss
from defenses.grouping.incognito.search import DIGITS, ClassRequirements, SearchResult, Verdict, rows_of_share
from metrics.columns import Floats, Integers

_Partition = tuple[Integers, int]
"""Class of each distinct combination of original values, and the number of classes."""

_REACHES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Shares of the rows that searches may suppress; they are fixed, so that searches for two limits have some in common.
"""


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

    A larger limit on suppressed rows never ends with a larger loss, unless `seconds` ends a search.

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
        Largest number of subsets of columns that one search tests at some levels.
    seconds : float, optional
        Largest running time of all searches; the result then depends on the machine.

    Notes
    -----
    Searches. A search closes branches that suppress more rows than its *reach*: the limit, rounded up to a fixed share.
    If it proves no optimum, a search follows for each smaller reach, down to none, and starts with the best node so
    far. Of two limits, the larger one therefore makes every search of the smaller one. A better start keeps the order
    of a search, and spares only branches that cannot improve on it.

    Bound. Free columns only coarsen from their lowest levels, and no loss falls by generalization without suppression.
    No loss falls by suppression below that of the same node without it. The loss of the branch's finest node without
    suppression is therefore a lower bound.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan (2005), Incognito, section 3.1 (the a-priori pruning of subsets).
    Prasser, Bild, Eicher, Spengler and Kuhn (2016), Lightning: utility-driven anonymization of high-dimensional data,
    for the setting: large lattices searched best-first under a limit.
    """
    rows = int(lattice.finest.sizes.sum())
    reaches = sorted({rows_of_share(share, rows) for share in _REACHES})
    count = 1 + next(place for place, reach in enumerate(reaches) if reach >= requirements.limit)
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    search, bound = _Search(lattice, requirements, loss), -math.inf
    for left in range(count, 0, -1):
        now = time.monotonic()
        least = search.run(reaches[left - 1], tests, now + (deadline - now) / left)
        if left == count:
            bound = least
        if bound >= search.rank[0]:
            return LimitedResult(search.best, search.rank[0], complete=True)
    return LimitedResult(search.best, bound, complete=False)


class _Search:
    """Searches of one lattice: the best node of all of them, and the open branches and remaining limits of the last."""

    def __init__(self, lattice: Lattice, requirements: ClassRequirements, loss: NodeLoss) -> None:
        self.lattice, self.requirements, self.loss = lattice, requirements, loss
        self.terms = loss.terms(lattice)
        sizes = lattice.finest.sizes
        self.members = np.arange(sizes.size)
        self.weights = sizes if (sizes > 1).any() else None
        self.groups: dict[tuple[int, int], Integers] = {}
        self.best: SearchResult | None = None
        self.rank: tuple[float, int, Node] = (math.inf, 0, ())
        self.open: list[tuple[float, int, _Branch]] = []
        self.reach = self.tests = self.pushed = 0

    def run(self, reach: int, tests: int, deadline: float) -> float:
        """Search the branches that suppress at most `reach` rows; a lower bound on the loss of their nodes."""
        self.reach, self.tests, self.open, self.pushed = reach, tests, [], 0
        columns = len(self.lattice.shape)
        self._try(tuple(levels - 1 for levels in self.lattice.shape))
        self._push(_Branch((0,) * columns, ()))
        while self.open and self.open[0][0] <= self.rank[0]:
            if self.tests <= 0 or time.monotonic() >= deadline:
                return self.open[0][0]
            self._dive(heapq.heappop(self.open)[2])
        return self.rank[0]

    def _dive(self, branch: _Branch) -> None:
        """Follow the best child down to a node, and keep the other children open."""
        partition: _Partition = (np.zeros(self.members.size, dtype=np.intp), 1)
        for column in branch.fixed:
            partition = self._split(partition, column, branch.levels[column])
        while True:
            expanded = self._tightened(branch, partition)
            if expanded is None:
                return
            branch, counts = expanded
            if self._bound(branch.levels) > self.rank[0]:
                return
            if not counts:
                self._try(branch.levels)
                return
            column = self._branching_column(branch, counts)
            child, *others = self._children(branch, column)
            for other in others:
                self._push(other)
            branch, partition = child, self._split(partition, column, branch.levels[column])

    def _tightened(self, branch: _Branch, partition: _Partition) -> tuple[_Branch, dict[int, int]] | None:
        """The branch with the lowest possible levels, and how many classes each free column gives; None if closed."""
        levels, counts = list(branch.levels), {}
        for column, level_count in enumerate(self.lattice.shape):
            if column in branch.fixed:
                continue
            for level in range(levels[column], level_count):
                rows = self._class_rows(partition, column, level)
                self.tests -= 1
                # Too many rows in classes of fewer than k are too many in all finer nodes too.
                if rows[rows < self.requirements.k].sum() <= self.reach:
                    levels[column], counts[column] = level, int(np.count_nonzero(rows))
                    break
            else:
                return None
        return _Branch(tuple(levels), branch.fixed), counts

    def _branching_column(self, branch: _Branch, counts: dict[int, int]) -> int:
        """The free column whose next level raises the bound most; one without a next level comes first."""

        def rise(column: int) -> tuple[float, int]:
            level = branch.levels[column] + 1
            if level == self.lattice.shape[column]:
                return math.inf, counts[column]
            levels = (*branch.levels[:column], level, *branch.levels[column + 1 :])
            return (0.0 if self.terms is None else self._bound(levels)), counts[column]

        return max(counts, key=rise)

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
        return number_tuples(
            [classes, self._groups(column, level)], [count, self.lattice.columns[column].counts[level]]
        )

    def _class_rows(self, partition: _Partition, column: int, level: int) -> Integers | Floats:
        """Number of rows of each class that a column at a level splits off; some may have none."""
        classes, count = partition
        groups = self.lattice.columns[column].counts[level]
        if count * groups > DENSE * classes.size:
            classes, count = self._split(partition, column, level)
            return np.bincount(classes, weights=self.weights, minlength=count)
        keys = classes * groups + self._groups(column, level)
        return np.bincount(keys, weights=self.weights, minlength=count * groups)

    def _groups(self, column: int, level: int) -> Integers:
        """Group of each distinct combination of original values in a column at a level."""
        if (column, level) not in self.groups:
            self.groups[column, level] = self.lattice.columns[column].at(level, self.members)
        return self.groups[column, level]

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
