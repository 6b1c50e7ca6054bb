"""An analyst's table rebuilt from reports: estimated distributions of columns, and of significant pairs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.random import Generator

from defenses.base import drawn_rows, fitted, project_to_simplex, spanning_forest
from defenses.ldp.reported.splitting import SentReports
from metrics.columns import Floats, Integers, chunks

# Largest number of values of all columns together for which pairs are estimated.
MOST_VALUES = 2048
# Standard deviations of the noise above which the association of two columns is significant.
SIGNIFICANT = 4.0


def rebuilt_rows(
    sent: Sequence[SentReports], shares: Sequence[Floats], n: int, *, joint: bool, rng: Generator
) -> list[Integers]:
    """Draw rows with the estimated distributions of the columns, and of significant pairs.

    - shares, each of shape (size,): Estimates of the columns' distributions. They are projected onto the simplex.
    - joint: Whether all persons report all columns, so that pairs can be estimated.
    - returns shape (n,): Value of each row in each column.

    Notes
    -----
    With x_a and x_b a person's indicator estimates of two columns (`TableColumn.indicators`), the mean of the outer
    product of x_a and x_b estimates their joint distribution without bias, since reports are independent given the
    values. Indicators of numbers are posteriors, so that estimates with a number attenuate the association. Each entry
    has a variance of about (mean of x_a^2 x_b^2 - squared estimate)/n.

    Let D be the estimate less the product of the two unprojected distributions. Under independence |D|^2 has about the
    mean V, the sum of the variances, and the standard deviation sqrt(2 sum of squared variances). A pair is used if
    |D|^2 exceeds V by four of these. The pairs of largest excess that form no cycle make a tree, from which rows are
    drawn as in `defenses.base.marginal_tree`. All of this is post-processing of the reports.

    References
    ----------
    Chow and Liu (1968), Approximating discrete probability distributions with dependence trees.
    """
    distributions = [project_to_simplex(share, 1.0) for share in shares]
    tables: dict[tuple[int, int], Floats] = {}
    if joint and n > 1 and len(shares) > 1 and sum(share.size for share in shares) <= MOST_VALUES:
        tables = _tree(_pair_moments(sent, shares, n), shares, distributions, n)
    return drawn_rows(distributions, tables, n, rng)


def _pair_moments(sent: Sequence[SentReports], shares: Sequence[Floats], n: int) -> tuple[Floats, Floats]:
    """Means of the products of indicators, and of the products of their squares, for all values of all columns."""
    width = sum(column.column.size for column in sent)
    first, second = np.zeros((width, width)), np.zeros((width, width))
    for part in chunks(n, width):
        rows = np.arange(part.start, part.stop)
        parts = [one.column.indicators(one.reports.take(rows), share) for one, share in zip(sent, shares, strict=True)]
        table = np.concatenate(parts, axis=1)
        first += table.T @ table
        np.square(table, out=table)
        second += table.T @ table
    return first / n, second / n


def _tree(
    moments: tuple[Floats, Floats], shares: Sequence[Floats], distributions: list[Floats], n: int
) -> dict[tuple[int, int], Floats]:
    """Joint distributions of significant pairs without a cycle, those of largest association first."""
    ends = np.cumsum([0, *(share.size for share in distributions)])
    excess, estimates = {}, {}
    for a, b in combinations(range(len(distributions)), 2):
        block = np.ix_(range(ends[a], ends[a + 1]), range(ends[b], ends[b + 1]))
        joint = moments[0][block]
        variance = (moments[1][block] - joint**2) / n
        distance = np.square(joint - np.outer(shares[a], shares[b])).sum() - variance.sum()
        if distance > SIGNIFICANT * np.sqrt(2 * np.square(variance).sum()):
            excess[a, b], estimates[a, b] = distance, joint
    pairs = sorted(excess, key=lambda pair: -excess[pair])
    tree = spanning_forest(len(distributions), pairs, lambda joining: joining[0] if joining.size else None)
    return {(a, b): _possible(estimates[a, b], distributions[a], distributions[b]) for a, b in tree}


def _possible(estimate: Floats, first: Floats, second: Floats) -> Floats:
    """A joint distribution near the estimate, fitted to both distributions."""
    projected = project_to_simplex(estimate.ravel(), 1.0).reshape(estimate.shape)
    # A small independent part keeps rows and columns nonempty if the distributions are.
    return fitted(projected + 1e-6 * np.outer(first, second), first, second)
