"""Counts on graphs: sensitivities on random small graphs, and refusals."""

import itertools
import math
from functools import cache

import numpy as np
import pytest

from defenses.dp import release_degree_counts, release_edge_count, release_triangle_count
from defenses.dp.graphs import (
    check_edges,
    degree_counts_sensitivity,
    degrees,
    edge_count_sensitivity,
    project,
    triangle_count_sensitivity,
    triangles,
)


def graphs(trials, seed):
    """Random small graphs: all pairs of nodes, the joined ones among them, and a generator."""
    generator = np.random.default_rng(seed)
    for _ in range(trials):
        n = int(generator.integers(3, 8))
        pairs = np.array(list(itertools.combinations(range(n), 2)))
        yield n, pairs, generator.random(len(pairs)) < generator.random(), generator


@pytest.mark.thorough
@pytest.mark.parametrize("bound", [1, 2, 3])
def test_projection_bounds_degrees_and_sensitivity(bound):
    by_edge = by_node = 0
    for n, pairs, joined, generator in graphs(600, bound):
        projected = project(pairs[joined], n, bound)
        assert degrees(projected, n).max(initial=0) <= bound
        assert {tuple(edge) for edge in projected.tolist()} <= {tuple(edge) for edge in pairs[joined].tolist()}
        other = joined.copy()
        other[generator.integers(len(pairs))] ^= True
        by_edge = max(by_edge, abs(len(project(pairs[other], n, bound)) - len(projected)))
        other = joined.copy()
        at = (pairs == generator.integers(n)).any(axis=1)
        other[at] = generator.random(at.sum()) < generator.random()
        by_node = max(by_node, abs(len(project(pairs[other], n, bound)) - len(projected)))
    assert by_edge == edge_count_sensitivity(7, "edge", bound) == 1
    assert bound <= by_node <= edge_count_sensitivity(7, "node", bound)


@cache
def projected_graphs(n, bound):
    """The projection of each graph on n nodes."""
    pairs = np.array(list(itertools.combinations(range(n), 2)))
    return [project(pairs[mask >> np.arange(len(pairs)) & 1 == 1], n, bound) for mask in range(2 ** len(pairs))]


@pytest.mark.thorough_beyond(7)
@pytest.mark.parametrize(("n", "bound"), [(n, bound) for n in (2, 3, 4, 5) for bound in range(1, n)])
def test_node_sensitivity_is_exact_on_all_small_graphs(n, bound):
    """All graphs on n nodes and all their node neighbours: graphs that share the edges without one node."""
    pairs = np.array(list(itertools.combinations(range(n), 2)))
    masks = np.arange(2 ** len(pairs))
    counts = np.array([len(graph) for graph in projected_graphs(n, bound)])
    worst = 0
    for node in range(n):
        others = sum(1 << place for place, pair in enumerate(pairs) if node not in pair)
        alike = masks & others
        highest, lowest = np.full(masks.size, -1), np.full(masks.size, len(pairs))
        np.maximum.at(highest, alike, counts)
        np.minimum.at(lowest, alike, counts)
        # The graph without the node's edges keeps fewest.
        assert (lowest[alike] == counts[alike]).all()
        worst = max(worst, int((highest[alike] - lowest[alike]).max()))
    assert worst == edge_count_sensitivity(n, "node", bound) == bound


@pytest.mark.thorough_beyond(7)
@pytest.mark.parametrize(("n", "bound"), [(n, bound) for n in (2, 3, 4, 5) for bound in range(1, n)])
def test_degree_counts_of_node_neighbours_on_all_small_graphs(n, bound):
    """The distance to the graph without the node's edges, whose double bounds that of two node neighbours."""
    pairs = np.array(list(itertools.combinations(range(n), 2)))
    masks = np.arange(2 ** len(pairs))
    counts = np.array([np.bincount(degrees(graph, n), minlength=n) for graph in projected_graphs(n, bound)])
    nearest = between = 0
    for node in range(n):
        others = sum(1 << place for place, pair in enumerate(pairs) if node not in pair)
        alike = masks & others
        nearest = max(nearest, int(np.abs(counts - counts[alike]).sum(axis=1).max()))
        for shared in np.unique(alike):
            group = counts[alike == shared]
            between = max(between, int(np.abs(group[:, None] - group[None]).sum(axis=2).max()))
    assert nearest <= 2 * bound + 2
    assert between <= degree_counts_sensitivity(n, "node", bound)
    # The neighbour without the person is the graph without its edges; the person itself may leave count 0.
    assert nearest <= degree_counts_sensitivity(n, "person", bound) <= degree_counts_sensitivity(n, "node", bound)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_triangles_and_their_sensitivities_on_all_small_graphs(n):
    pairs = np.array(list(itertools.combinations(range(n), 2)))
    masks = np.arange(2 ** len(pairs))
    sets = [pairs[mask >> np.arange(len(pairs)) & 1 == 1] for mask in masks]
    counts = np.array([triangles(edges, n) for edges in sets])
    for edges, count in zip(sets, counts, strict=True):
        joined = {tuple(edge) for edge in edges.tolist()}
        assert count == sum(
            set(itertools.combinations(three, 2)) <= joined for three in itertools.combinations(range(n), 3)
        )
    by_edge = max(np.abs(counts - counts[masks ^ (1 << place)]).max() for place in range(len(pairs)))
    assert max(1, by_edge) == triangle_count_sensitivity(n, "edge")
    by_node = 0
    for node in range(n):
        others = sum(1 << place for place, pair in enumerate(pairs) if node not in pair)
        by_node = max(by_node, np.abs(counts - counts[masks & others]).max())
    assert max(1, by_node) == triangle_count_sensitivity(n, "node")


