"""Composition of guarantees: several answers together, and groups of several records."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

from defenses.dp.mechanism import check_delta
from metrics.columns import bisect, check_choice, check_integer, check_real

# The analytic Gaussian mechanism: exact delta and least standard deviation of continuous Gaussian noise.

# Bisection for the number at which a condition stops holding.


def doubled(holds: Callable[[float], bool], number: float) -> float:
    """Double a positive number until the condition no longer holds."""
    while holds(number):
        number *= 2
    return number


SMALLEST_DELTA = 1e-300
"""Smallest supported delta; smaller ones come near the smallest floating-point numbers."""


def gaussian_delta(sigma: float, epsilon: float, sensitivity: float = 1.0) -> float:
    """Return the least delta at which Gaussian noise of standard deviation sigma is (epsilon, delta)-private.

    References
    ----------
    Balle and Wang (2018), Improving the Gaussian mechanism for differential privacy, theorem 8.
    """
    from scipy.special import log_ndtr

    half, shift = sensitivity / (2 * sigma), epsilon * sigma / sensitivity
    first, second = float(log_ndtr(half - shift)), float(log_ndtr(-half - shift))
    # Computed in logarithms, because e^epsilon alone may overflow.
    return math.exp(first) * -math.expm1(min(0.0, epsilon + second - first))


@lru_cache(maxsize=1024)
def unit_sigma(epsilon: float, delta: float) -> float:
    """Return the least sigma at sensitivity 1, rounded up by 10^-9 in proportion; delta lies in [10^-300, 1)."""

    def exceeded(sigma: float) -> bool:
        return gaussian_delta(sigma, epsilon) > delta

    return bisect(exceeded, 1e-9, doubled(exceeded, 1.0), 100, geometric=True)[1] * (1 + 1e-9)


def group_privacy(epsilon: float, delta: float, m: int) -> tuple[float, float]:
    """Group privacy: (epsilon, delta) for tables that differ in m records.

    Parameters
    ----------
    epsilon, delta : float
        The guarantee for one record.
    m : int
        Number of records, at least 1.

    Returns
    -------
    tuple of float
        m epsilon, and delta (1 + e^epsilon + ... + e^((m - 1) epsilon)), at most 1; a delta of 1 guarantees nothing.

    Raises
    ------
    ValueError
        If a parameter is refused.

    Notes
    -----
    Proof. On a path D_0, ..., D_m of neighbours, P_0(S) <= e^epsilon P_1(S) + delta. Insert the same bound for P_1, and
    so on. For delta = 0 this is the lecture's weak secrecy: the leakage about a group grows with its size.

    References
    ----------
    Vadhan (2017), The complexity of differential privacy, lemma 2.2.
    """
    check_cost(epsilon, delta)
    check_integer("m", m, low=1)
    try:
        factor = math.expm1(m * epsilon) / math.expm1(epsilon) if epsilon else m
    except OverflowError:
        factor = math.inf
    return m * epsilon, min(1.0, delta * factor) if delta else 0.0


def weak_secrecy(epsilon: float, m: int) -> float:
    """Weak secrecy: the factor c = e^(m epsilon) between probabilities on tables that differ in m records.

    It is infinite where no floating-point number is as large.

    Raises
    ------
    ValueError
        If a parameter is refused.
    """
    total, _ = group_privacy(epsilon, 0.0, m)
    try:
        return math.exp(total)
    except OverflowError:
        return math.inf


def pointwise(epsilon: float, delta: float) -> tuple[float, float]:
    """Pointwise privacy (epsilon', delta'): with probability 1 - delta' an answer y has P(y) <= e^epsilon' P'(y).

    Parameters
    ----------
    epsilon, delta : float
        The guarantee; epsilon positive.

    Returns
    -------
    tuple of float
        2 epsilon, and delta / (1 - e^-epsilon).

    Raises
    ------
    ValueError
        If a parameter is refused.

    Notes
    -----
    Proof. Let B hold the answers with P(y) > e^(2 epsilon) P'(y). Then P(B) <= e^epsilon P'(B) + delta
    < e^-epsilon P(B) + delta, so that P(B) < delta / (1 - e^-epsilon).

    The bound is attained. The lecture states delta' = 2 delta / (epsilon e^epsilon), which is smaller from
    epsilon = 0.468 on and false there; from 0.853 on it is smaller than delta itself. A mechanism in the tests attains
    the first bound and violates the second.
    """
    check_cost(epsilon, delta)
    check_real("epsilon", epsilon, low=0, open_low=True)
    return 2 * epsilon, min(1.0, delta / -math.expm1(-epsilon))


def serial(parts: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Sequential composition: epsilons and deltas of answers on the same records add up, also if chosen adaptively.

    Raises
    ------
    ValueError
        If a part is refused.
    """
    for epsilon, delta in parts:
        check_cost(epsilon, delta)
    return math.fsum(e for e, _ in parts), min(1.0, math.fsum(d for _, d in parts))


