"""Rows drawn from a graphical model by column-wise rounding."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from defenses.synthetic.graphical.estimation import GraphicalModel
from metrics.columns import Floats, Integers

GOLDEN = (math.sqrt(5) - 1) / 2


def sampled_rows(model: GraphicalModel, n: int, rng: Generator) -> list[Integers]:
    """Draw the value of each column for each row; one array of shape (n,) for each column.

    Columns are drawn one after the other along the junction tree. Rows that agree in the columns of the clique drawn so
    far form a group. Each value is given to the expected number of the group's rows, rounded down or up at random. So
    the drawn rows deviate from the model's marginals by rounding, and not by independent sampling.

    Parameters
    ----------
    model : GraphicalModel
        The model.
    n : int
        Number of rows.
    rng : Generator
        Draws the rounding, and which rows of a group get which value.

    References
    ----------
    McKenna, Miklau and Sheldon (2021), Winning the NIST contest, section 4.3 (generation of rows).
    """
    tree = model.tree
    drawn: list[Integers] = [np.zeros(n, dtype=np.intp) for _ in tree.sizes]
    for clique, separator, belief in zip(tree.cliques, tree.separators, model.beliefs, strict=True):
        for position in range(len(separator), len(clique)):
            column = clique[position]
            table = belief.sum(axis=tuple(range(position + 1, belief.ndim))).reshape(-1, tree.sizes[column])
            given = combined([drawn[other] for other in clique[:position]], tree.shape(clique[:position]), n)
            drawn[column] = rounded(table, given, rng)
    return drawn


def rounded(weights: Floats, given: Integers, rng: Generator) -> Integers:
    """Draw a value for each row given its group, by systematic sampling from the group's weights; shape (rows,).

    Parameters
    ----------
    weights : ndarray of float, shape (groups, values)
        Weights of the values in each group. A group whose weights are all 0 gets equal ones.
    given : ndarray of int, shape (rows,)
        Group of each row.
    rng : Generator
        Draws the rounding and the rows that get each value.

    Notes
    -----
    In a group of m rows, let C_v be m times the cumulative share of the values up to v, and u uniform on [0, 1).
    The value v gets floor(C_v + u) - floor(C_{v-1} + u) rows: the expected number, rounded down or up without bias.
    The u of successive groups are multiples of the golden ratio modulo 1, after a random start. They are
    equidistributed, so that the rounding errors of many groups nearly cancel.

    References
    ----------
    Madow (1949), On the theory of systematic sampling, II.
    """
    groups, rows = np.unique(given, return_counts=True)
    shares = np.maximum(weights[groups], 0.0)
    totals = shares.sum(axis=1, keepdims=True)
    shares = np.divide(shares, totals, out=np.full_like(shares, 1 / shares.shape[1]), where=totals > 0)
    cumulative = np.cumsum(shares, axis=1) * rows[:, None]
    # The last value takes all that is left, whatever rounding does.
    cumulative[:, -1] = rows
    start = np.mod(rng.random() + GOLDEN * np.arange(groups.size), 1.0)
    ends = np.minimum(np.floor(cumulative + start[:, None]).astype(np.intp), rows[:, None])
    counts = np.diff(ends, axis=1, prepend=0)
    values = np.repeat(np.tile(np.arange(shares.shape[1]), groups.size), counts.ravel())
    result = np.empty(given.size, dtype=np.intp)
    result[np.lexsort((rng.random(given.size), given))] = values
    return result


def combined(columns: Sequence[Integers], sizes: Sequence[int], n: int) -> Integers:
    """Number of each row's combination of values, shape (n,)."""
    return np.ravel_multi_index(tuple(columns), tuple(sizes)) if columns else np.zeros(n, dtype=np.intp)
