"""Estimates of the number of population uniques in a sample.

All estimators estimate the same number: the records that are unique both in the sample and in the population. Under
simple random sampling, its expected value is the sampling rate times the number of population uniques. No estimate
exceeds the number of sample uniques, and all equal it where the sample is the whole population.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import optimize, special, stats

from metrics.classes import SizeCounts, sizes_in
from metrics.columns import Array, Floats, Integers, refuse

_SUMMED = 4096
"""Number of terms of a long sum that are added one by one."""


def sample_uniques(frame: pd.DataFrame, quasi_identifiers: Sequence[str], *, classes: Integers | None = None) -> int:
    """Sample uniques: the number of rows whose quasi-identifiers no other row shares.

    Parameters
    ----------
    frame : DataFrame, shape (n, columns)
        Original values or released cells.
    quasi_identifiers : sequence of str
        The columns that an attacker may know.
    classes : ndarray of int, shape (n,), optional
        The classes of `equivalence_classes`, if already computed.

    Raises
    ------
    ValueError
        If the frame has no row or lacks a column.
    """
    return _sizes(frame, quasi_identifiers, classes).uniques


@dataclass(frozen=True)
class PoissonGamma:
    """Poisson-gamma model of a sample: its parameters, and the numbers of uniques that it expects.

    Attributes
    ----------
    cells : int
        Number of possible combinations of values, K.
    beta : float
        Scale of the gamma distribution of the cells' shares, estimated from the sample; 0 where the sizes of cells
        vary no more than by chance.
    population : float
        Expected number of population uniques, E(S1).
    sample : float
        Expected number of sample uniques, E(s1).
    both : float
        Estimated number of records that are unique in the sample and in the population, U.
    """

    cells: int
    beta: float
    population: float
    sample: float
    both: float


def poisson_gamma(
    frame: pd.DataFrame,
    quasi_identifiers: Sequence[str],
    *,
    population: int,
    cells: int,
    classes: Integers | None = None,
) -> PoissonGamma:
    """Fit the Poisson-gamma model to a sample: cell sizes are Poisson with gamma-distributed rates.

    Parameters
    ----------
    frame : DataFrame, shape (n, columns)
        The sample.
    quasi_identifiers : sequence of str
        The columns that an attacker may know.
    population : int
        Size of the population that the sample was drawn from, N >= n.
    cells : int
        Number of possible combinations of values, K, including those that nobody has.
    classes : ndarray of int, shape (n,), optional
        The classes of `equivalence_classes`, if already computed.

    Raises
    ------
    ValueError
        If the frame has no row or lacks a column, the population is smaller than the sample, or there are fewer cells
        than the sample has classes.

    Notes
    -----
    A cell's expected size is gamma distributed with mean N / K and shape a. With the sampling rate r = n / N, its size
    in the sample is therefore negative binomial with mean m = n / K and variance m + m²/a. From the unbiased variance v
    of the sample's K cell sizes, 1/a = (v/m - 1) K / n; with beta = 1/(a K), that is beta = (v/m - 1) / n.

    A cell has one person in the population with probability (N/K) (1 + N beta)^-(1 + a), and one in the sample with
    probability (n/K) (1 + n beta)^-(1 + a). K times each is the expected number of uniques,

        E(S1) = N (1 + N beta)^-(1 + 1/(K beta)),    E(s1) = n (1 + n beta)^-(1 + 1/(K beta)).

    A population unique is in the sample with probability r. The ratio r E(S1) / E(s1) is therefore the probability
    that a sample unique is a population unique. With s_1 sample uniques, the estimate is

        U = s_1 r E(S1) / E(s1) = s_1 ((1 + n beta) / (1 + N beta))^(1 + 1/(K beta)).

    For beta <= 0 the cell sizes vary no more than by chance; in the limit beta -> 0, E(S1) = N exp(-N/K), E(s1) =
    n exp(-n/K) and U = s_1 exp(-(N - n)/K).

    References
    ----------
    Bethlehem, Keller and Pannekoek (1990), Disclosure control of microdata, section 4.

    Examples
    --------
    >>> import pandas as pd
    >>> from metrics import poisson_gamma
    >>> sample = pd.DataFrame({"age": [30, 30, 30, 41, 52]})
    >>> model = poisson_gamma(sample, ["age"], population=10, cells=4)
    >>> round(model.beta, 4), round(model.population, 3), round(model.sample, 3), round(model.both, 3)
    (0.0533, 0.879, 1.303, 0.675)
    """
    return poisson_gamma_of_sizes(_sizes(frame, quasi_identifiers, classes), population, cells)


def poisson_gamma_of_sizes(sizes: SizeCounts, population: int, cells: int) -> PoissonGamma:
    """Compute `poisson_gamma` from class sizes."""
    n = _checked_rows(sizes, population)
    refuse(
        isinstance(cells, bool) or not isinstance(cells, int | np.integer) or cells < sizes.classes,
        f"cells must be an integer of at least the {sizes.classes} classes present, got {cells!r}",
    )
    mean = n / cells
    variance = float((sizes.counts * sizes.sizes.astype(float) ** 2).sum() - cells * mean**2) / max(1, cells - 1)
    beta = max(0.0, (variance / mean - 1) / n)
    people = np.array([population, n], dtype=float)
    log_alone = -people / cells if beta == 0 else -(1 + 1 / (cells * beta)) * np.log1p(people * beta)
    expected = people * np.exp(log_alone)
    both = sizes.uniques * float(np.exp(log_alone[0] - log_alone[1]))
    return PoissonGamma(int(cells), beta, float(expected[0]), float(expected[1]), both)


def poisson_gamma_uniques(
    frame: pd.DataFrame,
    quasi_identifiers: Sequence[str],
    *,
    population: int,
    cells: int,
    classes: Integers | None = None,
) -> float:
    """Population uniques in the sample by the Poisson-gamma model; parameters and errors are those of `poisson_gamma`.

    References
    ----------
    Bethlehem, Keller and Pannekoek (1990), Disclosure control of microdata, section 4.
    """
    return poisson_gamma(frame, quasi_identifiers, population=population, cells=cells, classes=classes).both


def zayatz_uniques(
    frame: pd.DataFrame, quasi_identifiers: Sequence[str], *, population: int, classes: Integers | None = None
) -> float:
    """Population uniques in the sample by Zayatz: class sizes are distributed alike in sample and population.

    Parameters and errors are those of `poisson_gamma_uniques`, without cells.

    Notes
    -----
    If u_i of the sample's u classes have size i, P(F = i) = u_i / u is assumed for the population too. A simple random
    sample contains exactly one of a class's i people with the hypergeometric probability h(i) = P(f = 1 | F = i), with
    h(1) = n / N. By Bayes' rule, a sample unique is a population unique with probability P(F = 1) h(1) / sum_i P(F = i)
    h(i). Since a sample's classes are smaller than the population's, the estimate tends to be too high.

    References
    ----------
    Zayatz (1991), Estimation of the percent of unique population elements on a microdata file using the sample.
    """
    return zayatz_of_sizes(_sizes(frame, quasi_identifiers, classes), population)


def zayatz_of_sizes(sizes: SizeCounts, population: int) -> float:
    """Compute `zayatz_uniques` from class sizes."""
    n = _checked_rows(sizes, population)
    size, count = sizes.sizes, sizes.counts
    if size[0] > 1:
        return 0.0
    single = np.asarray(stats.hypergeom.pmf(1, population, size, n))
    return float(count[0] * (count[0] * single[0]) / (count * single).sum())


def pitman_uniques(
    frame: pd.DataFrame, quasi_identifiers: Sequence[str], *, population: int, classes: Integers | None = None
) -> float:
    """Population uniques in the sample by Pitman's sampling formula, which models how classes form.

    Parameters and errors are those of `poisson_gamma_uniques`, without cells.

    Notes
    -----
    People arrive one after the other. After t people in u classes, the next one starts a class with probability
    (theta + u alpha) / (theta + t) and joins a class of size j with probability (j - alpha) / (theta + t), where
    0 <= alpha < 1 and theta > -alpha. The likelihood of the sample's class sizes, which is maximised, is therefore

        prod_{i<u} (theta + i alpha) prod_{i<n} 1/(theta + i) prod_classes prod_{i<size} (i - alpha),

    each product from i = 1. The first person is alone among N with probability prod_{t<N} (theta + t - 1 + alpha) /
    (theta + t). Since the order does not matter, this holds for everybody. Hoshino writes this probability
    asymptotically as N^(alpha - 1) Gamma(theta + 1) / Gamma(theta + alpha). The estimate is n times this probability,
    which is computed exactly here.

    References
    ----------
    Pitman (1995), Exchangeable and partially exchangeable random partitions; Hoshino (2001), Applying Pitman's
    sampling formula to microdata disclosure risk assessment.
    """
    return pitman_of_sizes(_sizes(frame, quasi_identifiers, classes), population)


def pitman_of_sizes(sizes: SizeCounts, population: int) -> float:
    """Compute `pitman_uniques` from class sizes."""
    n = _checked_rows(sizes, population)
    uniques = sizes.uniques
    # Without a class of size 1, or without a larger one, the model cannot be fitted: return the sample uniques.
    if uniques in (0, n) or population == n:
        return float(uniques)
    size, count = sizes.sizes, sizes.counts

    def loss(point: Floats) -> float:
        alpha, theta = _pitman_parameters(point)
        started = (
            _sum_of_logarithms(theta, alpha, sizes.classes) - special.gammaln(theta + n) + special.gammaln(theta + 1)
        )
        joined = (count * (special.gammaln(size - alpha) - special.gammaln(1 - alpha))).sum()
        return -float(started + joined) / n

    alpha, theta = _pitman_parameters(_minimum(loss, np.array([0.0, np.log(sizes.classes)])))
    alone = special.gammaln(theta + alpha + population - 1) - special.gammaln(theta + population)
    alone += special.gammaln(theta + 1) - special.gammaln(theta + alpha)
    return min(float(uniques), n * float(np.exp(alone)))


def snb_uniques(
    frame: pd.DataFrame, quasi_identifiers: Sequence[str], *, population: int, classes: Integers | None = None
) -> float:
    """Population uniques in the sample by the shifted negative binomial model (SNB) of class sizes.

    Parameters and errors are those of `poisson_gamma_uniques`, without cells.

    Notes
    -----
    A class has F = 1 + G people, where G is negative binomial with P(G = g) = C(a + g - 1, g) p^a (1 - p)^g. Everybody
    is sampled independently with probability r = n / N. The number sampled among the G is negative binomial with the
    same shape a and q = p / (p + r (1 - p)). A class hence shows f people in the sample with probability

        P(f) = (1 - r) nb(f; a, q) + r nb(f - 1; a, q),

    and is observed if f > 0. The likelihood of the observed sizes, P(f) / (1 - P(0)), is maximised. The sample's u
    classes correspond to K = u / (1 - P(0)) classes in the population. Of these K p^a are uniques, and r K p^a of them
    are in the sample. Chen and Keller-McNulty equate moments; here the likelihood is maximised.

    References
    ----------
    Chen and Keller-McNulty (1998), Estimation of identification disclosure risk in microdata.
    """
    return snb_of_sizes(_sizes(frame, quasi_identifiers, classes), population)


def snb_of_sizes(sizes: SizeCounts, population: int) -> float:
    """Compute `snb_uniques` from class sizes."""
    n = _checked_rows(sizes, population)
    uniques = sizes.uniques
    # Without a class of size 1, or without a larger one, the model cannot be fitted: return the sample uniques.
    if uniques in (0, n) or population == n:
        return float(uniques)
    size, count = sizes.sizes, sizes.counts
    rate = n / population

    def log_probabilities(point: Floats, sizes_shown: Array) -> Floats:
        shape, mean = np.exp(point)
        success = shape / (shape + rate * mean)
        first_unsampled = np.log1p(-rate) + stats.nbinom.logpmf(sizes_shown, shape, success)
        first_sampled = np.log(rate) + stats.nbinom.logpmf(sizes_shown - 1, shape, success)
        return np.asarray(np.logaddexp(first_unsampled, first_sampled))

    def loss(point: Floats) -> float:
        unseen = float(np.exp(log_probabilities(point, np.zeros(1))[0]))
        return -float((count * (log_probabilities(point, size) - np.log1p(-unseen))).sum()) / sizes.classes

    excess = max(n / sizes.classes - 1, 1 / n)
    point = _minimum(loss, np.log([1.0, excess / rate]))
    shape, mean = np.exp(point)
    unseen = float(np.exp(log_probabilities(point, np.zeros(1))[0]))
    alone = (shape / (shape + mean)) ** shape
    return min(float(uniques), rate * sizes.classes / (1 - unseen) * float(alone))


def _pitman_parameters(point: Floats) -> tuple[float, float]:
    """Alpha in (0, 1) and theta > -alpha, from an unconstrained point of the plane."""
    alpha = float(special.expit(point[0]))
    return alpha, float(np.exp(point[1])) - alpha


def _minimum(loss: Callable[[Floats], float], start: Floats) -> Floats:
    """Minimizer of a smooth loss of two parameters on logarithmic scales."""
    bounds = optimize.Bounds(start - 20, start + 20)
    return np.asarray(optimize.minimize(loss, start, method="Nelder-Mead", bounds=bounds, tol=1e-9).x, dtype=float)


def _sum_of_logarithms(theta: float, alpha: float, classes: int) -> float:
    """Sum of log(theta + i alpha) over i = 1, …, classes - 1.

    Beyond the first `_SUMMED` terms, this is the Euler-Maclaurin formula. Its next term is below (alpha / (theta + i
    alpha))^3 / 360 with i >= `_SUMMED`, hence below 1e-13. With A = theta + a alpha and r = alpha (b - a) / A, the
    integral from a to b is (b - a) (log A + (1 + 1/r) log(1 + r) - 1), which loses no digits as alpha goes to 0.
    """
    total = float(np.log(theta + np.arange(1, min(classes, _SUMMED + 1)) * alpha).sum())
    start, end = _SUMMED, classes - 1
    if end <= start:
        return total
    low, high = theta + start * alpha, theta + end * alpha
    ratio = alpha * (end - start) / low
    grown = (1 + 1 / ratio) * np.log1p(ratio) if ratio > 1e-9 else 1 + ratio / 2
    integral = (end - start) * (np.log(low) + grown - 1)
    # The sum without its first term, which is among the terms above.
    return float(total + integral + (np.log(high) - np.log(low)) / 2 + alpha * (1 / high - 1 / low) / 12)


def _sizes(frame: pd.DataFrame, quasi_identifiers: Sequence[str], classes: Integers | None) -> SizeCounts:
    return SizeCounts.of_classes(sizes_in(frame, quasi_identifiers, classes))


def _checked_rows(sizes: SizeCounts, population: int) -> int:
    """Number of rows; ValueError unless the population is an integer of at least that."""
    n = sizes.rows
    refuse(
        isinstance(population, bool) or not isinstance(population, int | np.integer) or population < n,
        f"population must be an integer of at least the sample's {n} rows, got {population!r}",
    )
    return n
