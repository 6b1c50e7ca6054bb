"""Incognito's search of the lattice: which nodes satisfy the requirements, and which of them has the least loss."""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, singledispatch
from itertools import combinations

import numpy as np

from defenses.grouping.constraints import (
    ROUNDING,
    Constraint,
    EntropyDiversity,
    EqualCloseness,
    LargestShare,
    OrderedCloseness,
    RecursiveDiversity,
    SensitiveColumn,
    all_hold,
    blocks,
)
from defenses.grouping.incognito.lattice import DENSE, FrequencySet, Lattice, Node, NodeLoss, number_tuples, outer_sum
from metrics.columns import Booleans, Floats, Integers

# Upper bounds on the rows of a class that finer classes can release under constraints.

_SLACK = 1e-9
"""Relative slack of each bound, so that rounding errors never exclude an allowed node."""

_LEAST_MARGIN = 1e-3
"""Smallest denominator of a bound; smaller ones amplify rounding errors and exclude little."""

_RANKS = 8
"""Largest number of most frequent values whose joint share is bounded."""


def releasable_rows(constraints: Sequence[Constraint], counts: Integers, table: Floats) -> Integers:
    """Upper bound on the rows of each class that finer classes can release under all constraints.

    If the classes of a node can release too few rows, all finer nodes are rejected without a test.

    - counts of shape (classes, values): Counts of each sensitive value in each class; no class is empty.
    - table of shape (values,): Share of each value in the whole table.
    - returns shape (classes,).

    Notes
    -----
    Split a class of n rows with counts n_v in any way, and release the parts that satisfy a constraint. Merged, these
    parts satisfy it too (see `Constraint`). They form a class of s rows with counts x_v <= n_v.

    - Suppose that the j most frequent values of every allowed class have at most a share P_j < 1 of it. The other
      values then have at least (1 - P_j) s rows. Hence s <= (n minus the j largest n_v) / (1 - P_j).
    - Suppose that sum w_v x_v >= m s for weights w_v >= 0 and some m > 0. Then s <= sum w_v n_v / m.

    The functions below name P_j, or the weights and m, for each constraint. With two values, the bounds are exact
    except for rounding to integers.
    """
    most = counts.sum(axis=1).astype(float)
    for constraint in constraints:
        most = np.minimum(most, _bound(constraint, counts, table))
    return np.asarray(np.floor(most * (1 + _SLACK) + _SLACK).astype(np.intp))


@singledispatch
def _bound(constraint: Constraint, counts: Integers, table: Floats) -> Floats:
    """Bound for one constraint; by default, all rows unless the class fails and so do all its parts."""
    rows = counts.sum(axis=1).astype(float)
    return np.where(constraint.holds(counts, table), rows, 0.0) if constraint.spoils_all else rows


@_bound.register
def _(constraint: LargestShare, counts: Integers, table: Floats) -> Floats:
    alpha = constraint.alpha + 2 * ROUNDING
    return _by_largest_shares(counts, [j * alpha for j in range(1, _ranks(table) + 1)])


@_bound.register
def _(constraint: EntropyDiversity, counts: Integers, table: Floats) -> Floats:
    return _by_largest_shares(counts, _shares_of_entropy(constraint.l, int((table > 0).sum()), _ranks(table)))


@_bound.register
def _(constraint: RecursiveDiversity, counts: Integers, table: Floats) -> Floats:
    """No x_v exceeds c (r_l + … + r_m), and this sum is at most that of the whole class."""
    ranked = -np.sort(-counts, axis=1)
    cap = constraint.c * ranked[:, constraint.l - 1 :].sum(axis=1) * (1 + _SLACK)
    return np.asarray(np.minimum(counts, cap[:, None]).sum(axis=1))


@_bound.register
def _(constraint: EqualCloseness, counts: Integers, table: Floats) -> Floats:
    """For every set V of values, q(V) - x(V) / s <= t; sets of values with the least n_v / q_v are used."""
    ratios = np.divide(counts, table, out=np.full(counts.shape, np.inf), where=table > 0)
    order = np.argsort(ratios, axis=1, kind="stable")
    rows = np.take_along_axis(counts, order, axis=1).cumsum(axis=1)
    return _least_quotient(rows, table[order].cumsum(axis=1) - (constraint.t + 2 * ROUNDING))


