"""Junction trees of sets of columns, by min-fill triangulation."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from defenses.base import Microdata

# Limits of exact inference, and errors that say which columns exceed them.

MOST_CELLS = 1_000_000
"""Largest number of cells in a measured marginal."""


def check_pairs(records: Microdata, most_cells: int = MOST_CELLS) -> None:
    """Check that each released column can be measured together with some other.

    Raises
    ------
    ValueError
        If a column has too many values; names it, its smallest partner, and the number of values that would fit.
    """
    sizes = {name: records.domains[name].size for name in records.released_columns}
    for name, size in sizes.items():
        others = {other: values for other, values in sizes.items() if other != name}
        partner = min(others, key=others.__getitem__, default=None)
        cells = size * (others[partner] if partner else 1)
        if cells > most_cells:
            beside = f", and {cells:,} combinations with column {partner!r}" if partner else ""
            largest = most_cells // (others[partner] if partner else 1)
            coarser = f"at most {largest:,} values would fit" if largest else f"make column {partner!r} coarser, too"
            raise ValueError(
                f"column {name!r} has {size:,} values{beside}; exact inference takes at most {most_cells:,}: "
                f"declare coarser bins or categories for column {name!r}; {coarser}"
            )


def check_workload(records: Microdata, workload: Sequence[Sequence[str]], most_cells: int) -> None:
    """Check that each set of columns of a workload can be measured.

    Raises
    ------
    ValueError
        If a set has too many combinations of values; names its columns, and the numbers of values that would fit.
    """
    for columns in workload:
        sizes = {name: records.domains[name].size for name in columns}
        cells = math.prod(sizes.values())
        if cells > most_cells:
            each = ", ".join(f"{name!r} ({size:,} values)" for name, size in sizes.items())
            largest = math.floor(most_cells ** (1 / len(sizes)) + 1e-9)
            raise ValueError(
                f"workload: columns {each} have {cells:,} combinations; exact inference takes at most {most_cells:,}: "
                f"declare coarser bins or categories; {largest:,} values in each of these columns would fit"
            )


Columns = tuple[int, ...]


@dataclass(frozen=True)
class CliqueTree:
    """A junction tree: maximal cliques of a triangulated graph, parents before children.

    A column that two cliques share is in all cliques on the path between them. Components that share no column are
    joined with an empty separator.

    - sizes: Number of values of each column.
    - cliques: Columns of each clique: first the separator from its parent, in the parent's order, then the new columns.
    - parents: Position of each clique's parent; -1 for the root, which comes first.
    - separators: Columns that each clique shares with its parent.
    """

    sizes: Columns
    cliques: tuple[Columns, ...]
    parents: tuple[int, ...]
    separators: tuple[Columns, ...]

    @classmethod
    def of(cls, sizes: Sequence[int], sets: Iterable[Columns]) -> CliqueTree:
        """Build a tree in which each of the sets is part of a clique, and each column is in a clique.

        - sizes: Number of values of each column; at least one column.
        - sets: Sets of columns, as positions in `sizes`.

        References
        ----------
        Lauritzen and Spiegelhalter (1988), Local computations with probabilities on graphical structures.
        Jensen and Jensen (1994), Optimal junction trees (a spanning tree of largest separators).
        """
        waiting = [set(clique) for clique in maximal_cliques(sizes, sets)]
        waiting.sort(key=lambda clique: (-math.prod(sizes[column] for column in clique), sorted(clique)))
        cliques = [tuple(sorted(waiting.pop(0)))]
        parents, separators = [-1], [Columns()]
        shared = [(len(clique & set(cliques[0])), 0) for clique in waiting]
        while waiting:
            chosen = max(range(len(waiting)), key=lambda number: shared[number][0])
            clique, (_, parent) = waiting.pop(chosen), shared.pop(chosen)
            separator = tuple(column for column in cliques[parent] if column in clique)
            cliques.append((*separator, *sorted(clique - set(separator))))
            parents.append(parent)
            separators.append(separator)
            for number, other in enumerate(waiting):
                common = len(other & clique)
                if common > shared[number][0]:
                    shared[number] = common, len(cliques) - 1
        return cls(tuple(sizes), tuple(cliques), tuple(parents), tuple(separators))

    def shape(self, columns: Columns) -> tuple[int, ...]:
        """Sizes of the columns."""
        return tuple(self.sizes[column] for column in columns)


def model_cells(sizes: Sequence[int], sets: Iterable[Columns]) -> int:
    """Number of cells in all cliques of the junction tree of these sets."""
    return sum(math.prod(sizes[column] for column in clique) for clique in maximal_cliques(sizes, sets))


def maximal_cliques(sizes: Sequence[int], sets: Iterable[Columns]) -> list[frozenset[int]]:
    """Maximal cliques of the graph in which each set is complete, after triangulation by the min-fill heuristic.

    The column whose neighbours lack the fewest edges among them is eliminated first. Ties go to the smallest clique.

    References
    ----------
    Kjaerulff (1990), Triangulation of graphs: algorithms giving small total state space.
    """
    # Neighbours of each column, one bit for each.
    adjacent = [0] * len(sizes)
    for columns in sets:
        bits = sum(1 << column for column in set(columns))
        for column in columns:
            adjacent[column] |= bits & ~(1 << column)
    remaining = set(range(len(sizes)))
    cliques: list[int] = []
    while remaining:
        column = min(remaining, key=lambda number: _cost(number, adjacent, sizes))
        around = adjacent[column]
        clique = around | 1 << column
        if not any(clique & ~other == 0 for other in cliques):
            cliques.append(clique)
        for neighbour in _members(around):
            adjacent[neighbour] = (adjacent[neighbour] | around) & ~(1 << neighbour | 1 << column)
        remaining.remove(column)
    return [frozenset(_members(clique)) for clique in cliques]


def _cost(column: int, adjacent: list[int], sizes: Sequence[int]) -> tuple[int, int, int]:
    """Edges that eliminating a column adds (twice), the cells of its clique, and its position."""
    around = adjacent[column]
    neighbours = _members(around)
    missing = sum((around & ~adjacent[neighbour]).bit_count() - 1 for neighbour in neighbours)
    return missing, sizes[column] * math.prod(sizes[neighbour] for neighbour in neighbours), column


def _members(bits: int) -> list[int]:
    """Positions of the bits that are 1."""
    return [position for position in range(bits.bit_length()) if bits >> position & 1]
