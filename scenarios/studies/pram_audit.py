"""Distinguishing audit of PRAM with a matrix that may be tuned to the records: exact for few records, or by sampling.

Neighbouring tables differ in one record's value: one count is lower by 1, another higher by 1. The release is the
histogram of the randomized records, since their order carries no information, and the matrix if it is published.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

import numpy as np
from numpy.random import Generator

from attacks.pram.posterior_from_counts import with_row
from defenses.base.simplex import project_to_simplex
from defenses.pram.matrix import transition_matrix
from defenses.pram.optimal import optimal_retention
from metrics.arrays import Floats, Integers

Histogram = tuple[int, ...]


def released_law(histogram: Histogram, retention: Floats) -> Floats:
    """Exact distribution of the released histogram, shape (n + 1,) * (d - 1); the last category has no axis."""
    matrix, n = transition_matrix(retention), sum(histogram)
    law = np.zeros((n + 1,) * (len(histogram) - 1))
    law[(0,) * law.ndim] = 1.0
    for category in np.repeat(np.arange(len(histogram)), histogram):
        law = with_row(law, matrix[:, category])
    return law


def secret_matrix_epsilon(n: int, d: int, tune: Callable[[Histogram], Floats]) -> float:
    """Exact epsilon of releasing n records through the matrix that `tune` derives from them and keeps secret."""
    histograms = list(_histograms(n, d))
    laws = np.array([released_law(histogram, tune(histogram)).ravel() for histogram in histograms])
    return float(np.log(_largest_ratios(laws, *_neighbours(histograms)).max()))


def noisy_histogram_epsilon(n: int, d: int, matrix_level: float, release_level: float, margin: int) -> float:
    """Epsilon of publishing noisy counts z together with a release through the matrix that is optimal for z.

    Integer noise with probability proportional to e^(-matrix_level |noise| / 2) is added to each count. The matrix is a
    function of z, so this is an upper bound on the epsilon of publishing matrix and release. All z from -margin to
    n + margin are enumerated.
    """
    largest = 0.0
    histograms = list(_histograms(n, d))
    one, other = _neighbours(histograms)
    # Many noisy counts, such as those that are all larger by 1, have the same projection.
    of_releases: dict[tuple[float, ...], Floats] = {}
    for noisy in product(range(-margin, n + margin + 1), repeat=d):
        projected = project_to_simplex(noisy, n)
        key = tuple(np.round(projected, 9).tolist())
        if key not in of_releases:
            retention = optimal_retention(projected, release_level)
            laws = np.array([released_law(histogram, retention).ravel() for histogram in histograms])
            of_releases[key] = np.log(_largest_ratios(laws, one, other))
        distance = np.abs(np.array(noisy) - np.array(histograms)).sum(axis=1)
        losses = matrix_level / 2 * (distance[other] - distance[one]) + of_releases[key]
        largest = max(largest, float(losses.max()))
    return largest


def sampled_epsilon(tune: Callable[[Histogram, Generator], Floats], runs: int, rng: Generator) -> float:
    """Lower bound at 95 % on the epsilon of publishing matrix and release, from releases of two neighbouring tables.

    The candidate events compare a feature with its deciles. Features are the first retention probability, the excess of
    the second over it, the first released count, and a mix of count and probability. One half of the runs selects the
    event with the largest ratio, in either direction. The other half gives Clopper-Pearson bounds on both probabilities
    of the selected event; all four bounds hold jointly at 95 %.
    """
    from scipy.stats import beta

    seen = [np.array([_features(histogram, tune, rng) for _ in range(runs)]) for histogram in ((3, 2, 0), (2, 3, 0))]
    cuts = np.quantile(np.concatenate(seen), np.linspace(0.1, 0.9, 9), axis=0)
    half = runs // 2
    events = [np.stack([side[:, None, :] >= cuts, side[:, None, :] <= cuts], axis=1).reshape(runs, -1) for side in seen]
    bounds = []
    for first, second in (events, events[::-1]):
        picked = int(np.argmax((first[:half].sum(axis=0) + 1) / (second[:half].sum(axis=0) + 1)))
        often, rarely = int(first[half:, picked].sum()), int(second[half:, picked].sum())
        rest = runs - half
        low = beta.ppf(0.0125, often, rest - often + 1) if often else 0.0
        high = beta.ppf(0.9875, rarely + 1, rest - rarely) if rarely < rest else 1.0
        bounds.append(np.log(low / high) if low > 0 else 0.0)
    return max(0.0, float(max(bounds)))


def _features(histogram: Histogram, tune: Callable[[Histogram, Generator], Floats], rng: Generator) -> list[float]:
    retention = tune(histogram, rng)
    columns = transition_matrix(retention).T
    released = sum(int(rng.multinomial(count, column)[0]) for count, column in zip(histogram, columns, strict=True))
    return [retention[0], retention[1] - retention[0], released, released + 10 * retention[0]]


def _largest_ratios(laws: Floats, one: Integers, other: Integers) -> Floats:
    """Largest ratio of each pair of distributions; infinite where only the first is positive."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(laws[one] > 0, laws[one] / laws[other], 0.0).max(axis=1))


def _histograms(n: int, d: int) -> Iterator[Histogram]:
    return (counts for counts in product(range(n + 1), repeat=d) if sum(counts) == n)


def _neighbours(histograms: Sequence[Histogram]) -> tuple[Integers, Integers]:
    """Positions of both histograms of each ordered pair that differs in one record."""
    positions = {histogram: position for position, histogram in enumerate(histograms)}
    pairs = []
    for histogram in histograms:
        for i, j in product(range(len(histogram)), repeat=2):
            other = tuple(count - (c == i) + (c == j) for c, count in enumerate(histogram))
            if i != j and other in positions:
                pairs.append((positions[histogram], positions[other]))
    one, another = np.array(pairs).T
    return one, another