@_bound.register
def _(constraint: OrderedCloseness, counts: Integers, table: Floats) -> Floats:
    """For every j, sum_{i <= j} (Q_i - P_i) <= t (m - 1), with P and Q cumulative from either end of m values."""
    cost = (constraint.t + 2 * ROUNDING) * max(1, table.size - 1)
    bounds = [
        _least_quotient(n.cumsum(axis=1).cumsum(axis=1)[:, :-1], (q.cumsum().cumsum() - cost)[:-1])
        for n, q in ((counts, table), (counts[:, ::-1], table[::-1]))
    ]
    return np.minimum(*bounds)


def _by_largest_shares(counts: Integers, shares: Sequence[float]) -> Floats:
    """Bound by the largest shares P_j of the j most frequent values, for j = 1, 2, and so on."""
    ranked = -np.sort(-counts, axis=1)
    others = counts.sum(axis=1, keepdims=True) - ranked[:, : len(shares)].cumsum(axis=1)
    return _least_quotient(others, 1 - np.asarray(shares, dtype=float))


def _least_quotient(rows: Integers, margins: Floats) -> Floats:
    """Smallest quotient of rows and margin of each class, over the margins that are clearly positive."""
    quotients = np.full(rows.shape, np.inf)
    np.divide(rows, margins, out=quotients, where=np.broadcast_to(margins > _LEAST_MARGIN, rows.shape))
    return np.asarray(quotients.min(axis=1, initial=np.inf))


def _ranks(table: Floats) -> int:
    return min(_RANKS, table.size)


@lru_cache(256)
def _shares_of_entropy(l: float, values: int, ranks: int) -> list[float]:  # noqa: E741
    """Largest joint share of the j most frequent of m values at an entropy of log l, for j from 1 to `ranks`.

    A joint share P allows an entropy of at most h(P) + P log j + (1 - P) log(m - j); h is the binary entropy. This
    bound falls in P from j / m on.
    """
    least = math.log(l - ROUNDING) - _SLACK if l > ROUNDING else -math.inf
    return [_largest_share(least, j, values) for j in range(1, ranks + 1)]


def _largest_share(least: float, j: int, values: int) -> float:
    if j >= values:
        return 1.0

    def entropy(share: float) -> float:
        return -share * math.log(share / j) - (1 - share) * math.log((1 - share) / (values - j))

    low, high = j / values, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if entropy(middle) >= least else (low, middle)
    return high


_LARGEST_SUBSET = 2
"""Largest subset of columns that is searched first; larger ones cost more time than they save (measured on Adult)."""

_CHUNK = 1024
"""Number of nodes looked up at a time."""

DIGITS = 12
"""Decimals in comparisons of losses, so that rounding errors break no tie."""


@dataclass(frozen=True)
class Verdict:
    """Result of testing a node.

    - suppressed of shape (classes,): The classes that violate a requirement.
    - accepted: Whether these classes hold no more rows than may be suppressed.
    - refutes: Whether it follows from this alone that all finer nodes must be rejected too.
    """

    suppressed: Booleans
    accepted: bool
    refutes: bool


