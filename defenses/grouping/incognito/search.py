"""Incognito's search of the lattice: which nodes satisfy the requirements, and which of them has the least loss."""

from __future__ import annotations

import math
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
from defenses.grouping.incognito.lattice import FrequencySet, Lattice, Node
from defenses.grouping.incognito.losses import NodeLoss, outer_sum
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

    Parameters
    ----------
    constraints : sequence of Constraint
        The constraints.
    counts : ndarray of int, shape (classes, values)
        Counts of each sensitive value in each class; no class is empty.
    table : ndarray of float, shape (values,)
        Share of each value in the whole table.

    Returns
    -------
    ndarray of int, shape (classes,)

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

    Attributes
    ----------
    suppressed : ndarray of bool, shape (classes,)
        The classes that violate a requirement.
    accepted : bool
        Whether these classes hold no more rows than may be suppressed.
    refutes : bool
        Whether it follows from this alone that all finer nodes must be rejected too.
    """

    suppressed: Booleans
    accepted: bool
    refutes: bool


@dataclass(frozen=True)
class ClassRequirements:
    """Requirements on every class; a class that violates one is suppressed.

    Attributes
    ----------
    k : int
        Smallest class size.
    limit : int
        Largest number of rows that may be suppressed.
    constraints : sequence of Constraint
        Further constraints on the classes.
    columns : sequence of SensitiveColumn
        The columns that they constrain.

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

    Attributes
    ----------
    node : tuple of int
        Level of each column.
    loss : float
        Its loss.
    classes : FrequencySet
        Its classes.
    suppressed : ndarray of bool, shape (classes,)
        The classes that are suppressed.
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
    nodes = [tuple(node) for node in np.argwhere(accepted & ~below).tolist()]
    return sorted(nodes, key=lambda node: (sum(node), node))


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
