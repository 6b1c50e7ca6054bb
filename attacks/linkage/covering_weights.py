"""Weights of released cells that overlap: how often a kept value shows as each of the cells that cover it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from metrics.arrays import Floats

# Rounds of proportional fitting. With fifty, weights follow the sampling noise of rare cells: where candidates were
# twice the rows and 5 % of all cells suppressed, 1 % fewer rows were found.
ROUNDS = 5


def covering_weights(
    frequency: Floats, share: Floats, over_cells: Callable[[Floats], Floats], over_values: Callable[[Floats], Floats]
) -> Floats:
    """Fit weights of cells so that kept values give about the observed frequencies of the cells, shape (cells,).

    A value shows as a cell that covers it with probability weight / sum of the weights of all cells that cover it. The
    first weights are frequencies divided by the share of candidates that a cell covers. They are right where
    generalization and suppression do not depend on the value. Proportional fitting then follows cells that occur more
    or less often than that.

    Parameters
    ----------
    frequency : ndarray of float, shape (cells,)
        Share of released rows with each distinct cell.
    share : ndarray of float, shape (values,)
        Share of candidates with each distinct value.
    over_cells : callable
        Sums weights of cells over the cells that cover each value.
    over_values : callable
        Sums weights of values over the values that each cell covers.

    Returns
    -------
    ndarray of float
        0 for cells that do not occur, and for overlapping cells that cover no candidate's value.

    References
    ----------
    Deming and Stephan (1940), On a least squares adjustment of a sampled frequency table when the expected marginal
    totals are known.
    """
    occurs = (frequency > 0).astype(float)
    if over_cells(occurs).max(initial=0.0) <= 1:
        return occurs  # no two cells overlap
    covered = over_values(share)
    weight = np.divide(frequency, covered, out=np.zeros_like(covered), where=covered > 0)
    for _ in range(ROUNDS):
        reached = over_cells(weight)
        expected = weight * over_values(np.divide(share, reached, out=np.zeros_like(share), where=reached > 0))
        weight = np.divide(weight * frequency, expected, out=np.zeros_like(weight), where=expected > 0)
    return weight
