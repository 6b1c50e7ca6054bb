"""Conversions between retention probability, epsilon and k of retention-replacement.

Retention-replacement keeps a category with probability p and otherwise draws one of the d - 1 others uniformly. Each
row of its matrix holds p and (1 - p)/(d - 1), so e^epsilon = p (d - 1)/(1 - p). Its exact k for n records is
k = 1 + (n - 1) e^(-2 epsilon).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from metrics.columns import check_integer, check_real, require


def retention_for_epsilon(epsilon: float, d: int) -> float:
    """Largest retention probability that is epsilon-differentially private.

    Parameters
    ----------
    epsilon : float
        Positive; infinity keeps every value.
    d : int
        Number of categories; a lone category is always kept.

    Raises
    ------
    ValueError
        If `epsilon` is not positive or `d` is not an integer of at least 1.

    Examples
    --------
    >>> round(retention_for_epsilon(1.0, 4), 3)
    0.475
    """
    check_epsilon(epsilon)
    check_integer("d", d, low=1)
    return float(1 / (1 + (d - 1) * np.exp(-epsilon)))


@np.errstate(divide="ignore")
def epsilon_for_retention(p: float, d: int) -> float:
    """Epsilon of the matrix that keeps a category with probability `p`; infinity where it is 0 or 1 and d > 1.

    Parameters
    ----------
    p : float
        In [0, 1]; must be 1 if d = 1.
    d : int
        Number of categories; with one category a release carries no information, and epsilon is 0.

    Raises
    ------
    ValueError
        If `p` is not a probability, or `d` is not an integer of at least 1.
    """
    check_integer("d", d, low=1)
    check_real("p", p, low=0, high=1)
    if d == 1:
        require(p == 1, f"p must be 1 where there is one category, got {p}")
        return 0.0
    return float(abs(np.log(p) + np.log(d - 1) - np.log1p(-p)))


def epsilon_for_k(k: float, n: int) -> float:
    """Largest epsilon at which every matrix is Pk-anonymous for `n` records: log((n - 1)/(k - 1))/2.

    Parameters
    ----------
    k : float
        In [1, n]. k = 1 is no requirement and gives infinity. k = n requires a release without information and gives
        0. No mechanism here accepts epsilon 0; release uniform draws instead.
    n : int
        Number of records.

    Raises
    ------
    ValueError
        If `n` is not an integer of at least 1, or `k` lies outside [1, n].

    Examples
    --------
    >>> round(epsilon_for_k(2, 32_561), 3)
    5.195
    """
    check_integer("n", n, low=1)
    check_real("k", k, low=1, high=n)
    return float("inf") if k == 1 else float(np.log((n - 1) / (k - 1)) / 2)


def k_for_epsilon(epsilon: float, n: int) -> float:
    """Pk-anonymity that epsilon implies for `n` records: 1 + (n - 1) e^(-2 epsilon).

    It is exact for retention-replacement and a lower bound for any other matrix; `pk` computes the exact k.

    Parameters
    ----------
    epsilon : float
        Positive; infinity gives k = 1.
    n : int
        Number of records.

    Raises
    ------
    ValueError
        If `epsilon` is not positive or `n` is not an integer of at least 1.
    """
    check_epsilon(epsilon)
    check_integer("n", n, low=1)
    return float(1 + (n - 1) * np.exp(-2 * epsilon))


def given_epsilon(epsilon: float | None, k: float | None, n: int) -> float:
    """Epsilon as given, or derived from `k` for `n` records.

    Infinity where neither is given, or where only `k` is given and there are no records. Raises ValueError if `k`
    exceeds the number of records.
    """
    if k is None or n == 0:
        return float("inf") if epsilon is None else float(epsilon)
    require(k <= n, f"k must be at most the number of records, {n}, got {k:g}")
    return epsilon_for_k(k, n)


def check_epsilon(epsilon: Any, name: str = "epsilon") -> None:
    """Raise ValueError, naming the parameter, unless `epsilon` is a positive number; infinity is allowed."""
    is_number = isinstance(epsilon, int | float | np.number) and not isinstance(epsilon, bool)
    require(is_number and epsilon > 0, f"{name} must be a positive number, got {epsilon!r}")
