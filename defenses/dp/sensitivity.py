"""Sensitivity of queries: the largest change of an answer by one record, within public bounds.

Under "replace" (bounded differential privacy) neighbours have the same public number of records and differ in one of
them. Under "add or remove" (unbounded) one of the neighbours has one record more. n is the number of records, and that
of the larger table under "add or remove".

These are global sensitivities, the largest over all tables within the bounds. `brute_force_sensitivity` finds the local
sensitivity of given data.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from metrics.columns import Floats, Given, check_choice, check_integer, check_real, refuse, refuse_rows, require

NEIGHBOURS = ("replace", "add or remove")


def check_neighbours(neighbours: Given) -> Given:
    """Return `neighbours` if it is a known relation between tables; otherwise raise ValueError."""
    return check_choice("neighbours", neighbours, NEIGHBOURS)


def check_bounds(low: Any, high: Any) -> None:
    """Raise ValueError unless low and high are finite and low is at most high."""
    check_real("low", low, low=-math.inf)
    check_real("high", high, low=-math.inf)
    refuse(low > high, f"low ({low:g}) exceeds high ({high:g})")


def clip(values: ArrayLike, low: float, high: float, missing: float | None = None) -> Floats:
    """Clip values into public bounds, in their own shape.

    Parameters
    ----------
    values : array_like of float
        Infinite values are clipped like others.
    low, high : float
        Public bounds.
    missing : float, optional
        Value within the bounds that replaces NaN. Without it NaN is refused. The refusal discloses that a value is
        missing, so that mechanisms should pass it.

    Raises
    ------
    ValueError
        If the bounds are reversed or not finite, `missing` is outside of them, or a value is NaN or not a number.
    """
    check_bounds(low, high)
    try:
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        # NumPy's own message would disclose the value.
        raise ValueError("values must be numbers") from None
    holes = np.isnan(numbers)
    check_real("missing", missing, low=low, high=high, optional=True)
    if missing is None:
        refuse_rows(holes.ravel(), lambda row: f"value {row} is NaN; say what it counts as")
    else:
        numbers = np.where(holes, missing, numbers)
    return np.asarray(np.clip(numbers, low, high))


def count_sensitivity(neighbours: str = "replace") -> float:
    """Sensitivity 1 of a count: one record enters or leaves the selection."""
    check_neighbours(neighbours)
    return 1.0


def sum_sensitivity(low: float, high: float, neighbours: str = "replace", *, selective: bool = False) -> float:
    """Sensitivity of a sum of values in [low, high].

    Replacing a record changes it by at most high - low, adding one by at most max(|low|, |high|). If the sum is over a
    selection that depends on the record (`selective`), a replacement may have either effect.

    Raises ValueError if a parameter is refused.
    """
    check_bounds(low, high)
    check_neighbours(neighbours)
    largest = max(abs(low), abs(high))
    if neighbours == "add or remove":
        return float(largest)
    return float(max(high - low, largest) if selective else high - low)


def mean_sensitivity(low: float, high: float, n: int, neighbours: str = "replace") -> float:
    """Sensitivity (high - low) / n of a mean.

    Replacing changes one term of the sum. Removing x from n values changes the mean by |mean - x| / (n - 1), and
    |mean - x| is at most (high - low)(n - 1) / n, because x is one of the n values.

    Raises ValueError if a parameter is refused.
    """
    check_integer("n", n, low=1)
    return maximum_sensitivity(low, high, neighbours) / n


def maximum_sensitivity(low: float, high: float, neighbours: str = "replace") -> float:
    """Sensitivity high - low of a maximum, minimum, median or any quantile.

    It is attained where all other values lie at one end. Raises ValueError if a parameter is refused.
    """
    check_bounds(low, high)
    check_neighbours(neighbours)
    return float(high - low)


def histogram_sensitivity(neighbours: str = "replace", norm: int = 1) -> float:
    """Sensitivity of a histogram or contingency table: 1 for adding a record, 2 (L1) or sqrt 2 (L2) for replacing one.

    Raises ValueError if the relation is refused or the norm is neither 1 nor 2.
    """
    check_neighbours(neighbours)
    require(norm in (1, 2), f"norm must be 1 or 2, got {norm!r}")
    return 1.0 if neighbours == "add or remove" else 2.0 ** (1 / norm)


def quantile_score_sensitivity(neighbours: str = "replace") -> float:
    """Sensitivity 1 of a candidate's distance in ranks from the quantile (see `rank_scores`).

    One record changes the number of values below a candidate by at most 1. An added record also changes the target rank
    by at most 1, in the same direction.
    """
    return count_sensitivity(neighbours)


def rank_scores(values: Floats, candidates: Floats, level: float) -> Floats:
    """Score ascending candidates by their distance in ranks from the quantile of `level`, shape (candidates,).

    The quantile is the value of rank r = ceil(level m) among m values. A candidate y equals it if fewer than r values
    lie below y and at least r at or below. Its score is minus its distance max(#{x < y} - (r - 1), r - #{x <= y}, 0).
    """
    ordered = np.sort(values)
    rank = min(max(math.ceil(level * ordered.size), 1), max(ordered.size, 1))
    below = np.searchsorted(ordered, candidates, side="left")
    at_or_below = np.searchsorted(ordered, candidates, side="right")
    return -np.maximum(np.maximum(below - (rank - 1), rank - at_or_below), 0).astype(float)


def variance_sensitivity(low: float, high: float, n: int, neighbours: str = "replace") -> float:
    """Sensitivity R^2 (n - 1) / n^2 of the variance (divided by n), R = high - low.

    Let d be the distance of x from the mean of the n - 1 others. Then n var = (n - 1) var' + d^2 (n - 1)/n. Replacing x
    changes d^2 by at most R^2. Adding x changes var by ((n - 1)/n d^2 - var')/n, which lies between -R^2/(4 n) and R^2
    (n - 1)/n^2. Raises ValueError if a parameter is refused.
    """
    check_bounds(low, high)
    check_integer("n", n, low=1)
    check_neighbours(neighbours)
    return float((high - low) ** 2 * (n - 1) / n**2)


def standard_deviation_sensitivity(low: float, high: float, n: int, neighbours: str = "replace") -> float:
    """Sensitivity R sqrt(n - 1) / n of the standard deviation, the root of the variance's sensitivity.

    It is attained where all other values are equal: sqrt(a + b) - sqrt(a) <= sqrt(b), with equality at a = 0. It is not
    O(1/n), so that it is better to release the variance and take its root. Raises ValueError if a parameter is refused.
    """
    return math.sqrt(variance_sensitivity(low, high, n, neighbours))


def covariance_sensitivity(
    first: tuple[float, float], second: tuple[float, float], n: int, neighbours: str = "replace"
) -> float:
    """Sensitivity R_A R_B (n - 1) / n^2 of the covariance (divided by n) of two columns with bounds of widths R_A, R_B.

    The argument is that of the variance with the product d_A d_B for d^2. Replacing a record changes the product of its
    distances from the others' means by at most R_A R_B, because each mean divides the range. Adding it changes the
    covariance by ((n - 1)/n d_A d_B - cov')/n. Scale to the unit square, with the others' means at (a, b) and x in the
    corner (1, 1). Then cov' >= -min(a b, (1 - a)(1 - b)), and (n - 1)/n (1 - a)(1 - b) + a b over a + b <= 1 is
    bilinear with its largest value, (n - 1)/n, at a = b = 0. Raises ValueError if a parameter is refused.
    """
    check_bounds(*first)
    check_bounds(*second)
    check_integer("n", n, low=1)
    check_neighbours(neighbours)
    return float((first[1] - first[0]) * (second[1] - second[0]) * (n - 1) / n**2)


def median_smooth_sensitivity(values: ArrayLike, low: float, high: float, beta: float) -> float:
    """Smooth sensitivity S of the (lower) median under "replace".

    It is the maximum over k of e^(-beta k) times the largest local sensitivity after k replacements. Let
    x_1 <= ... <= x_n be the values, x_i = low for i < 1 and x_i = high for i > n, and r = ceil(n / 2). Then k
    replacements allow a local sensitivity of max over t = 0..k+1 of x_(r+t) - x_(r+t-k-1).

    It can scale noise with heavy tails: Cauchy noise is epsilon-private with beta = epsilon / 6 and scale
    6 S / epsilon. S itself depends on the records and is not public.

    - values of shape (n,): At least one; clipped into the bounds.

    Raises ValueError if a parameter is refused, there is no value or one is NaN.

    References
    ----------
    Nissim, Raskhodnikova and Smith (2007), Smooth sensitivity and sampling in private data analysis, section 3.1.
    """
    ordered = np.sort(clip(values, low, high).ravel())
    check_real("beta", beta, low=0, open_low=True)
    require(ordered.size, "values must hold at least one number")
    n = ordered.size
    rank = math.ceil(n / 2)
    padded = np.concatenate([np.full(n + 1, low), ordered, np.full(n + 1, high)])
    best = 0.0
    for k in range(n + 1):
        decay = math.exp(-beta * k)
        if decay * (high - low) <= best:
            break
        # x_i has position n + i in `padded`.
        upper = np.clip(n + rank + np.arange(k + 2), 0, padded.size - 1)
        lower = np.clip(n + rank + np.arange(k + 2) - k - 1, 0, padded.size - 1)
        best = max(best, decay * float((padded[upper] - padded[lower]).max()))
    return best


def brute_force_sensitivity(
    query: Callable[[Floats], Any],
    records: ArrayLike,
    bounds: tuple[float, float],
    removals: bool = True,
    additions: bool = True,
) -> float:
    """Local sensitivity by brute force: the largest change of a query over removals and additions of one record.

    For teaching only. The *local* sensitivity leaks information about the data. That of ten equal values is 0, and a
    mechanism scaled by it would add no noise. Noise requires the global sensitivity over the bounds.

    Parameters
    ----------
    query : callable
        Function of an array, shape (n,), that returns a number or an array; changes are measured in L1 norm.
    records : array_like, shape (n,)
        Numbers; clipped into the bounds first.
    bounds : tuple of float
        ``(low, high)``, public.
    removals, additions : bool
        Which changes are tried. Additions try 101 evenly spaced values within the bounds, one at a time.

    Raises
    ------
    ValueError
        If the bounds are refused, a record is NaN, or there is no change to try.
    """
    values = clip(records, *bounds).ravel()
    neighbours = [np.delete(values, row) for row in range(values.size)] if removals and values.size > 1 else []
    if additions:
        neighbours += [np.append(values, value) for value in np.linspace(*bounds, 101)]
    require(
        neighbours and values.size,
        "records must leave something to compare: at least two for removals, one for additions",
    )
    exact = np.asarray(query(values), dtype=float)
    return max(float(np.abs(np.asarray(query(other), dtype=float) - exact).sum()) for other in neighbours)
