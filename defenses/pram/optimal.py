"""Optimal retention probabilities: least expected change of a histogram under differential privacy.

Problem: with P = ``transition_matrix(p)``, minimise |P v - v| over the p for which P is epsilon-private. With
q = 1 - p, ``|P v - v| = d/(d - 1) |v q - mean(v q)|``.

Source: Miura and Hasegawa, Problem 3.1 and Algorithm 1. The exact solution is new in this project.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.optimize import lsq_linear, nnls

from defenses.pram.matrix import check_epsilon, check_histogram, check_retention, extremes, extremes_epsilon
from metrics.columns import Floats, require

# Optimal flip probabilities of a sorted histogram, by minimisation over five scalars.


def optimal_flips(counts: Floats, e: float) -> Floats:
    """Flip probabilities q of least cost; among several optima, counts of zero take the smallest probability.

    - counts of shape (d,): In descending order, the first equal to 1; every private q must have positive cost.

    Raises ArithmeticError if the steps do not converge.
    """
    cost = _Cost.of(counts)
    root = np.sqrt(counts.size)
    corners = _corners(e, counts.size)
    scalars = np.append(corners[:, 0], corners[1, 0] * cost.counts.mean())
    for _ in range(1000):
        top = cost.best_top(scalars)
        goal = _least(cost.rows(scalars, top), corners)
        same = cost.pieces(goal) == cost.pieces(scalars) and cost.best_top(goal) == top
        distance = np.sqrt(cost.slope(scalars, scalars, top))
        length = np.hypot(distance, scalars[4] * root)  # |v q - m| and |v q|
        fall = -cost.slope(scalars, goal - scalars, top)
        if fall <= (1e-11 if same else 1e-15) * distance * length:
            return cost.flips(goal if same else scalars, top)
        further = goal if same else _descend(cost, scalars, goal, top)
        if np.allclose(further, scalars, rtol=1e-9, atol=0):
            return cost.flips(further, top)
        scalars = further
    raise ArithmeticError("the optimal retention probabilities were not found in 1000 steps")


@dataclass(frozen=True)
class _Cost:
    """Cost sum (v_i q_i - m)^2 as a function of (a, b, c, f, m), for counts that descend from 1.

    - counts of shape (d,): v.
    - negative of shape (d,): -v, ascending, for binary search.
    - sums, squares of shape (d + 1,): Prefix sums of v and v^2, in extended precision because they are subtracted.
    """

    counts: Floats
    negative: Floats
    sums: NDArray[np.longdouble]
    squares: NDArray[np.longdouble]

    @staticmethod
    def of(counts: Floats) -> _Cost:
        sums, squares = np.zeros((2, counts.size + 1), dtype=np.longdouble)
        np.cumsum(counts, out=sums[1:])
        np.cumsum(counts * counts, out=squares[1:])
        return _Cost(counts, -counts, sums, squares)

    def pieces(self, scalars: Floats) -> tuple[int, int]:
        """Number of categories with v b > m, and number with v c >= m."""
        _, b, c, _, m = scalars.tolist()
        low, high = self.negative.searchsorted(-m / b, side="left"), self.negative.searchsorted(-m / c, side="right")
        return int(low), int(high)

    def best_top(self, scalars: Floats) -> int:
        """Category, except the first, that gains most from q = f: v nearest to m/(c + f), with v c <= m."""
        _, _, c, f, m = scalars.tolist()
        last = self.counts.size - 1
        first = max(1, int(self.negative.searchsorted(-m / c, side="left")))
        target = m / (c + f)
        right = int(self.negative.searchsorted(-target, side="left"))
        near = [min(max(i, first), last) for i in (right - 1, right)]
        return min(near, key=lambda i: abs(self.counts[i] - target))

    def rows(self, scalars: Floats, top: int) -> Floats:
        """Matrix R, shape (6, 5), with cost |R (a, b, c, f, m)|^2 on the piece of `scalars`.

        A group clipped at b costs sum (v b - m)^2 = n (mean b - m)^2 + sum (v - mean)^2 b^2.
        """
        low, high = self.pieces(scalars)
        rows = np.zeros((6, 5))
        rows[0, [0, 4]] = self.counts[0], -1
        rows[1, [3, 4]] = self.counts[top], -1
        for index, column, start, stop in ((2, 1, 1, low), (4, 2, max(high, 1), self.counts.size)):
            inside = start <= top < stop
            n = stop - start - inside
            if n > 0:
                value = self.counts[top] if inside else 0.0
                total = self.sums[stop] - self.sums[start] - value
                square = self.squares[stop] - self.squares[start] - value * value
                rows[index, [column, 4]] = total / np.sqrt(n), -np.sqrt(n)
                rows[index + 1, column] = np.sqrt(max(square - total * total / n, 0))
        return rows

    def slope(self, scalars: Floats, direction: Floats, top: int) -> float:
        """Derivative of half the cost along a direction."""
        rows = self.rows(scalars, top)
        return float((rows @ scalars) @ (rows @ direction))

    @np.errstate(divide="ignore")
    def flips(self, scalars: Floats, top: int) -> Floats:
        """Flip probability of every category."""
        a, b, c, f, m = scalars.tolist()
        flips: Floats = np.clip(m / self.counts, b, c)
        flips[top], flips[0] = f, a
        flips[int(self.negative.searchsorted(0)) :] = b
        return flips


def _corners(e: float, d: int) -> Floats:
    """(a, b, c, f) of the corners, shape (4, corners); the first has all four equal."""
    shapes = np.array([[1, 1, 1, 1], [1, 1, 1, e], [1, 1, e, e], [1, e, e, e]]).T
    corners = (d - 1) * shapes / (max(e, d - 1) * shapes[0] + min(e, d - 1) * shapes[1])
    slack = 1 - corners[3] - corners[2] / (e * (d - 1))
    slack[0] = (e - 1 / e) / (e + d - 1)  # the same number, without cancellation; never negative
    inside, outside = np.flatnonzero(slack >= 0), np.flatnonzero(slack < 0)
    crossings = [
        (slack[i] * corners[:, j] - slack[j] * corners[:, i]) / (slack[i] - slack[j]) for i in inside for j in outside
    ]
    return np.column_stack([corners[:, inside], *crossings])


def _least(rows: Floats, corners: Floats) -> Floats:
    """Scalars x of least |rows x|^2 whose first four are a mixture of corners.

    Weights w >= 0 with sum 1 that minimise |M w| are those that minimise |M w|^2 + (sum w - 1)^2, divided by their sum,
    because the optimality conditions agree. The mean m is a further non-negative unknown outside of the sum.
    """
    count = corners.shape[1]
    points = np.zeros((5, count + 1))
    points[:4, :count] = corners
    points[4, count] = 1
    weight = np.append(np.ones(count), 0)
    system = rows @ points
    lengths = np.linalg.norm(system, axis=0)  # columns differ by up to e, so the unknowns are weights times lengths
    system = np.vstack([system / lengths, weight * lengths[:count].min() / lengths])
    target = np.append(np.zeros(6), 1.0)
    weights, _ = nnls(system, target)
    pull = system.T @ (target - system @ weights)
    if max(pull.max(), np.abs(pull * weights).max()) > 1e-12:  # rounding can end SciPy's fast solver too early
        weights = lsq_linear(system, target, (0, np.inf), method="bvls", tol=1e-15).x
    weights /= lengths
    return np.asarray(points @ (weights / weights[:count].sum()))


def _descend(cost: _Cost, start: Floats, goal: Floats, top: int) -> Floats:
    """Point between start and goal where the cost falls less than half as steeply as at the start, or the goal."""
    direction = goal - start
    steepest = cost.slope(start, direction, top)
    low, high, slope_low, slope_high = 0.0, 1.0, steepest, cost.slope(goal, direction, top)
    if slope_high <= 0:
        return goal
    for trial in range(100):
        share = 0.5 if trial % 2 else slope_low / (slope_low - slope_high)
        step = low + share * (high - low)
        slope = cost.slope(start + step * direction, direction, top)
        if slope > 0:
            high, slope_high = step, slope
        else:
            low, slope_low = step, slope
            if slope >= steepest / 2:
                break
    return start + low * direction


LARGEST_RATIO = 2.0**50
"""Largest e^epsilon that floating-point retention probabilities can represent.

