"""Junction trees: every set lies in a clique, shared columns lie on the path, and min-fill finds known treewidths."""

import itertools
import math

import numpy as np
import pytest

from defenses.synthetic.graphical.clique_tree import CliqueTree, maximal_cliques, model_cells


def random_sets(rng):
    d = int(rng.integers(1, 9))
    sizes = tuple(rng.integers(1, 6, d).tolist())
    sets = [
        tuple(sorted(rng.choice(d, min(d, int(rng.integers(1, 4))), replace=False).tolist()))
        for _ in range(int(rng.integers(0, 10)))
    ]
    return sizes, sets


def path(tree, number):
    """Positions of the clique's ancestors, itself first."""
    result = [number]
    while tree.parents[result[-1]] >= 0:
        result.append(tree.parents[result[-1]])
    return result


@pytest.mark.parametrize("seed", range(40))
def test_every_tree_is_a_junction_tree(seed):
    sizes, sets = random_sets(np.random.default_rng(seed))
    tree = CliqueTree.of(sizes, sets)
    cliques = [set(clique) for clique in tree.cliques]
    for columns in [*sets, *((column,) for column in range(len(sizes)))]:
        assert any(set(columns) <= clique for clique in cliques)
    assert tree.parents[0] == -1
    assert all(0 <= parent < number for number, parent in enumerate(tree.parents) if number)
    for number, separator in enumerate(tree.separators[1:], 1):
        assert set(separator) == cliques[number] & cliques[tree.parents[number]]
        assert tree.cliques[number][: len(separator)] == separator
    for a, b in itertools.combinations(range(len(cliques)), 2):
        assert not cliques[a] <= cliques[b]
        assert not cliques[b] <= cliques[a]
        ancestors, others = path(tree, a), path(tree, b)
        between = set(ancestors) ^ set(others) | {next(node for node in ancestors if node in others)}
        assert all(cliques[a] & cliques[b] <= cliques[node] for node in between)
    assert model_cells(sizes, sets) == sum(math.prod(sizes[c] for c in clique) for clique in tree.cliques)


def test_a_tree_of_pairs_needs_no_larger_clique():
    pairs = [(0, 1), (1, 2), (1, 3), (3, 4)]
    assert {tuple(sorted(clique)) for clique in maximal_cliques((2,) * 5, pairs)} == set(pairs)


def test_a_cycle_is_cut_into_triangles():
    cycle = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)]
    assert sorted(map(len, maximal_cliques((2,) * 5, cycle))) == [3, 3, 3]


def test_ties_avoid_large_columns():
    # One of two chords cuts a square: that between the small columns gives small cliques.
    square = [(0, 1), (1, 2), (2, 3), (0, 3)]
    assert model_cells((50, 2, 50, 2), square) == 2 * 50 * 2 * 2
