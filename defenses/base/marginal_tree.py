"""Rows drawn from a tree of one-way and two-way distributions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.random import Generator

from metrics.columns import Floats, Integers

# Rounds of iterative proportional fitting.
ROUNDS = 20


def spanning_forest(
    columns: int, pairs: Sequence[tuple[int, int]], choose: Callable[[Integers], int | None]
) -> list[tuple[int, int]]:
    """Choose pairs of columns one after the other so that they form no cycle, until all columns are connected.

    Parameters
    ----------
    columns : int
        Number of columns.
    pairs : sequence of (int, int)
        The pairs that may be chosen.
    choose : callable
        ``choose(joining)``: one of the positions of the pairs that join two parts, or None to stop. There may be no
        such pair.
    """
    part = np.arange(columns)
    chosen: list[tuple[int, int]] = []
    while len(chosen) < columns - 1:
        option = choose(np.flatnonzero([part[a] != part[b] for a, b in pairs]))
        if option is None:
            break
        a, b = pairs[option]
        chosen.append((a, b))
        part[part == part[b]] = part[a]
    return chosen


def fitted(table: Floats, first: Floats, second: Floats) -> Floats:
    """Fit a joint distribution to two marginal ones by iterative proportional fitting.

    Parameters
    ----------
    table : ndarray of float, shape (a, b)
        The joint distribution; entries of at least 0.
    first, second : ndarray of float, shapes (a,) and (b,)
        The marginal distributions.

    References
    ----------
    Deming and Stephan (1940), On a least squares adjustment of a sampled frequency table.
    """
    for _ in range(ROUNDS):
        table = table * _ratio(first, table.sum(axis=1))[:, None]
        table = table * _ratio(second, table.sum(axis=0))
    return table


def drawn_rows(shares: list[Floats], tables: dict[tuple[int, int], Floats], n: int, rng: Generator) -> list[Integers]:
    """Draw the category of every row, parents before children; one array of shape (n,) for each column.

    Parameters
    ----------
    shares : list of ndarray of float, each of shape (size,)
        Distribution of each column.
    tables : dict of (int, int) to ndarray of float
        Joint distributions of pairs of columns, shape (size of the first, size of the second). The pairs form no cycle.
    n : int
        Number of rows.
    rng : Generator
        Draws the rows. Rows with the same parent category get one number from each of equal parts of [0, 1).
    """
    drawn: dict[int, Integers] = {}
    remaining = dict(tables)
    while len(drawn) < len(shares):
        joined = next((pair for pair in remaining if (pair[0] in drawn) != (pair[1] in drawn)), None)
        if joined is None:
            root = next(number for number in range(len(shares)) if number not in drawn)
            drawn[root] = _draw(shares[root][None, :], np.zeros(n, dtype=np.intp), rng)
            continue
        table = remaining.pop(joined)
        parent, child = joined if joined[0] in drawn else joined[::-1]
        drawn[child] = _draw(table if parent == joined[0] else table.T, drawn[parent], rng)
    return [drawn[number] for number in range(len(shares))]


def _draw(weights: Floats, given: Integers, rng: Generator) -> Integers:
    """Draw a category for each row given its parent category, by stratified sampling from the weights."""
    order = np.lexsort((rng.random(given.size), given))
    counts = np.bincount(given, minlength=len(weights))
    start = np.cumsum(counts) - counts
    level = np.empty(given.size)
    # Rows with the same parent category get one number from each of equal parts of [0, 1).
    level[order] = (np.arange(given.size) - start[given[order]] + rng.random(given.size)) / counts[given[order]]
    cumulative = np.cumsum(weights, axis=1)
    passed = cumulative[given] <= (level * cumulative[given, -1])[:, None]
    return np.asarray(np.minimum(passed.sum(axis=1), weights.shape[1] - 1))


def _ratio(target: Floats, current: Floats) -> Floats:
    return np.divide(target, current, out=np.zeros_like(target), where=current > 0)