@dataclass(frozen=True)
class ClassRequirements:
    """Requirements on every class; a class that violates one is suppressed.

    - limit: Largest number of rows that may be suppressed.
    - constraints: Further constraints on the classes.
    - columns: The columns that they constrain.

    Notes
    -----
    Pruning. In every finer node and every larger set of columns, a class of fewer than k rows splits into classes of
    fewer than k rows. The same holds for classes with too few distinct values (`Constraint.spoils_all`). Generalization
    can therefore only reduce the number of rows in such classes. If a node has too many of them, it is rejected
    together with all finer nodes. For the other constraints, generalization can also spoil rows, unless none may be
    suppressed. In that case, all generalizations of an accepted node are accepted.

    Otherwise, `releasable_rows` bounds the rows of a class that any finer node releases. The remaining rows of the
    failing classes are suppressed in every finer node. If they are too many, all finer nodes are rejected.
    """

    k: int
    limit: int
    constraints: Sequence[Constraint]
    columns: Sequence[SensitiveColumn]

    @property
    def monotone(self) -> bool:
        """Whether every generalization of an accepted node is accepted."""
        return self.limit == 0 or all(constraint.spoils_all for constraint in self.constraints)

    def test(self, classes: FrequencySet) -> Verdict:
        """Test a node with these classes."""
        failing = classes.sizes < self.k
        if self._rows(classes, failing) > self.limit:
            return Verdict(failing, accepted=False, refutes=True)
        if not self.constraints:
            return Verdict(failing, accepted=True, refutes=False)
        failing |= ~self._hold(classes, [constraint for constraint in self.constraints if constraint.spoils_all])
        if self._rows(classes, failing) > self.limit:
            return Verdict(failing, accepted=False, refutes=True)
        failing |= ~self._hold(classes, [constraint for constraint in self.constraints if not constraint.spoils_all])
        accepted = self._rows(classes, failing) <= self.limit
        return Verdict(failing, accepted, refutes=not accepted and self.monotone)

    def excludes_finer(self, classes: FrequencySet, verdict: Verdict) -> bool:
        """Tell whether all nodes finer than a node with these classes and this verdict must be rejected too."""
        if verdict.accepted or verdict.refutes:
            return verdict.refutes
        return self._lost_rows(classes, verdict.suppressed) > self.limit

    def _lost_rows(self, classes: FrequencySet, failing: Booleans) -> int:
        """Lower bound on the number of rows in failing classes that each finer node suppresses."""
        which = np.flatnonzero(failing & (classes.sizes >= self.k))
        releasable = classes.sizes[which]
        for column, histogram in zip(self.columns, classes.histograms, strict=True):
            for block, counts in blocks(histogram, which):
                most = releasable_rows(self.constraints, counts, column.table)
                releasable[block] = np.minimum(releasable[block], most)
        return self._rows(classes, failing) - int(releasable[releasable >= self.k].sum())

    def _hold(self, classes: FrequencySet, constraints: Sequence[Constraint]) -> Booleans:
        return all_hold(constraints, self.columns, classes.histograms, classes.sizes.size)

    @staticmethod
    def _rows(classes: FrequencySet, failing: Booleans) -> int:
        return int(classes.sizes[failing].sum())


@dataclass(frozen=True)
class SearchResult:
    """An accepted node with its loss and classes.

    - suppressed of shape (classes,): The classes that are suppressed.
    """

    node: Node
    loss: float
    classes: FrequencySet
    suppressed: Booleans


def rows_of_share(share: float, rows: int) -> int:
    """Number of rows of a share, rounded down."""
    return math.floor(round(share * rows, 6))


def optimum(lattice: Lattice, requirements: ClassRequirements, loss: NodeLoss) -> SearchResult | None:
    """Find the accepted node of least loss; ties go to the least height, then to the lowest levels.

    Nodes are visited from the most general to the finest, so that a rejected node closes many finer ones. An accepted
    node closes all nodes whose lower bound exceeds its loss. Suppression can make a finer node cost more than a more
    general one. For this reason no other nodes are closed.
    """
    bounds = np.round(loss.bounds(lattice), DIGITS)
    opened = _open(lattice, requirements)
    best: tuple[float, int, Node] | None = None
    result: SearchResult | None = None
    for node in _visit(opened, _finer_count(lattice.shape)):
        classes = lattice.frequency_set(node)
        verdict = requirements.test(classes)
        if requirements.excludes_finer(classes, verdict):
            opened[_finer(node)] = False
        if not verdict.accepted:
            continue
        node_loss = loss.of(lattice, node, classes, verdict.suppressed)
        rank = (round(node_loss, DIGITS), sum(node), node)
        if best is None or rank < best:
            best, result = rank, SearchResult(node, node_loss, classes, verdict.suppressed)
            opened &= bounds <= rank[0]
    return result


def minimal_nodes(lattice: Lattice, requirements: ClassRequirements) -> list[Node]:
    """List the accepted nodes without a finer accepted node, sorted by height and then by levels."""
    opened = _open(lattice, requirements)
    accepted = np.zeros(lattice.shape, dtype=bool)
    finer = _finer_count(lattice.shape)
    # A test decides all finer or all coarser nodes: nodes with many of both come first.
    for node in _visit(opened, np.minimum(finer, np.flip(finer))):
        classes = lattice.frequency_set(node)
        verdict = requirements.test(classes)
        accepted[node] |= verdict.accepted
        if requirements.excludes_finer(classes, verdict):
            opened[_finer(node)] = False
        elif verdict.accepted and requirements.monotone:
            opened[_coarser(node)] = False
            accepted[_coarser(node)] = True
    below = np.zeros_like(accepted)
    reached = accepted.copy()
    for axis in range(accepted.ndim):
        reached = np.logical_or.accumulate(reached, axis=axis)
    for axis in range(accepted.ndim):
        np.moveaxis(below, axis, 0)[1:] |= np.moveaxis(reached, axis, 0)[:-1]
    return sorted(map(tuple, np.argwhere(accepted & ~below).tolist()), key=lambda node: (sum(node), node))


