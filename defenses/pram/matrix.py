"""Transition matrices of PRAM: construction, validation, epsilon and Pk-anonymity.

Retention-replacement keeps a category with probability p and otherwise draws one of the d - 1 others uniformly. Each
row of its matrix holds p and (1 - p)/(d - 1), so e^epsilon = p (d - 1)/(1 - p). Its exact k for n records is
k = 1 + (n - 1) e^(-2 epsilon).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from defenses.base import Guarantee, Microdata, category_count
from metrics.columns import (
    Floats,
    Given,
    check_integer,
    check_real,
    errors_at,
    refuse,
    refuse_any,
    refuse_rows,
    require,
)

# Check that the categories of randomized columns are public, as PRAM's guarantees require.


def unless_public(records: Microdata, names: Sequence[str]) -> Guarantee | None:
    """The empty guarantee if no column is randomized or a column's categories derive from the records, else None."""
    if not names:
        return Guarantee(statement="none: no column is randomized")
    not_public = records.not_public(names)
    if not_public:
        return Guarantee(statement=f"none: the domain of {', '.join(not_public)} is read from the records; declare it")
    # The guarantee is about tables without a missing value in these columns (`public_tables` says so).
    with_missing = [name for name in names if category_count(records, name) > records.domain(name).size]
    if with_missing:
        return Guarantee(
            statement=f"none: that a value of {', '.join(with_missing)} is missing, which makes missing a category, is "
            "read from the records"
        )
    return None


def public_tables(names: Sequence[str]) -> str:
    """The tables among which PRAM's guarantees hold, in words."""
    return f"among tables without a missing value in {', '.join(names)}"


def check_matrix(matrix: ArrayLike) -> Floats:
    """Return a transition matrix as an array.

    Raises ValueError if it is not a square array of probabilities, or a column does not sum to 1 (to 1e-9); names the
    column.
    """
    array = np.asarray(matrix, dtype=float)
    require(
        array.ndim == 2 and array.shape[0] == array.shape[1] and array.size,
        f"matrix must be square with one row and one column per category, got shape {array.shape}",
    )
    refuse_any(
        np.argwhere(~((array >= 0) & (array <= 1)).T).tolist(),
        lambda place: f"matrix: column {place[0]}, row {place[1]} is not a probability: {array[place[1], place[0]]}",
    )
    totals = array.sum(axis=0)
    refuse_rows(
        np.abs(totals - 1) > 1e-9,
        lambda column: f"matrix: column {column} sums to {totals[column]:.12g}, columns must sum to 1",
    )
    return array


def check_retention(retention: ArrayLike) -> Floats:
    """Return retention probabilities as an array.

    Raises ValueError if they are not a vector of probabilities (names the category), or a lone category is not always
    kept.
    """
    array = np.asarray(retention, dtype=float)
    require(
        array.ndim == 1 and array.size,
        f"retention must be a vector with one probability per category, got shape {array.shape}",
    )
    refuse_rows(
        ~((array >= 0) & (array <= 1)), lambda row: f"retention of category {row} is not a probability: {array[row]}"
    )
    refuse(array.size == 1 and array[0] != 1, f"retention must be 1 where there is one category, got {array[0]}")
    return array


def check_histogram(histogram: ArrayLike) -> Floats:
    """Return a histogram as an array of floats.

    Raises ValueError if it is not a vector of finite, non-negative counts (names the category), or all counts are zero.
    """
    try:
        array = np.asarray(histogram, dtype=float)
    except (TypeError, ValueError):
        raise ValueError("histogram must hold numbers, one count per category") from None
    require(
        array.ndim == 1 and array.size,
        f"histogram must be a vector with one count per category, got shape {array.shape}",
    )
    refuse_rows(
        ~(np.isfinite(array) & (array >= 0)),
        lambda row: f"histogram: count {array[row]} of category {row} is not finite and non-negative",
    )
    require(array.any(), "histogram is all zero; at least one category must have a record")
    return array