def parallel(parts: Sequence[tuple[float, float]], neighbours: str) -> tuple[float, float]:
    """Parallel composition: (epsilon, delta) of answers on disjoint parts of the records.

    Parameters
    ----------
    parts : sequence of tuple of float
        Guarantee (epsilon, delta) of each answer, for neighbours of its part under the same relation.
    neighbours : {"add or remove", "replace", "replace in place"}
        "add or remove" changes one part, at the largest cost. "replace" may move a record between parts, at the sum of
        the two largest costs: each part sees a record added or removed. With "replace in place" the parts are public
        and a replaced record stays in its part, at the largest cost.

    Raises
    ------
    ValueError
        If a part or the relation is refused.

    References
    ----------
    McSherry (2009), Privacy integrated queries, theorem 4.
    """
    changed_parts = {"add or remove": 1, "replace": 2, "replace in place": 1}
    check_choice("neighbours", neighbours, changed_parts)
    for epsilon, delta in parts:
        check_cost(epsilon, delta)
    most = changed_parts[neighbours]
    return (
        math.fsum(sorted((e for e, _ in parts), reverse=True)[:most]),
        min(1.0, math.fsum(sorted((d for _, d in parts), reverse=True)[:most])),
    )


def advanced(epsilon: float, delta: float, k: int, slack: float) -> tuple[float, float]:
    """Advanced composition: (epsilon, delta) of k adaptive answers with the same guarantee.

    Parameters
    ----------
    epsilon, delta : float
        Guarantee of each answer.
    k : int
        Number of answers, at least 1.
    slack : float
        Additional delta, in (0, 1), given up for a smaller epsilon.

    Returns
    -------
    tuple of float
        The smaller of k epsilon and epsilon sqrt(2 k ln(1 / slack)) + k epsilon (e^epsilon - 1) / (e^epsilon + 1),
        and k delta + slack.

    Raises
    ------
    ValueError
        If a parameter is refused.

    Notes
    -----
    The privacy loss of each answer lies in [-epsilon, epsilon] with a mean of at most
    epsilon (e^epsilon - 1)/(e^epsilon + 1). Azuma's inequality bounds the sum.

    References
    ----------
    Dwork, Rothblum and Vadhan (2010), Boosting and differential privacy; the mean: Kairouz, Oh and Viswanath (2015).

    Examples
    --------
    >>> from defenses.dp import advanced, serial
    >>> serial([(0.5, 0.0), (0.25, 1e-6)])
    (0.75, 1e-06)
    >>> epsilon, delta = advanced(0.1, 0.0, k=100, slack=1e-6)
    >>> round(epsilon, 3), delta
    (5.756, 1e-06)
    """
    check_cost(epsilon, delta)
    check_integer("k", k, low=1)
    check_real("slack", slack, low=0, high=1, open_low=True, open_high=True)
    mean = epsilon * math.tanh(epsilon / 2)
    total = epsilon * math.sqrt(2 * k * -math.log(slack)) + k * mean
    return min(k * epsilon, total), min(1.0, k * delta + slack)


def zcdp_delta(rho: float, epsilon: float) -> float:
    """Return the delta at which rho-zero-concentrated differential privacy gives (epsilon, delta).

    It is the infimum over a > 1 of e^((a - 1)(a rho - epsilon)) (1 - 1/a)^a / (a - 1). Every a gives a valid bound.
    Bisection of the logarithm's derivative, (2 a - 1) rho - epsilon + ln(1 - 1/a), finds the best one.

    Raises
    ------
    ValueError
        If a parameter is refused.

    References
    ----------
    Canonne, Kamath and Steinke (2020), The discrete Gaussian for differential privacy, proposition 12.
    """
    check_real("rho", rho, low=0)
    check_real("epsilon", epsilon, low=0)
    if rho == 0:
        return 0.0

    def decreases(a: float) -> bool:
        return (2 * a - 1) * rho - epsilon + math.log1p(-1 / a) < 0

    _, a = bisect(decreases, 1.0 + 2.0**-40, (epsilon + 1) / (2 * rho) + 2, 200)
    exponent = (a - 1) * (a * rho - epsilon) + a * math.log1p(-1 / a) - math.log(a - 1)
    return math.exp(min(0.0, exponent))


def zcdp_epsilon(rho: float, delta: float) -> float:
    """Return the epsilon at which rho-zero-concentrated differential privacy gives (epsilon, delta), delta in (0, 1).

    Raises
    ------
    ValueError
        If a parameter is refused.
    """
    check_real("rho", rho, low=0)
    check_delta(delta)
    # Proposition 1.3 of Bun and Steinke (2016) gives an upper end for the bisection.
    high = rho + 2 * math.sqrt(rho * -math.log(delta)) + 1e-12
    return bisect(lambda epsilon: zcdp_delta(rho, epsilon) > delta, 0.0, high, 100)[1]


def zcdp_rho(epsilon: float, delta: float) -> float:
    """Return the largest rho whose zero-concentrated differential privacy gives (epsilon, delta).

    Raises
    ------
    ValueError
        If a parameter is refused.
    """
    check_real("epsilon", epsilon, low=0, open_low=True)
    check_delta(delta)
    return _zcdp_rho(float(epsilon), float(delta))


@lru_cache(maxsize=1024)
def _zcdp_rho(epsilon: float, delta: float) -> float:
    def within(rho: float) -> bool:
        return zcdp_delta(rho, epsilon) <= delta

    return bisect(within, 0.0, doubled(within, epsilon + 1), 200)[0]


def check_cost(epsilon: float, delta: float, rho: float | None = None) -> None:
    """Raise ValueError unless these are the epsilon, delta and rho of an answer; rho is None where it has none."""
    check_real("epsilon", epsilon, low=0)
    check_real("delta", delta, low=0, high=1, open_high=True)
    check_real("rho", rho, low=0, optional=True)