def _open(lattice: Lattice, requirements: ClassRequirements) -> Booleans:
    """Nodes that no small subset of the columns excludes; each subset starts from what smaller subsets left open."""
    opened = np.ones(lattice.shape, dtype=bool)
    dimensions = range(len(lattice.shape))
    for size in range(1, min(_LARGEST_SUBSET, len(lattice.shape) - 1) + 1):
        for subset in combinations(dimensions, size):
            others = tuple(axis for axis in dimensions if axis not in subset)
            part = lattice.projected(subset)
            opened_part = np.asarray(opened.any(axis=others))
            for node in _visit(opened_part, _finer_count(part.shape)):
                classes = part.frequency_set(node)
                if requirements.excludes_finer(classes, requirements.test(classes)):
                    opened_part[_finer(node)] = False
            opened &= np.expand_dims(opened_part, others)
    return opened


def _finer_count(shape: Node) -> Floats:
    """Logarithm of the number of nodes that are equal to or finer than each node."""
    return outer_sum([np.log(np.arange(1, levels + 1)) for levels in shape])


def _visit(opened: Booleans, priority: Floats) -> Iterator[Node]:
    """Yield the nodes that are still open when reached, by descending priority; `opened` is contiguous."""
    order = np.argsort(-priority, axis=None, kind="stable")
    flat = opened.reshape(-1)
    for start in range(0, order.size, _CHUNK):
        chunk = order[start : start + _CHUNK]
        for index in chunk[flat[chunk]].tolist():
            if flat[index]:
                yield tuple(int(level) for level in np.unravel_index(index, opened.shape))


def _finer(node: Node) -> tuple[slice, ...]:
    """Index of the nodes that are equal to or finer than this one."""
    return tuple(slice(level + 1) for level in node)


def _coarser(node: Node) -> tuple[slice, ...]:
    """Index of the nodes that are equal to or coarser than this one."""
    return tuple(slice(level, None) for level in node)


# Best-first search of lattices that are too large to visit: branch and bound over ever larger subsets of columns.

_Partition = tuple[Integers, int]
"""Class of each distinct combination of original values, and the number of classes."""

_REACHES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Shares of the rows that searches may suppress; they are fixed, so that searches for two limits have some in common.
"""


@dataclass(frozen=True)
class _Branch:
    """All nodes with the same levels in some columns, and at least given levels in the others.

    - levels: Level of each fixed column, and the lowest level of each other column.
    - fixed: Positions of the fixed columns.
    """

    levels: Node
    fixed: tuple[int, ...]


def limited_optimum(
    lattice: Lattice, requirements: ClassRequirements, loss: NodeLoss, tests: int, seconds: float | None = None
) -> tuple[SearchResult | None, float, bool]:
    """Find the accepted node of least loss by branch and bound; ties go to the least height, then to the lowest levels.

    A larger limit on suppressed rows never ends with a larger loss, unless `seconds` ends a search.

    A branch fixes the levels of some columns. It is closed if these levels alone violate k-anonymity (subset property),
    or if no free column has a level that satisfies it together with them. Each free column's lowest such level bounds
    the loss of the branch from below. The search expands the branch of least bound and follows its best child down to
    a node, so that good nodes appear early. A node with suppressed rows is accepted only if these rows form a class
    that meets all requirements.

    - lattice: The lattice; it is never held as a whole.
    - tests: Largest number of subsets of columns that one search tests at some levels.
    - seconds, optional: Largest running time of all searches; the result then depends on the machine.
    - returns best: The accepted node of least loss among those tested; None if none was accepted.
    - returns bound: Lower bound on the loss of every accepted node.
    - returns complete: Whether the search ended by itself: `best` is then an optimum, or no node is accepted.

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
            return search.best, search.rank[0], True
    return search.best, bound, False


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