Near 1 they are multiples of 2^-53. For a larger ratio the matrix could round to one that never flips a category, whose
epsilon is infinite."""


def optimal_retention(histogram: ArrayLike, epsilon: float, method: str = "exact") -> Floats:
    """Retention probabilities p that minimise the distance of the expected released histogram from the original.

    Parameters
    ----------
    histogram : array_like, shape (d,)
        Counts v, non-negative, not all zero.
    epsilon : float
        Epsilon of the fixed matrix; positive. Infinity keeps every value.
    method : {"exact", "cvxopt"}
        The exact method takes O(d log d). CVXOPT solves the full quadratic program of 3 d (d - 1) rows, for comparison
        at small d.

    Returns
    -------
    ndarray, shape (d,)
        Probabilities in the histogram's order. Of several optima with distance 0, the one with the smallest flip
        probabilities. Categories of count zero do not affect the distance, and flip as rarely as privacy allows.

    Raises
    ------
    ValueError
        If a count is negative or not finite, all are zero, epsilon is not positive, or the method is unknown.

    Notes
    -----
    The guarantee holds for the matrix: ``retention_epsilon(p) <= epsilon``, rounding included. The matrix depends on v
    and leaks information about it. The procedure as a whole, from records to release, is therefore not differentially
    private.

    Examples
    --------
    The published closed form exceeds epsilon = log 4 on this histogram (1.674); the corrected one attains it.

    >>> import numpy as np
    >>> from defenses.pram.matrix import retention_epsilon
    >>> retention = optimal_retention([10, 6, 5], np.log(4))
    >>> retention.round(3).tolist()
    [0.727, 0.545, 0.455]
    >>> bool(retention_epsilon(retention) <= np.log(4))
    True
    >>> round(expected_distance([10, 6, 5], retention), 6)
    0.0
    """
    counts = check_histogram(histogram)
    check_epsilon(epsilon)
    require(method in ("exact", "cvxopt"), f"method must be 'exact' or 'cvxopt', got {method!r}")
    if counts.size == 1 or np.isinf(epsilon):
        return np.ones(counts.size)
    ratio = ratio_of(epsilon)
    order = np.argsort(-counts)
    descending = counts[order] / counts[order[0]]
    flips = undistorting_flips(descending, ratio)
    if flips is None and method == "exact":
        flips = optimal_flips(descending, ratio)
    elif flips is None:
        flips = program_flips(descending, ratio)
    retention = np.empty_like(counts)
    retention[order] = private_retention(flips, epsilon)
    return retention


def expected_distance(histogram: ArrayLike, retention: ArrayLike) -> float:
    """Distance |P v - v| of the expected released histogram from the original, P = transition_matrix(retention).

    Raises
    ------
    ValueError
        If an argument is refused or their sizes differ.
    """
    counts, probabilities = check_histogram(histogram), check_retention(retention)
    require(
        counts.size == probabilities.size, f"histogram has {counts.size} categories, retention {probabilities.size}"
    )
    flipped = counts * (1 - probabilities)
    return float(np.linalg.norm(flipped - flipped.mean()) * counts.size / max(counts.size - 1, 1))


def undistorting_flips(counts: Floats, e: float) -> Floats | None:
    """Smallest flip probabilities q with P v = v, or None if no epsilon-private matrix satisfies this.

    P v = v requires equal v_i q_i, so q_i = t v_d/v_i. Three rows bind (`defenses.pram.optimal`).
    A q_1 + B q_2 >= d - 1 gives the smallest t, q_d <= e q_1 requires v_1 <= e v_d, and q_(d-1) + K q_d <= K bounds t
    from above. With two categories the matrix has no third row, and the solution always exists; the formula also
    covers v_2 = 0.

    - counts of shape (d,): In descending order, the first positive.

    Notes
    -----
    Source: Miura and Hasegawa, Lemma 3.13, corrected. For e > d - 1 and v_1 > v_2 the row with e on q_1 binds. The
    lemma omits it, so its t is too small to be private.
    """
    d = counts.size
    first, second, last = counts[0], counts[1], counts[-1]
    if d == 2:
        return np.asarray(counts[::-1] / (first + e * second))
    if last == 0 or first > e * last:
        return None
    large, small = max(e, d - 1), min(e, d - 1)
    t = (d - 1) / (large * last / first + small * last / second)
    if t * (1 + last / counts[-2] / (e * (d - 1))) > 1:
        return None
    return np.asarray(t * last / counts)


def ratio_of(epsilon: float) -> float:
    """e^epsilon, capped at the largest ratio that retention probabilities can represent."""
    return min(float(np.exp(min(epsilon, 700.0))), LARGEST_RATIO)


def private_retention(flips: Floats, epsilon: float) -> Floats:
    """Retention probabilities, mixed with the uninformative 1/d just enough to be private after rounding."""
    d = flips.size
    ends = extremes(flips)[::-1]
    share = 0.0

    def mixed(part: Floats) -> Floats:
        return np.asarray(np.clip(1 - ((1 - share) * part + share * (d - 1) / d), 0, 1))

    while extremes_epsilon(mixed(ends), d) > epsilon - 1e-15 and share < 1:
        share = max(2 * share, 2.0**-53)
    return mixed(flips)


# Full quadratic program with the constraints of every pair, for comparison at small sizes.
# Source: Miura and Hasegawa, Section 3.4 and Algorithm 1, line 4.


def pair_rows(d: int, e: float) -> tuple[sparse.csr_array, Floats]:
    """Constraints G q <= h of every ordered pair of categories, each row scaled to a largest coefficient of 1.

    For i != j: q_j <= e q_i (for d > 2), e q_j + (d - 1) q_i >= d - 1 and q_j + e (d - 1) q_i <= e (d - 1).
    """
    i, j = (index.ravel() for index in np.nonzero(~np.eye(d, dtype=bool)))
    large = max(e, d - 1)
    kinds = [(-e, 1.0, 0.0, e), (-(d - 1), -e, -(d - 1), large), (e * (d - 1), 1.0, e * (d - 1), e * (d - 1))]
    if d == 2:
        kinds = kinds[1:]
    blocks, bounds = [], []
    for on_i, on_j, bound, scale in kinds:
        row = np.arange(i.size)
        values = np.concatenate([np.full(i.size, on_i / scale), np.full(i.size, on_j / scale)])
        blocks.append(
            sparse.csr_array((values, (np.concatenate([row, row]), np.concatenate([i, j]))), shape=(i.size, d))
        )
        bounds.append(np.full(i.size, bound / scale))
    return sparse.csr_array(sparse.vstack(blocks)), np.concatenate(bounds)


def program_flips(counts: Floats, e: float) -> Floats:
    """Flip probabilities q that minimise |v q - mean(v q)| under the constraints of every pair.

    - counts of shape (d,): v, in any order.

    Raises ModuleNotFoundError if CVXOPT is not installed.
    """
    scaled = counts / np.linalg.norm(counts)
    return private_minimum(2 * distance_matrix(scaled), np.zeros(counts.size), e)


def distance_matrix(counts: Floats) -> Floats:
    """Matrix M, shape (d, d), with |v q - mean(v q)|^2 = q' M q."""
    return np.asarray(np.diag(counts**2) - np.outer(counts, counts) / counts.size)