def check_prior(prior: Given) -> Given:
    """Return the prior if it maps columns to histograms; otherwise raise ValueError naming the column."""
    if not isinstance(prior, Mapping):
        raise ValueError(f"prior must map columns to counts, got {prior!r}")
    for name, counts in prior.items():
        with errors_at(f"prior of column {name!r}", (TypeError, ValueError)):
            check_histogram(counts)
    return prior


def prior_counts(prior: Mapping[str, ArrayLike], name: str, categories: int) -> Floats:
    """Public counts of one column of a prior, shape (categories,).

    Raises ValueError if the prior has another number of categories than the column.
    """
    counts = np.asarray(prior[name], dtype=float)
    require(
        counts.size == categories,
        f"prior of column {name!r} has {counts.size} counts, the column {categories} categories",
    )
    return counts


def transition_matrix(retention: ArrayLike) -> Floats:
    """A-type transition matrix: keeps category j with probability p_j, otherwise draws another one uniformly.

    Parameters
    ----------
    retention : array_like, shape (d,)
        Probabilities p.

    Returns
    -------
    ndarray, shape (d, d)
        Columns sum to 1.

    Raises
    ------
    ValueError
        If `retention` is not a vector of probabilities.

    Examples
    --------
    >>> transition_matrix([0.5, 0.75, 1.0]).tolist()
    [[0.5, 0.125, 0.0], [0.25, 0.75, 0.0], [0.25, 0.125, 1.0]]
    """
    probabilities = check_retention(retention)
    d = probabilities.size
    matrix = np.broadcast_to((1 - probabilities) / max(d - 1, 1), (d, d)).copy()
    np.fill_diagonal(matrix, probabilities)
    return matrix


def epsilon(matrix: ArrayLike) -> float:
    """Epsilon of releasing each record through a fixed matrix; neighbouring tables differ in one record's values.

    It is tight: the largest log-ratio of two entries in a row. A row with both zero and non-zero entries gives
    infinity.

    Raises
    ------
    ValueError
        If `matrix` is not a transition matrix.

    Notes
    -----
    Source: Wang, Wu and Hu (2016), Theorem 4.1.
    """
    array = check_matrix(matrix)
    return _largest_log_ratio(array.max(axis=1), array.min(axis=1))


def retention_epsilon(retention: ArrayLike) -> float:
    """Epsilon of ``transition_matrix(retention)`` in O(d).

    With q = 1 - p, row i holds 1 - q_i and q_j/(d - 1) for the other categories j. The largest ratio occurs
    between the two smallest q, between the two largest q, or in a third row between the largest and the smallest q.

    Raises
    ------
    ValueError
        If `retention` is not a vector of probabilities.
    """
    probabilities = check_retention(retention)
    return extremes_epsilon(extremes(probabilities), probabilities.size)


def extremes(values: Floats) -> Floats:
    """Two smallest and two largest values, ascending, shape (4,); they overlap if there are fewer than four."""
    d = values.size
    ranks = [0, min(1, d - 1), max(d - 2, 0), d - 1]
    return np.partition(values, sorted(set(ranks)))[ranks]


def extremes_epsilon(retention: Floats, d: int) -> float:
    """Epsilon of the A-type matrix of `d` categories whose retention probabilities have these extremes."""
    if d == 1:
        return 0.0
    first, second, last_but_one, last = retention
    ratios = [
        (last * (d - 1), 1 - last_but_one),
        (last_but_one * (d - 1), 1 - last),
        (1 - first, second * (d - 1)),
        (1 - second, first * (d - 1)),
    ]
    if d > 2:
        ratios.append((1 - first, 1 - last))
    return _largest_log_ratio(*np.array(ratios).T)


@np.errstate(divide="ignore")
def _largest_log_ratio(over: Floats, under: Floats) -> float:
    """Largest logarithm of the ratios of probabilities, shape (n,) each, where the first is positive; at least 0."""
    occurring = over > 0
    return float(np.log(over[occurring] / under[occurring]).max(initial=0.0))


