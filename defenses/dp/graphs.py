"""Counts on graphs, private for edges or for nodes.

A simple undirected graph on n nodes, n public, as an array of edges, shape (edges, 2), each once with two different
ends in 0..n-1.

Edge neighbours differ in one edge. Node neighbours differ in all edges of one node (its node stays, so that n is
public): up to n - 1 edges. Node privacy with less noise takes a *public* bound d on degrees, onto which the graph is
projected first; read from the graph, the bound itself would give nodes away.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from defenses.base.parameters import check_integer
from defenses.dp.laplace import DiscreteLaplace
from metrics.arrays import Integers64


def check_edges(edges: ArrayLike, n: int) -> Integers64:
    """Edges as integers, the smaller end first, in ascending order, shape (edges, 2).

    Raises
    ------
    ValueError
        If n is not an integer of at least 1, an end is no node, an edge is a loop or stands twice.
    """
    check_integer("n", n, low=1)
    array = np.asarray(edges)
    if array.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ValueError(f"edges must be integers, shape (edges, 2), got shape {array.shape}")
    if array.min() < 0 or array.max() >= n:
        raise ValueError(f"edges must join nodes 0 to {n - 1}")
    ordered = np.unique(np.sort(array.astype(np.int64), axis=1), axis=0)
    if len(ordered) < len(array):
        raise ValueError("edges must stand once each")
    if (ordered[:, 0] == ordered[:, 1]).any():
        raise ValueError("edges must join two different nodes")
    return ordered


def degrees(edges: ArrayLike, n: int) -> Integers64:
    """Number of edges at each node, shape (n,).

    Raises
    ------
    ValueError
        If the graph is refused.
    """
    return np.bincount(check_edges(edges, n).ravel(), minlength=n)


def project(edges: ArrayLike, n: int, bound: int) -> Integers64:
    """Edges kept when they are taken in the order of their ends' numbers and none may give a node more than `bound`.

    Raises
    ------
    ValueError
        If the graph is refused or the bound is not an integer of at least 1.

    Notes
    -----
    The order does not depend on the edges, and the number of edges kept moves by at most 1 with an edge. Proof: an
    added edge that is kept takes a place at each of its ends. An end that lacks it later drops an edge at most, which
    gives a place to that edge's other end, where an edge may now be kept, and so on: from each end starts a chain of
    edges, dropped and kept in turn. A chain changes the number by -1 or 0, the edge itself by 1, in sum between -1 and
    1. (An edge that is not kept changes nothing.)

    Between node neighbours it moves by at most 2 bound: a node's edges that are not kept can be taken away without
    effect, then the `bound` kept ones one by one, down to the graph in which the node has none; and up again.

    References
    ----------
    Day, Li and Lyu (2016), Publishing graph degree distribution with node differential privacy, section 3; Blocki,
    Blum, Datta and Sheffet (2013), Differentially private data analysis of social networks via restricted sensitivity.
    """
    kept, ordered = [], check_edges(edges, n)
    check_integer("bound", bound, low=1)
    free = [bound] * n
    # Each decision depends on those before it.
    for first, second in ordered.tolist():
        if free[first] and free[second]:
            free[first] -= 1
            free[second] -= 1
            kept.append((first, second))
    return np.array(kept, dtype=np.int64).reshape(-1, 2)


def edge_count_sensitivity(n: int, level: str, bound: int | None = None) -> int:
    """Sensitivity of the number of edges.

    Parameters
    ----------
    n : int
        Number of nodes, public.
    level : {"edge", "node"}
        Which graphs are neighbours.
    bound : int, optional
        Public bound onto which degrees are projected.

    Returns
    -------
    int
        1 for edges; for nodes n - 1, or 2 bound after projection where that is less.

    Raises
    ------
    ValueError
        If a parameter is refused.
    """
    _check_level(level)
    check_integer("n", n, low=1)
    if bound is not None:
        check_integer("bound", bound, low=1)
    if level == "edge":
        return 1
    return max(1, n - 1) if bound is None else min(2 * bound, max(1, n - 1))


def release_edge_count(
    edges: ArrayLike, n: int, rng: Generator, *, epsilon: float, level: str = "edge", bound: int | None = None
) -> int:
    """Return the number of edges with discrete Laplace noise; after projection where a bound is given.

    Raises
    ------
    ValueError
        If a parameter is refused; nothing is released then.
    """
    sensitivity = edge_count_sensitivity(n, level, bound)
    kept = check_edges(edges, n) if bound is None else project(edges, n, bound)
    return int(DiscreteLaplace(epsilon=epsilon, sensitivity=sensitivity).release(len(kept), rng))


def release_degree_counts(edges: ArrayLike, n: int, rng: Generator, *, epsilon: float, bound: int) -> Any:
    """Return how many nodes have degree 0, 1, ..., bound (or more), with noise for edge neighbours, shape (bound + 1,).

    One edge moves two nodes by one degree each: two counts fall and two rise by 1, an L1 distance of 4. A node
    neighbour moves n counts, so that no useful noise protects nodes this way.

    Raises
    ------
    ValueError
        If a parameter is refused; nothing is released then.
    """
    check_integer("bound", bound, low=1)
    counts = np.bincount(np.minimum(degrees(edges, n), bound), minlength=bound + 1)
    return DiscreteLaplace(epsilon=epsilon, sensitivity=4).release(counts, rng)


def _check_level(level: Any) -> None:
    if level not in ("edge", "node"):
        raise ValueError(f"level must be edge or node, got {level!r}")
