"""Optimal flip probabilities of a sorted histogram, by minimisation over five scalars.

Problem: minimise sum (v_i q_i - m)^2, with m the mean of v q, over the q = 1 - p whose matrix is epsilon-private. Let
e = exp(epsilon), A = max(e, d - 1), B = min(e, d - 1), K = e (d - 1) and order statistics q_(1) <= ... <= q_(d):

    private  <=>  A q_(1) + B q_(2) >= d - 1,   q_(d-1) + K q_(d) <= K,   q_(d) <= e q_(1).

A row of the matrix holds 1 - q_i and q_j/(d - 1). Its ratios require e q_j + (d - 1) q_i >= d - 1, q_j + K q_i <= K
and q_j <= e q_i for every pair. Each constraint holds for all pairs if it holds for the worst pair. The worst pair has
the larger coefficient on q_(1) in the first, on q_(d) in the second (as K >= 1), and is q_(d), q_(1) in the third.

Scalars. Let a = q_(1), f = q_(d), and let [b, c] contain all other q. The sum is also minimal over m (at the mean), so
m is a variable. Fix the categories that take a and f. Every other category is best at q_i = clip(m/v_i, b, c), which
costs nothing unless clipped. With v sorted descending, a prefix is clipped at b and a suffix at c. So the cost is a
convex, piecewise quadratic, continuously differentiable function of (a, b, c, f, m). Prefix sums of v and v^2 give each
piece.

Category with a: moving from b to a changes a category's cost by (b - a) v (2 m - v (a + b)). If a < b at an optimum,
the category with a has v a >= m; otherwise raising a would lower the cost and let b fall. So the largest v gains most.

Category T with f: moving from c to f gains (f - c) v (2 m - v (c + f)) where v c <= m. This is a parabola in v, largest
at the v nearest to m/(c + f). T need not have the smallest count, so q is not always ascending. If c < f at an optimum,
v f is at most m for T; otherwise f could fall.

Corners. If the optimum is positive, the first row is an equality; otherwise q could be scaled down. The tuples with
A a + B b = d - 1 and a <= b <= c <= f <= e a are the mixtures of four: multiples of (1, 1, 1, 1), (1, 1, 1, e),
(1, 1, e, e), (1, e, e, e). The second row cuts off some of them. The corners of the remaining set are the corners
inside and the intersections of edges with the row. Minimising one quadratic piece over mixtures of corners is a
non-negative least squares problem of a dozen numbers. A step goes to the optimum of the current piece, or as far
towards it as the cost falls.

Optimality. The steps end where the cost does not fall towards the optimum of the current piece with the current T. The
cost is convex, so the scalars are optimal among all q in which the first category is lowest and T is highest. All
private q form a convex set (each row holds for all pairs), so a local optimum is global. If a < b and c < f, all nearby
q have this form. If a = b or c = f, a nearby q may have another of the tied categories lowest or highest. But the gains
above, whose limits are the derivatives, are largest for the chosen categories, so no such direction descends either.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear, nnls

from metrics.arrays import Floats


def optimal_flips(counts: Floats, e: float) -> Floats:
    """Flip probabilities q of least cost; among several optima, counts of zero take the smallest probability.

    Parameters
    ----------
    counts : ndarray, shape (d,), d >= 3
        In descending order, the first equal to 1; every private q must have positive cost.
    e : float
        exp(epsilon), finite.

    Raises
    ------
    ArithmeticError
        If the steps do not converge.
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

    Attributes
    ----------
    counts : ndarray, shape (d,)
        v.
    negative : ndarray, shape (d,)
        -v, ascending, for binary search.
    sums, squares : ndarray, shape (d + 1,)
        Prefix sums of v and v^2, in extended precision because they are subtracted.
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

    def flips(self, scalars: Floats, top: int) -> Floats:
        """Flip probability of every category."""
        a, b, c, f, m = scalars.tolist()
        with np.errstate(divide="ignore"):
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
    least: Floats = points @ (weights / weights[:count].sum())
    return least


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
