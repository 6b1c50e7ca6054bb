"""Records that are unique in a sample, and how many of them are unique in the population too.

Every estimator answers the same question, so that their answers compare: how many records of the sample are unique in
the population that it was drawn from. Under simple random sampling this is the sampling rate times the number of
population uniques. None exceeds the number of sample uniques, and it is that number where everybody is in the sample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import optimize, special, stats

from metrics.arrays import Floats, Integers
from metrics.classes import class_sizes, known_classes


def sample_uniques(frame: pd.DataFrame, quasi_identifiers: Sequence[str], *, classes: Integers | None = None) -> int:
    """Number of rows that no other row shares its quasi-identifiers with.

    Parameters
    ----------
    frame : DataFrame, shape (n, columns)
        Original values or released cells.
    quasi_identifiers : sequence of str
        The columns that an attacker may know.
    classes : ndarray of int, shape (n,), optional
        The classes by `equivalence_classes`, where they are known already.

    Raises
    ------
    ValueError
        If the frame has no row or lacks a column.
    """
    return int((_sizes(frame, quasi_identifiers, classes) == 1).sum())


def poisson_gamma_uniques(
    frame: pd.DataFrame,
    quasi_identifiers: Sequence[str],
    *,
    population: int,
    cells: int,
    classes: Integers | None = None,
) -> float:
    """Records unique in sample and population, where the sizes of cells are Poisson with a gamma distributed rate.

    Parameters
    ----------
    frame : DataFrame, shape (n, columns)
        The sample.
    quasi_identifiers : sequence of str
        The columns that an attacker may know.
    population : int
        Number of people that the sample was drawn from, N >= n.
    cells : int
        Number of possible combinations of values, K: all of them, whether anybody has them or not.
    classes : ndarray of int, shape (n,), optional
        The classes by `equivalence_classes`, where they are known already.

    Raises
    ------
    ValueError
        If the frame has no row or lacks a column, the population is smaller than the sample, or there are fewer cells
        than the sample has classes.

    Notes
    -----
    A cell's expected size is gamma distributed with mean N / K and shape a, so that its size in the sample, with the
    rate r = n / N, is negative binomial with mean m = n / K and variance m + m²/a. From the unbiased variance v of
    the sample's K cell sizes, 1/a = (v/m - 1) K / n; written with beta = 1/(a K) that is beta = (v/m - 1) / n. A cell
    with 1 person in the sample and nobody else has probability r (N/K) (1 + N beta)^-(1 + a), one with 1 person in
    the sample (n/K) (1 + n beta)^-(1 + a); their ratio is the chance that a sample unique, of which there are s_1, is
    a population unique:

        U = s_1 ((1 + n beta) / (1 + N beta))^(1 + 1/(K beta)).

    For beta <= 0 cells vary no more than by chance; the limit beta -> 0 is U = s_1 exp(-(N - n)/K).

    References
    ----------
    Bethlehem, Keller and Pannekoek (1990), Disclosure control of microdata, section 4.
    """
    sizes, n = _sample(frame, quasi_identifiers, classes, population)
    if isinstance(cells, bool) or not isinstance(cells, int | np.integer) or cells < sizes.size:
        raise ValueError(f"cells must be an integer of at least the {sizes.size} classes present, got {cells!r}")
    uniques = int((sizes == 1).sum())
    mean = n / cells
    variance = float((sizes.astype(float) ** 2).sum() - cells * mean**2) / max(1, cells - 1)
    beta = (variance / mean - 1) / n
    if beta <= 0:
        return uniques * float(np.exp(-(population - n) / cells))
    log_ratio = np.log1p(n * beta) - np.log1p(population * beta)
    return uniques * float(np.exp((1 + 1 / (cells * beta)) * log_ratio))


def zayatz_uniques(
    frame: pd.DataFrame, quasi_identifiers: Sequence[str], *, population: int, classes: Integers | None = None
) -> float:
    """Records unique in sample and population, where the population's classes are sized as the sample's are.

    Parameters and errors as for `poisson_gamma_uniques`, without cells.

    Notes
    -----
    With u_i of the sample's u classes of size i, P(F = i) = u_i / u is taken for the population too. A simple random
    sample holds one of a class's i people with the hypergeometric probability h(i) = P(f = 1 | F = i), h(1) = n / N.
    By Bayes' rule a sample unique is a population unique with the probability
    P(F = 1) h(1) / sum_i P(F = i) h(i). Since a sample's classes are smaller than the population's, it tends to
    overestimate.

    References
    ----------
    Zayatz (1991), Estimation of the percent of unique population elements on a microdata file using the sample.
    """
    sizes, n = _sample(frame, quasi_identifiers, classes, population)
    size, count = np.unique(sizes, return_counts=True)
    if size[0] > 1:
        return 0.0
    single = np.asarray(stats.hypergeom.pmf(1, population, size, n))
    return float(count[0] * (count[0] * single[0]) / (count * single).sum())


def pitman_uniques(
    frame: pd.DataFrame, quasi_identifiers: Sequence[str], *, population: int, classes: Integers | None = None
) -> float:
    """Records unique in sample and population, where classes form as in Pitman's sampling formula.

    Parameters and errors as for `poisson_gamma_uniques`, without cells.

    Notes
    -----
    People arrive one after the other. With t there, in u classes, the next one starts a class with probability
    (theta + u alpha) / (theta + t) and joins a class of size j with probability (j - alpha) / (theta + t),
    0 <= alpha < 1, theta > -alpha. The likelihood of the sample's class sizes is therefore

        prod_{i<u} (theta + i alpha) prod_{i<n} 1/(theta + i) prod_classes prod_{i<size} (i - alpha),

    each from i = 1, and is maximised. The first one (and the order does not matter, so anybody) is alone among N with
    probability prod_{t<N} (theta + t - 1 + alpha) / (theta + t), which Hoshino writes asymptotically as
    N^(alpha - 1) Gamma(theta + 1) / Gamma(theta + alpha). It is computed exactly and times n the estimate.

    References
    ----------
    Pitman (1995), Exchangeable and partially exchangeable random partitions; Hoshino (2001), Applying Pitman's
    sampling formula to microdata disclosure risk assessment.
    """
    sizes, n = _sample(frame, quasi_identifiers, classes, population)
    uniques = int((sizes == 1).sum())
    # No class of two or more, or none of one, leaves nothing to fit: the sample's uniques are then the bound.
    if uniques in (0, n) or population == n:
        return float(uniques)
    size, count = np.unique(sizes, return_counts=True)
    index = np.arange(1, sizes.size)

    def loss(point: Floats) -> float:
        alpha, theta = _pitman_parameters(point)
        started = np.log(theta + index * alpha).sum() - special.gammaln(theta + n) + special.gammaln(theta + 1)
        joined = (count * (special.gammaln(size - alpha) - special.gammaln(1 - alpha))).sum()
        return -float(started + joined) / n

    alpha, theta = _pitman_parameters(_minimum(loss, np.array([0.0, np.log(sizes.size)])))
    alone = special.gammaln(theta + alpha + population - 1) - special.gammaln(theta + population)
    alone += special.gammaln(theta + 1) - special.gammaln(theta + alpha)
    return min(float(uniques), n * float(np.exp(alone)))


def snb_uniques(
    frame: pd.DataFrame, quasi_identifiers: Sequence[str], *, population: int, classes: Integers | None = None
) -> float:
    """Records unique in sample and population, where sizes less one are negative binomial (the SNB model).

    Parameters and errors as for `poisson_gamma_uniques`, without cells.

    Notes
    -----
    A class has F = 1 + G people, G negative binomial with P(G = g) = C(a + g - 1, g) p^a (1 - p)^g. Everybody is
    sampled with probability r = n / N: the one by a coin, and the thinned G is negative binomial with the same shape
    a and q = p / (p + r (1 - p)). A class hence shows f people with probability

        P(f) = (1 - r) nb(f; a, q) + r nb(f - 1; a, q),

    and is seen if f > 0. The likelihood of the sizes seen, P(f) / (1 - P(0)), is maximised. The sample's u classes
    stand for K = u / (1 - P(0)) ones in the population, of which K p^a are uniques, r K p^a of them in the sample.
    Chen and Keller-McNulty equate moments where this maximises the likelihood.

    References
    ----------
    Chen and Keller-McNulty (1998), Estimation of identification disclosure risk in microdata.
    """
    sizes, n = _sample(frame, quasi_identifiers, classes, population)
    uniques = int((sizes == 1).sum())
    # No class of two or more, or none of one, leaves nothing to fit: the sample's uniques are then the bound.
    if uniques in (0, n) or population == n:
        return float(uniques)
    size, count = np.unique(sizes, return_counts=True)
    rate = n / population

    def log_probabilities(point: Floats, shown: NDArray[Any]) -> Floats:
        shape, mean = np.exp(point)
        kept = shape / (shape + rate * mean)
        apart = np.log1p(-rate) + stats.nbinom.logpmf(shown, shape, kept)
        return np.asarray(np.logaddexp(apart, np.log(rate) + stats.nbinom.logpmf(shown - 1, shape, kept)))

    def loss(point: Floats) -> float:
        unseen = float(np.exp(log_probabilities(point, np.zeros(1))[0]))
        return -float((count * (log_probabilities(point, size) - np.log1p(-unseen))).sum()) / sizes.size

    excess = max(n / sizes.size - 1, 1 / n)
    point = _minimum(loss, np.log([1.0, excess / rate]))
    shape, mean = np.exp(point)
    unseen = float(np.exp(log_probabilities(point, np.zeros(1))[0]))
    alone = (shape / (shape + mean)) ** shape
    return min(float(uniques), rate * sizes.size / (1 - unseen) * float(alone))


def _pitman_parameters(point: Floats) -> tuple[float, float]:
    """Alpha in (0, 1) and theta > -alpha, from a point of the plane."""
    alpha = float(special.expit(point[0]))
    return alpha, float(np.exp(point[1])) - alpha


def _minimum(loss: Callable[[Floats], float], start: Floats) -> Floats:
    """Where a smooth loss of two parameters on logarithmic scales is smallest."""
    bounds = optimize.Bounds(start - 20, start + 20)
    found = optimize.minimize(loss, start, method="Nelder-Mead", bounds=bounds, tol=1e-9)
    return np.asarray(found.x, dtype=float)


def _sizes(frame: pd.DataFrame, quasi_identifiers: Sequence[str], classes: Integers | None) -> Integers:
    return class_sizes(known_classes(frame, quasi_identifiers, classes))


def _sample(
    frame: pd.DataFrame, quasi_identifiers: Sequence[str], classes: Integers | None, population: int
) -> tuple[Integers, int]:
    """Class sizes and number of rows; ValueError unless the population is an integer of at least that."""
    sizes = _sizes(frame, quasi_identifiers, classes)
    n = int(sizes.sum())
    if isinstance(population, bool) or not isinstance(population, int | np.integer) or population < n:
        raise ValueError(f"population must be an integer of at least the sample's {n} rows, got {population!r}")
    return sizes, n