@pytest.mark.thorough
def test_triangles_are_released_with_noise_of_their_sensitivity():
    complete = list(itertools.combinations(range(10), 2))
    assert release_triangle_count(complete, 10, np.random.default_rng(0), epsilon=2.0**20) == 120
    errors = [release_triangle_count([], 12, np.random.default_rng(seed), epsilon=1.0) for seed in range(2000)]
    # Laplace noise of scale 10 has a standard deviation of 14.1; 5 standard errors.
    assert np.std(errors) == pytest.approx(np.sqrt(200), rel=5 * np.sqrt(5 / 4 / 2000))


def test_projection_leaves_graphs_within_the_bound_as_they_are():
    ring = [[i, (i + 1) % 6] for i in range(6)]
    assert len(project(ring, 6, 2)) == 6
    assert len(project(ring, 6, 1)) == 3


@pytest.mark.thorough
def test_degree_counts_move_by_four_at_most():
    worst = 0
    for n, pairs, joined, generator in graphs(800, 9):
        other = joined.copy()
        other[generator.integers(len(pairs))] ^= True
        counts = [np.bincount(np.minimum(degrees(pairs[g], n), 4), minlength=5) for g in (joined, other)]
        worst = max(worst, np.abs(counts[0] - counts[1]).sum())
    assert worst == 4


def test_sensitivities():
    assert edge_count_sensitivity(100, "edge") == 1
    assert edge_count_sensitivity(100, "node") == 99
    assert edge_count_sensitivity(100, "node", bound=10) == 10
    assert edge_count_sensitivity(10, "node", bound=30) == 9
    assert edge_count_sensitivity(10, "person", bound=3) == 3
    assert degree_counts_sensitivity(100, "node", 8) == 34
    assert degree_counts_sensitivity(100, "person", 8) == 18
    assert degree_counts_sensitivity(5, "person", 8) == 10


def test_releases_are_near_the_truth_for_a_large_epsilon():
    star = [[0, i] for i in range(1, 9)]
    generator = np.random.default_rng(0)
    assert release_edge_count(star, 9, generator, epsilon=100.0) == 8
    assert release_edge_count(star, 9, generator, epsilon=1000.0, level="node") == 8
    assert release_edge_count(star, 9, generator, epsilon=100.0, level="node", bound=3) == 3
    assert release_degree_counts(star, 9, generator, epsilon=200.0, bound=3).tolist() == [0, 8, 0, 1]
    counts = release_degree_counts(star, 12, generator, epsilon=200.0, bound=3, level="person", absent=2)
    assert counts.tolist() == [6, 3, 0, 1]
    assert release_edge_count([], 4, generator, epsilon=100.0) == 0


@pytest.mark.parametrize(
    ("edges", "n", "message"),
    [
        ([[0, 0]], 3, "different"),
        ([[0, 1], [1, 0]], 3, "once"),
        ([[0, 3]], 3, "nodes 0 to 2"),
        ([[-1, 0]], 3, "nodes"),
        ([[0, 1, 2]], 3, "shape"),
        ([[0.5, 1]], 3, "integers"),
        ([[0, 1]], 0, "n must"),
    ],
)
def test_bad_graphs_are_refused(edges, n, message):
    with pytest.raises(ValueError, match=message):
        check_edges(edges, n)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"epsilon": 1.0, "level": "both"}, "level"),
        ({"epsilon": 1.0, "level": "node", "bound": 0}, "bound"),
    ],
)
def test_bad_parameters_are_refused(options, message):
    generator = np.random.default_rng(0)
    before = generator.bit_generator.state
    with pytest.raises(ValueError, match=message):
        release_edge_count([[0, 1]], 3, generator, **options)
    assert generator.bit_generator.state == before