def private_minimum(quadratic: Floats, linear: Floats, e: float) -> Floats:
    """Flip probabilities q that minimise q' Q q / 2 + c' q under the constraints of every pair and 0 <= q <= 1.

    - quadratic of shape (d, d): Q, positive semidefinite.
    - linear of shape (d,): c.

    Raises ModuleNotFoundError if CVXOPT is not installed. Raises ArithmeticError if CVXOPT fails.
    """
    import cvxopt

    d = linear.size
    rows, bounds = pair_rows(d, e)
    matrix = sparse.coo_array(sparse.vstack([rows, sparse.eye_array(d), -sparse.eye_array(d)]))
    values = cvxopt.spmatrix(matrix.data.tolist(), matrix.row.tolist(), matrix.col.tolist(), matrix.shape)
    limits = cvxopt.matrix(np.concatenate([bounds, np.ones(d), np.zeros(d)]))
    scale = max(np.abs(quadratic).max(), np.abs(linear).max())
    objective = cvxopt.matrix(quadratic / scale), cvxopt.matrix(linear / scale)
    for tolerance in (1e-12, 1e-10, 1e-8):
        options = {"show_progress": False, "reltol": tolerance, "abstol": 1e-4 * tolerance, "feastol": tolerance}
        try:
            solution = cvxopt.solvers.qp(*objective, values, limits, options={**options, "maxiters": 200})
        except (ArithmeticError, ValueError):  # the tolerance is too small: iterates left the cone by rounding
            continue
        return np.asarray(np.clip(np.array(solution["x"], dtype=float).ravel(), 0, 1))
    raise ArithmeticError("CVXOPT found no flip probabilities, even to 1e-8")
