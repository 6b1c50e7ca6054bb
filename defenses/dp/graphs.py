"""Counts on graphs under edge, node or person differential privacy.

A graph is simple and undirected, on n nodes with n public. It is an array of edges, shape (edges, 2), each given once
with two different ends in 0..n-1.

Edge neighbours differ in one edge. Node neighbours differ in any edges of one node, up to n - 1; the node itself stays,
so that n is public. Person neighbours differ in one node, with all its edges: one graph lacks it. Only the largest
number of nodes n is public then, and the number of those present is not. Less noise for nodes requires a *public* bound
on degrees, to which the graph is projected first. A bound read from the graph would itself leak information about
nodes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from defenses.base.queries.graph import triangles_of
from defenses.dp.pure_noise import DiscreteLaplace
from metrics.columns import Given, Integers64, check_choice, check_integer, refuse, require


def check_edges(edges: ArrayLike, n: int) -> Integers64:
    """Return the edges as integers, shape (edges, 2), the smaller end first and in ascending order.

    Raises ValueError if n is not an integer of at least 1, an end is not a node, or an edge is a loop or given twice.
    """
    check_integer("n", n, low=1)
    array = np.asarray(edges)
    if array.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    require(
        array.ndim == 2 and array.shape[1] == 2 and array.dtype.kind in "iu",
        f"edges must be integers, shape (edges, 2), got shape {array.shape}",
    )
    refuse(array.min() < 0 or array.max() >= n, f"edges must join nodes 0 to {n - 1}")
    ordered = np.unique(np.sort(array.astype(np.int64), axis=1), axis=0)
    require(len(ordered) >= len(array), "each edge must be given once")
    refuse((ordered[:, 0] == ordered[:, 1]).any(), "edges must join two different nodes")
    return ordered


def degrees(edges: ArrayLike, n: int) -> Integers64:
    """Return the degree of each node, shape (n,).

    Raises ValueError if the graph is refused.
    """
    return np.bincount(check_edges(edges, n).ravel(), minlength=n)


def project(edges: ArrayLike, n: int, bound: int) -> Integers64:
    """Project a graph to degrees of at most `bound`: return the edges that a greedy pass keeps, shape (kept, 2).

    The pass takes the edges in the order of their ends' numbers. It keeps an edge unless an end has `bound` edges.

    Raises ValueError if the graph is refused or the bound is not an integer of at least 1.

    Notes
    -----
    The order does not depend on the edges, and adding one edge changes the number of kept edges by at most 1. Proof: an
    added edge that is kept takes one place at each of its ends. An end that then lacks this place drops at most one
    later edge. The dropped edge frees a place at its other end, where another edge may now be kept, and so on. So a
    chain of edges, dropped and kept in turn, starts at each end. A chain changes the number by -1 or 0, and the edge
    itself by 1, in sum between -1 and 1. (An added edge that is not kept changes nothing.)

    Between node neighbours the number changes by at most `bound`. Proof: let H be the graph without any edge of node v.
    Two node neighbours at v share H. So it suffices that every graph keeps between 0 and `bound` edges more than H
    does. First remove the edges at v that are not kept, without effect. Then v has at most `bound` edges, and v never
    drops one. Remove a kept edge v-w. It frees a place at v, which no edge needs, and a place at w, where a chain
    starts. This chain ends where it meets v. It keeps and drops edges in turn, so that it changes the number by 1 or 0.
    With the removed edge itself the number changes by 0 or -1. Edges at v that the chain drops are then removed without
    effect. So at most `bound` removals lead to H, and each of them changes the number by 0 or -1. A star with `bound`
    rays attains the difference.

    References
    ----------
    Day, Li and Lyu (2016), Publishing graph degree distribution with node differential privacy, section 3; Blocki,
    Blum, Datta and Sheffet (2013), Differentially private data analysis of social networks via restricted sensitivity.
    """
    projected, ordered = [], check_edges(edges, n)
    check_integer("bound", bound, low=1)
    free = [bound] * n
    # A plain loop, because each decision depends on the earlier ones.
    for first, second in ordered.tolist():
        if free[first] and free[second]:
            free[first] -= 1
            free[second] -= 1
            projected.append((first, second))
    return np.array(projected, dtype=np.int64).reshape(-1, 2)


def edge_count_sensitivity(n: int, level: str, bound: int | None = None) -> int:
    """Sensitivity of the number of edges.

    - level, {"edge", "node", "person"}: Whether neighbouring graphs differ in an edge, in the edges of a node, or in a
      node with its edges.
    - bound, optional: Public bound to which degrees are projected.
    - returns: 1 for edges; else n - 1, or `bound` after projection where that is less (proof: `project`). A graph
      without a node has as many edges as the graph in which this node has none.

    Raises ValueError if a parameter is refused.
    """
    check_level(level)
    check_integer("n", n, low=1)
    check_integer("bound", bound, low=1, optional=True)
    if level == "edge":
        return 1
    return max(1, n - 1) if bound is None else min(bound, max(1, n - 1))


def release_edge_count(
    edges: ArrayLike, n: int, rng: Generator, *, epsilon: float, level: str = "edge", bound: int | None = None
) -> int:
    """Return the number of edges with discrete Laplace noise, after projection if a bound is given.

    Raises
    ------
    ValueError
        If a parameter is refused; nothing is released then.
    """
    sensitivity = edge_count_sensitivity(n, level, bound)
    counted = check_edges(edges, n) if bound is None else project(edges, n, bound)
    return int(DiscreteLaplace(epsilon=epsilon, sensitivity=sensitivity).release(len(counted), rng))


def degree_counts_sensitivity(n: int, level: str, bound: int) -> int:
    """L1 sensitivity of the histogram of degrees, after projection to `bound` for nodes and persons.

    - level, {"edge", "node", "person"}: Whether neighbouring graphs differ in an edge, in the edges of a node, or in a
      node with its edges.
    - bound: Largest degree with a bin of its own; for nodes and persons also the bound of the projection.
    - returns: 4 for edges; for nodes 4 bound + 2 and for persons 2 bound + 2, or 2 n where that is less.

    Raises ValueError if a parameter is refused.

    Notes
    -----
    A node whose degree changes by 1 lowers one count and raises another, an L1 distance of 2. One edge changes two
    degrees. No change of the graph moves more than all n nodes, an L1 distance of 2 n.

    Nodes. Let H be the graph without any edge of node v. By `project`, at most `bound` removals of kept edges
    lead from a graph to H. Each starts one chain of edges at the other end. The nodes within a chain lose one
    edge and gain another. Only the node at its end changes its degree, by 1. Node v itself moves from one count to
    another. The distance to H is therefore at most 2 bound for the ends of chains and 2 for v. Two node neighbours
    share H. Their distances add up to 4 bound for the ends of chains and 2 for v, which moves at most once.

    Persons. The neighbour of a graph is H, so the distance is 2 bound + 2. It is 2 bound + 1 if the absent v is not
    counted in H.
    """
    check_level(level)
    check_integer("n", n, low=1)
    check_integer("bound", bound, low=1)
    if level == "edge":
        return 4
    return min(4 * bound + 2 if level == "node" else 2 * bound + 2, 2 * n)


def release_degree_counts(
    edges: ArrayLike, n: int, rng: Generator, *, epsilon: float, bound: int, level: str = "edge", absent: int = 0
) -> Any:
    """Return the histogram of degrees 0, 1, ..., bound (or more) with noise, shape (bound + 1,).

    For nodes and persons the graph is first projected to degrees of at most `bound`; see `degree_counts_sensitivity`.
    Of the n nodes, `absent` nodes without an edge are not counted; their number is protected at level "person" only.

    Raises
    ------
    ValueError
        If a parameter is refused; nothing is released then.
    """
    sensitivity = degree_counts_sensitivity(n, level, bound)
    counted = check_edges(edges, n) if level == "edge" else project(edges, n, bound)
    counts = np.bincount(np.minimum(degrees(counted, n), bound), minlength=bound + 1)
    counts[0] -= absent
    return DiscreteLaplace(epsilon=epsilon, sensitivity=sensitivity).release(counts, rng)


def triangles(edges: ArrayLike, n: int) -> int:
    """Return the number of triangles: the trace of the cubed adjacency matrix, divided by 6.

    Raises ValueError if the graph is refused.
    """
    return triangles_of(check_edges(edges, n), n)


def triangle_count_sensitivity(n: int, level: str) -> int:
    """Sensitivity of the number of triangles: n - 2 for edges, else (n - 1)(n - 2) / 2, and at least 1.

    An edge lies in at most n - 2 triangles, one with each other node. A node lies in at most one with each pair of the
    other n - 1. Complete graphs attain both. Raises ValueError if a parameter is refused.
    """
    check_level(level)
    check_integer("n", n, low=1)
    return max(1, n - 2 if level == "edge" else (n - 1) * (n - 2) // 2)


def release_triangle_count(edges: ArrayLike, n: int, rng: Generator, *, epsilon: float, level: str = "edge") -> int:
    """Return the number of triangles with discrete Laplace noise.

    Raises
    ------
    ValueError
        If a parameter is refused; nothing is released then.
    """
    noise = DiscreteLaplace(epsilon=epsilon, sensitivity=triangle_count_sensitivity(n, level))
    return int(noise.release(triangles(edges, n), rng))


def check_level(level: Given) -> Given:
    """Return the level if it says what neighbours differ in: "edge", "node" or "person"; otherwise raise ValueError."""
    return check_choice("level", level, ("edge", "node", "person"))