@np.errstate(divide="ignore", invalid="ignore")
def pk(matrix: ArrayLike, n: int) -> float:
    """Exact Pk-anonymity: the largest k when `n` shuffled records are released through a matrix.

    The worst table has one record in category a and n - 1 records in another category b. The odds that a released row
    of value x is the lone record's are proportional to r_x = P[x, a]/P[x, b]. The posterior is largest for one
    released x among n - 1 of y: r_x/(r_x + (n - 1) r_y). So k = 1 + (n - 1) min r_y/r_x over a, b, x, y. Here
    log(r_x/r_y) is at most the spread of log P[:, a] - log P[:, b] over the values that a or b can take.

    Parameters
    ----------
    matrix : array_like, shape (d, d)
        Columns sum to 1. Takes O(d^3).
    n : int
        Number of records.

    Raises
    ------
    ValueError
        If `matrix` is not a transition matrix or `n` is not an integer of at least 1.

    Examples
    --------
    >>> round(pk([[0.75, 0.25], [0.25, 0.75]], 10), 6)
    2.0

    Notes
    -----
    Source: Pk-anonymity is Ikarashi, Kikuchi, Chida and Takahashi (2015), Definition 6.
    """
    array = check_matrix(matrix)
    check_integer("n", n, low=1)
    logs = np.log(array)
    spread = 0.0
    for a in range(array.shape[0] - 1):
        ratios = logs[:, a, None] - logs[:, a + 1 :]
        spread = max(spread, float((np.nanmax(ratios, axis=0) - np.nanmin(ratios, axis=0)).max()))
    return float(1 + (n - 1) * np.exp(-spread))


@np.errstate(divide="ignore")
def retention_pk(retention: ArrayLike, n: int) -> float:
    """Exact k of ``transition_matrix(retention)`` for `n` records in O(d).

    Let s_j = log(p_j (d - 1)/q_j). The differences log P[:, a] - log P[:, b] are, up to a constant, s_a in row a, -s_b
    in row b and 0 elsewhere. Their spread is s_a + s_b if both are positive, -s_a - s_b if both are negative, and
    max(|s_a|, |s_b|) otherwise. The largest spread is therefore among the two largest and the two smallest s.

    Raises
    ------
    ValueError
        If `retention` is not a vector of probabilities or `n` is not an integer of at least 1.
    """
    probabilities = check_retention(retention)
    check_integer("n", n, low=1)
    d = probabilities.size
    if d < 3:
        return pk(transition_matrix(probabilities), n)
    scores = np.log(probabilities) + np.log(d - 1) - np.log1p(-probabilities)
    scores = np.partition(scores, sorted({0, 1, d - 2, d - 1}))
    spread = max(np.maximum(scores[-2:], 0).sum(), np.maximum(-scores[:2], 0).sum())
    return float(1 + (n - 1) * np.exp(-spread))


def invariant(matrix: ArrayLike, histogram: ArrayLike) -> Floats:
    """Invariant PRAM: a matrix under which the expected released histogram equals the original.

    Each release i of `matrix` P is replaced by a category drawn from the posterior of its original,
    Q[j, i] = P[i, j] v_j / (P v)_i, so Q P v = v. Q post-processes the release of P, so epsilon of the fixed matrix Q P
    is at most that of P. The matrix itself depends on the histogram and is not private.

    Parameters
    ----------
    matrix : array_like, shape (d, d)
        Any transition matrix.
    histogram : array_like, shape (d,)
        Counts v.

    Raises
    ------
    ValueError
        If an argument is refused or their sizes differ.

    Notes
    -----
    Source: Gouweleeuw, Kooiman, Willenborg and de Wolf (1998), the two-stage method.
    """
    array, counts = check_matrix(matrix), check_histogram(histogram)
    require(counts.size == array.shape[0], f"histogram has {counts.size} categories, the matrix {array.shape[0]}")
    shares = counts / counts.sum()
    expected = array @ shares
    posterior = np.eye(shares.size)
    occurring = expected > 0
    posterior[:, occurring] = array[occurring].T * shares[:, None] / expected[occurring]
    return np.asarray(posterior @ array)


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
