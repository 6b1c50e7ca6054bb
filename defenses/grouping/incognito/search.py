"""Incognito's search of the lattice: which nodes satisfy the requirements, and which of them has the least loss."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from defenses.grouping.constraints import Constraint, SensitiveColumn, all_hold, blocks
from defenses.grouping.incognito.lattice import FrequencySet, Lattice, Node
from defenses.grouping.incognito.losses import NodeLoss, outer_sum
from defenses.grouping.incognito.releasable_rows import releasable_rows
from metrics.arrays import Booleans, Floats

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
