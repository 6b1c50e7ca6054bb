"""How far one record can move a query's answer, over public bounds.

Neighbours are tables of the same number of records that differ in one ("replace", bounded differential privacy, n is
public), or tables of which one has one record more ("add or remove", unbounded). Where n stands, it is the number of
records, of the larger table under "add or remove".

These are global sensitivities: the largest over all tables within the bounds. What `brute_force_sensitivity` finds on
the data at hand is local.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from defenses.base.parameters import check_integer, check_real
from metrics.arrays import Floats

NEIGHBOURS = ("replace", "add or remove")


def check_neighbours(neighbours: Any) -> None:
    """Raise ValueError unless it names a relation between tables."""
    if neighbours not in NEIGHBOURS:
        raise ValueError(f"neighbours must be one of {', '.join(map(repr, NEIGHBOURS))}, got {neighbours!r}")


def check_bounds(low: Any, high: Any) -> None:
    """Raise ValueError unless low and high are finite and in this order."""
    check_real("low", low, low=-math.inf)
    check_real("high", high, low=-math.inf)
    if low > high:
        raise ValueError(f"low ({low:g}) exceeds high ({high:g})")


def clip(values: ArrayLike, low: float, high: float, missing: float | None = None) -> Floats:
    """Move every value outside the public bounds to the nearer one, shape as given.

    Parameters
    ----------
    values : array_like of float
        Infinite ones are clipped like others.
    low, high : float
        Public bounds.
    missing : float, optional
        What NaN counts as, within the bounds; NaN is refused where it is not given (and the refusal then says of the
        records that one is missing: give it in a mechanism).

    Raises
    ------
    ValueError
        If the bounds are reversed or not finite, `missing` is outside, or a value is NaN or no number.
    """
    check_bounds(low, high)
    try:
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        # The converter's own message holds the text that it failed on.
        raise ValueError("values must be numbers") from None
    holes = np.isnan(numbers)
    if missing is not None:
        check_real("missing", missing, low=low, high=high)
        numbers = np.where(holes, missing, numbers)
    elif holes.any():
        raise ValueError(f"value {int(np.flatnonzero(holes.ravel())[0])} is NaN; say what it counts as")
    return np.asarray(np.clip(numbers, low, high))


def count_sensitivity(neighbours: str = "replace") -> float:
    """Return 1: one record enters or leaves the selection."""
    check_neighbours(neighbours)
    return 1.0


def sum_sensitivity(low: float, high: float, neighbours: str = "replace", *, selective: bool = False) -> float:
    """Sensitivity of a sum of values in [low, high].

    Replacing moves it by high - low; adding by max(|low|, |high|). Where the sum is over a selection that depends on
    the record (`selective`), replacing may do either.

    Raises
    ------
    ValueError
        If a parameter is refused.
    """
    check_bounds(low, high)
    check_neighbours(neighbours)
    largest = max(abs(low), abs(high))
    if neighbours == "add or remove":
        return float(largest)
    return float(max(high - low, largest) if selective else high - low)


def mean_sensitivity(low: float, high: float, n: int, neighbours: str = "replace") -> float:
    """Sensitivity (high - low) / n of a mean.

    Replacing moves one term of the sum. Removing x from n values moves the mean by |mean - x| / (n - 1), and
    |mean - x| is at most (high - low)(n - 1) / n, because x is one of the n.

    Raises
    ------
    ValueError
        If a parameter is refused.
    """
    check_bounds(low, high)
    check_integer("n", n, low=1)
    check_neighbours(neighbours)
    return float((high - low) / n)


def maximum_sensitivity(low: float, high: float, neighbours: str = "replace") -> float:
    """Sensitivity high - low of a maximum, minimum, median or any quantile: all other values may lie at one end.

    Raises
    ------
    ValueError
        If a parameter is refused.
    """
    check_bounds(low, high)
    check_neighbours(neighbours)
    return float(high - low)


def histogram_sensitivity(neighbours: str = "replace", norm: int = 1) -> float:
    """Sensitivity of a histogram or contingency table: 1 to add a record, 2 (L1) or sqrt 2 (L2) to replace one.

    Raises
    ------
    ValueError
        If the relation is refused or the norm is neither 1 nor 2.
    """
    check_neighbours(neighbours)
    if norm not in (1, 2):
        raise ValueError(f"norm must be 1 or 2, got {norm!r}")
    return 1.0 if neighbours == "add or remove" else 2.0 ** (1 / norm)


def quantile_score_sensitivity(neighbours: str = "replace") -> float:
    """Sensitivity 1 of a candidate's distance in ranks from the quantile (see `rank_scores`).

    One record moves the number of values below a candidate by 1 at most; an added one moves the wanted rank by 1 at
    most too, and in the same direction.
    """
    check_neighbours(neighbours)
    return 1.0


def rank_scores(values: Floats, candidates: Floats, level: float) -> Floats:
    """Score of each ascending candidate as the value of rank r = ceil(level m) among m values, shape (candidates,).

    A candidate y is that value if fewer than r values lie below it and at least r at or below; its score is minus the
    number of values by which it fails, max(#{x < y} - (r - 1), r - #{x <= y}, 0).
    """
    ordered = np.sort(values)
    rank = min(max(math.ceil(level * ordered.size), 1), max(ordered.size, 1))
    below = np.searchsorted(ordered, candidates, side="left")
    upto = np.searchsorted(ordered, candidates, side="right")
    return -np.maximum(np.maximum(below - (rank - 1), rank - upto), 0).astype(float)


def variance_sensitivity(low: float, high: float, n: int, neighbours: str = "replace") -> float:
    """Sensitivity R^2 (n - 1) / n^2 of the variance (divided by n), R = high - low.

    With d the distance of x from the mean of the n - 1 others, n var = (n - 1) var' + d^2 (n - 1)/n. Replacing x
    changes d^2 by R^2 at most. Adding it changes var by ((n - 1)/n d^2 - var')/n, between -R^2/(4 n) and
    R^2 (n - 1)/n^2.

    Raises
    ------
    ValueError
        If a parameter is refused.
    """
    check_bounds(low, high)
    check_integer("n", n, low=1)
    check_neighbours(neighbours)
    return float((high - low) ** 2 * (n - 1) / n**2)


def standard_deviation_sensitivity(low: float, high: float, n: int, neighbours: str = "replace") -> float:
    """Sensitivity R sqrt(n - 1) / n of the standard deviation: the root of the variance's, taken on constant others.

    Not O(1/n): sqrt(a + b) - sqrt(a) <= sqrt(b), with equality at a = 0. Better release the variance and take the root.

    Raises
    ------
    ValueError
        If a parameter is refused.
    """
    return math.sqrt(variance_sensitivity(low, high, n, neighbours))


def covariance_sensitivity(
    first: tuple[float, float], second: tuple[float, float], n: int, neighbours: str = "replace"
) -> float:
    """Sensitivity R_A R_B (n - 1) / n^2 of the covariance (divided by n) of columns within two pairs of bounds.

    As for the variance with the product d_A d_B for d^2: over the place of one record, the product of its distances
    from the others' means moves by R_A R_B at most (in each coordinate the mean divides the range). Added, it changes
    the covariance by ((n - 1)/n d_A d_B - cov')/n; scaled to the unit square with the others' means at (a, b) and x in
    the corner (1, 1), cov' >= -min(a b, (1 - a)(1 - b)), and (n - 1)/n (1 - a)(1 - b) + a b over a + b <= 1 is
    bilinear: largest, (n - 1)/n, at a = b = 0.

    Raises
    ------
    ValueError
        If a parameter is refused.
    """
    check_bounds(*first)
    check_bounds(*second)
    check_integer("n", n, low=1)
    check_neighbours(neighbours)
    return float((first[1] - first[0]) * (second[1] - second[0]) * (n - 1) / n**2)


def median_smooth_sensitivity(values: ArrayLike, low: float, high: float, beta: float) -> float:
    """Smooth sensitivity of the (lower) median under "replace": max over k of e^(-beta k) times the local one k away.

    With x_1 <= ... <= x_n the values, x_i = low below and high above them, and r = ceil(n / 2), k replacements allow a
    local sensitivity of max over t = 0..k+1 of x_(r+t) - x_(r+t-k-1). It may be used to scale noise of heavy tails
    (Cauchy: epsilon-private with beta = epsilon / 6 and scale 6 S / epsilon); it is itself no public number.

    Parameters
    ----------
    values : array_like, shape (n,)
        At least one; clipped into the bounds.
    low, high : float
        Public bounds.
    beta : float
        Positive.

    Raises
    ------
    ValueError
        If a parameter is refused, there is no value or one is NaN.

    References
    ----------
    Nissim, Raskhodnikova and Smith (2007), Smooth sensitivity and sampling in private data analysis, section 3.1.
    """
    ordered = np.sort(clip(values, low, high).ravel())
    check_real("beta", beta, low=0, open_low=True)
    if not ordered.size:
        raise ValueError("values must hold at least one number")
    n = ordered.size
    rank = math.ceil(n / 2)
    padded = np.concatenate([np.full(n + 1, low), ordered, np.full(n + 1, high)])
    best = 0.0
    for k in range(n + 1):
        fade = math.exp(-beta * k)
        if fade * (high - low) <= best:
            break
        # Position of x_i in `padded` is n + i.
        upper = np.clip(n + rank + np.arange(k + 2), 0, padded.size - 1)
        lower = np.clip(n + rank + np.arange(k + 2) - k - 1, 0, padded.size - 1)
        best = max(best, fade * float((padded[upper] - padded[lower]).max()))
    return best


def brute_force_sensitivity(
    query: Callable[[Floats], Any],
    records: ArrayLike,
    bounds: tuple[float, float],
    removals: bool = True,
    additions: bool = True,
) -> float:
    """Return the largest change of a query by removing each record of these, or adding one within the bounds.

    For teaching only: this is the *local* sensitivity of the data at hand, which itself gives them away. Ten equal
    values have 0, and a mechanism scaled by it would add no noise. Noise needs the global sensitivity over the bounds.

    Parameters
    ----------
    query : callable
        From an array, shape (n,), to a number or an array; changes are measured in L1 norm.
    records : array_like, shape (n,)
        Numbers; clipped into the bounds first.
    bounds : tuple of float
        ``(low, high)``, public.
    removals, additions : bool
        Which changes are tried. 101 even steps of the bounds are added, one at a time.

    Raises
    ------
    ValueError
        If the bounds are refused, a record is NaN, or nothing can be tried.
    """
    values = clip(records, *bounds).ravel()
    neighbours = [np.delete(values, row) for row in range(values.size)] if removals and values.size > 1 else []
    if additions:
        neighbours += [np.append(values, value) for value in np.linspace(*bounds, 101)]
    if not neighbours or not values.size:
        raise ValueError("records must leave something to compare: at least two for removals, one for additions")
    truth = np.asarray(query(values), dtype=float)
    return max(float(np.abs(np.asarray(query(other), dtype=float) - truth).sum()) for other in neighbours)
