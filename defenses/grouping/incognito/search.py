"""Incognito's search: which nodes of the lattice of generalizations meet a demand, and which of them costs least."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from defenses.grouping.constraints import Constraint, SensitiveColumn, all_hold
from defenses.grouping.incognito.lattice import FrequencySet, Lattice, Node
from defenses.grouping.incognito.losses import NodeLoss, outer_sum
from metrics.arrays import Booleans, Floats

_LARGEST_SUBSET = 2
"""Columns of the subsets searched first; with more, the search takes longer than what it saves (measured on Adult)."""

_CHUNK = 1024
"""Nodes looked up at a time."""

_DIGITS = 12
"""Decimals to which losses are compared, so that rounding breaks no tie."""


@dataclass(frozen=True)
class Verdict:
    """How a node fares.

    Attributes
    ----------
    suppressed : ndarray of bool, shape (classes,)
        The classes that fail the demand.
    accepted : bool
        Whether they have no more rows than may be suppressed.
    refutes : bool
        Whether no finer node can be accepted either.
    """

    suppressed: Booleans
    accepted: bool
    refutes: bool


@dataclass(frozen=True)
class Demand:
    """What every class must hold, or else be suppressed.

    Attributes
    ----------
    k : int
        Smallest class.
    limit : int
        Largest number of rows that may be suppressed.
    constraints : sequence of Constraint
        Further demands on the classes.
    columns : sequence of SensitiveColumn
        What they are about.

    Notes
    -----
    Pruning. A class of fewer than k rows splits into such classes in every finer node and in every larger set of
    columns, and so do classes with too few distinct values (`Constraint.spoils_all`). The rows in them only become
    fewer by generalization: too many of them refute a node together with all finer ones. The other constraints do
    that only where nothing may be suppressed. Then, too, whatever is accepted has accepted generalizations only.
    """

    k: int
    limit: int
    constraints: Sequence[Constraint]
    columns: Sequence[SensitiveColumn]

    @property
    def monotone(self) -> bool:
        """Whether every generalization of an accepted node is accepted."""
        return self.limit == 0 or all(constraint.spoils_all for constraint in self.constraints)

    def judge(self, classes: FrequencySet) -> Verdict:
        """Say how a node with these classes fares."""
        failing = classes.sizes < self.k
        if self._rows(classes, failing) > self.limit:
            return Verdict(failing, accepted=False, refutes=True)
        failing |= ~self._hold(classes, [constraint for constraint in self.constraints if constraint.spoils_all])
        if self._rows(classes, failing) > self.limit:
            return Verdict(failing, accepted=False, refutes=True)
        failing |= ~self._hold(classes, [constraint for constraint in self.constraints if not constraint.spoils_all])
        accepted = self._rows(classes, failing) <= self.limit
        return Verdict(failing, accepted, refutes=not accepted and self.monotone)

    def _hold(self, classes: FrequencySet, constraints: Sequence[Constraint]) -> Booleans:
        return all_hold(constraints, self.columns, classes.histograms, classes.sizes.size)

    @staticmethod
    def _rows(classes: FrequencySet, failing: Booleans) -> int:
        return int(classes.sizes[failing].sum())


@dataclass(frozen=True)
class Found:
    """An accepted node.

    Attributes
    ----------
    node : tuple of int
        Level of each column.
    loss : float
        What it costs.
    classes : FrequencySet
        Its classes.
    suppressed : ndarray of bool, shape (classes,)
        Those that are suppressed.
    """

    node: Node
    loss: float
    classes: FrequencySet
    suppressed: Booleans


def optimum(lattice: Lattice, demand: Demand, loss: NodeLoss) -> Found | None:
    """Accepted node of least loss; of several the one of least height, then the first in the order of levels.

    Nodes are visited from the most general down, so that a refuted one closes many finer ones. An accepted one closes
    all whose lower bound of the loss exceeds what it costs. With suppression a finer node may cost more than a more
    general one, so no other accepted node is closed.
    """
    bounds = np.round(loss.bounds(lattice), _DIGITS)
    opened = _open(lattice, demand)
    best: tuple[float, int, Node] | None = None
    found: Found | None = None
    for node in _visit(opened, _finer_count(lattice.shape)):
        classes = lattice.frequency_set(node)
        verdict = demand.judge(classes)
        if verdict.refutes:
            opened[_finer(node)] = False
        if not verdict.accepted:
            continue
        cost = loss.of(lattice, node, classes, verdict.suppressed)
        rank = (round(cost, _DIGITS), sum(node), node)
        if best is None or rank < best:
            best, found = rank, Found(node, cost, classes, verdict.suppressed)
            opened &= bounds <= rank[0]
    return found


def minimal_nodes(lattice: Lattice, demand: Demand) -> list[Node]:
    """Accepted nodes that have no finer accepted one, by height and then in the order of levels."""
    opened = _open(lattice, demand)
    accepted = np.zeros(lattice.shape, dtype=bool)
    finer = _finer_count(lattice.shape)
    # A node settles those that are finer, or those that are coarser: first come those that settle many either way.
    for node in _visit(opened, np.minimum(finer, np.flip(finer))):
        verdict = demand.judge(lattice.frequency_set(node))
        accepted[node] |= verdict.accepted
        if verdict.refutes:
            opened[_finer(node)] = False
        elif verdict.accepted and demand.monotone:
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


def _open(lattice: Lattice, demand: Demand) -> Booleans:
    """Nodes that no small subset of the columns refutes; each subset starts from what smaller ones left open."""
    opened = np.ones(lattice.shape, dtype=bool)
    dimensions = range(len(lattice.shape))
    for size in range(1, min(_LARGEST_SUBSET, len(lattice.shape) - 1) + 1):
        for subset in combinations(dimensions, size):
            others = tuple(axis for axis in dimensions if axis not in subset)
            part = lattice.projected(subset)
            left = np.asarray(opened.any(axis=others))
            for node in _visit(left, _finer_count(part.shape)):
                if demand.judge(part.frequency_set(node)).refutes:
                    left[_finer(node)] = False
            opened &= np.expand_dims(left, others)
    return opened


def _finer_count(shape: Node) -> Floats:
    """Logarithm of the number of nodes as fine as each or finer."""
    return outer_sum([np.log(np.arange(1, levels + 1)) for levels in shape])


def _visit(opened: Booleans, priority: Floats) -> Iterator[Node]:
    """Nodes by falling priority, those that are still open when their turn comes; `opened` is contiguous."""
    order = np.argsort(-priority, axis=None, kind="stable")
    flat = opened.reshape(-1)
    for start in range(0, order.size, _CHUNK):
        chunk = order[start : start + _CHUNK]
        for index in chunk[flat[chunk]].tolist():
            if flat[index]:
                yield tuple(int(level) for level in np.unravel_index(index, opened.shape))


def _finer(node: Node) -> tuple[slice, ...]:
    """Where the nodes lie that are as fine as this one or finer."""
    return tuple(slice(level + 1) for level in node)


def _coarser(node: Node) -> tuple[slice, ...]:
    """Where the nodes lie that are as general as this one or more general."""
    return tuple(slice(level, None) for level in node)
