"""Belief propagation on a junction tree, in log space."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from defenses.synthetic.graphical.clique_tree import CliqueTree, Columns
from metrics.arrays import Floats

Factors = Mapping[Columns, Floats]
"""Arrays by their columns, which ascend; one axis for each column."""


class BeliefPropagation:
    """Marginals of the distribution that is proportional to e^(sum of potentials), exact up to rounding.

    Parameters
    ----------
    tree : CliqueTree
        The junction tree.
    sets : iterable of tuple of int
        Columns of the potentials, which are also those of the marginals; each set ascends and is part of a clique.

    Notes
    -----
    Messages go to the root and back once. A clique's potentials and its children's messages are added, exponentiated
    and divided by their sum over the new columns. The result is the distribution of the new columns given the
    separator. Logarithms are shifted by their maximum for each entry of the separator. So no distribution vanishes,
    however far apart potentials are. On the way back it is multiplied by the separator's marginal distribution.

    References
    ----------
    Lauritzen and Spiegelhalter (1988), Local computations with probabilities on graphical structures.
    """

    def __init__(self, tree: CliqueTree, sets: Iterable[Columns]) -> None:
        self.tree = tree
        ordered = sorted(set(sets), key=lambda columns: (math.prod(tree.shape(columns)), len(columns), columns))
        cells = [math.prod(tree.shape(clique)) for clique in tree.cliques]
        self._sources: dict[Columns, tuple[_Placement, Columns | None, int]] = {}
        for number, columns in enumerate(ordered):
            held = set(columns)
            # Sums and products go through the smallest larger set where there is one.
            larger = next((other for other in ordered[number + 1 :] if held < set(other)), None)
            home = -1
            if larger is None:
                home = min(
                    (place for place, clique in enumerate(tree.cliques) if held <= set(clique)), key=cells.__getitem__
                )
            axes = tree.cliques[home] if larger is None else larger
            self._sources[columns] = _Placement(columns, axes, tree.sizes), larger, home
        self._messages = [
            _Placement(separator, tree.cliques[parent], tree.sizes) if parent >= 0 else None
            for separator, parent in zip(tree.separators, tree.parents, strict=True)
        ]

    def beliefs(self, potentials: Factors) -> list[Floats]:
        """Return the distribution of each clique, one axis for each of its columns, in the tree's order.

        Parameters
        ----------
        potentials : mapping of tuple of int to ndarray of float
            Logarithms of factors; sets without an entry have the factor 1.
        """
        tree = self.tree
        conditionals = self._logarithms(potentials)
        for number in reversed(range(len(tree.cliques))):
            log = conditionals[number]
            table = log.reshape(math.prod(tree.shape(tree.separators[number])), -1)
            highest = table.max(axis=1)
            table -= highest[:, None]
            np.exp(table, out=table)
            totals = table.sum(axis=1)
            table /= totals[:, None]
            placement = self._messages[number]
            if placement is not None:
                message = (np.log(totals) + highest).reshape(tree.shape(tree.separators[number]))
                conditionals[tree.parents[number]] += placement.spread(message)
        for number, placement in enumerate(self._messages):
            if placement is not None:
                marginal = placement.summed(conditionals[tree.parents[number]])
                table = conditionals[number].reshape(marginal.size, -1)
                table *= marginal.reshape(-1, 1)
        return conditionals

    def marginals(self, beliefs: list[Floats]) -> dict[Columns, Floats]:
        """Return the distribution of each set, from the distributions of the cliques."""
        result: dict[Columns, Floats] = {}
        for columns in reversed(self._sources):
            placement, larger, home = self._sources[columns]
            result[columns] = placement.summed(beliefs[home] if larger is None else result[larger])
        return result

    def _logarithms(self, potentials: Factors) -> list[Floats]:
        """Sum of the potentials of each clique; new arrays."""
        logs = [np.zeros(self.tree.shape(clique)) for clique in self.tree.cliques]
        sums: dict[Columns, Floats] = {}
        for columns, (placement, larger, home) in self._sources.items():
            total = potentials.get(columns)
            if columns in sums:
                total = sums[columns] if total is None else sums[columns] + total
            if total is None:
                continue
            if larger is None:
                logs[home] += placement.spread(total)
            elif larger in sums:
                sums[larger] += placement.spread(total)
            else:
                sums[larger] = np.zeros(self.tree.shape(larger)) + placement.spread(total)
        return logs


class _Placement:
    """A set of columns among the axes of a larger array.

    Parameters
    ----------
    columns : tuple of int
        Columns of the smaller array, in the order of its axes.
    axes : tuple of int
        Columns of the larger array, in the order of its axes.
    sizes : tuple of int
        Number of values of each column.
    """

    def __init__(self, columns: Columns, axes: Columns, sizes: Columns) -> None:
        inner = [column for column in axes if column in columns]
        self._order = tuple(columns.index(column) for column in inner)
        self._back = tuple(inner.index(column) for column in columns)
        self._shape = tuple(sizes[column] if column in columns else 1 for column in axes)
        self._others = tuple(position for position, column in enumerate(axes) if column not in columns)

    def spread(self, array: Floats) -> Floats:
        """View of the smaller array that broadcasts over the larger one."""
        return array.transpose(self._order).reshape(self._shape)

    def summed(self, array: Floats) -> Floats:
        """Sum of the larger array over the other columns."""
        return np.asarray(array.sum(axis=self._others)).transpose(self._back)
