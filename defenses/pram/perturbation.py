"""Differentially private tuning of retention probabilities to a histogram, and the quadratic program behind it.

Source: Miura and Hasegawa, Section 3.4 and Algorithm 1, line 4.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy import sparse

from defenses.base import project_to_simplex
from defenses.dp.exact import fraction, two_sided_geometric
from defenses.pram.matrix import check_epsilon, check_histogram, retention_for_epsilon
from defenses.pram.optimal import private_retention, ratio_of
from metrics.columns import Floats, refuse


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

    Parameters
    ----------
    counts : ndarray, shape (d,), d >= 2
        v, in any order.
    e : float
        exp(epsilon).

    Raises
    ------
    ModuleNotFoundError
        If CVXOPT is not installed.
    """
    scaled = counts / np.linalg.norm(counts)
    return private_minimum(2 * distance_matrix(scaled), np.zeros(counts.size), e)


def distance_matrix(counts: Floats) -> Floats:
    """Matrix M, shape (d, d), with |v q - mean(v q)|^2 = q' M q."""
    return np.asarray(np.diag(counts**2) - np.outer(counts, counts) / counts.size)


def private_minimum(quadratic: Floats, linear: Floats, e: float) -> Floats:
    """Flip probabilities q that minimise q' Q q / 2 + c' q under the constraints of every pair and 0 <= q <= 1.

    Parameters
    ----------
    quadratic : ndarray, shape (d, d), d >= 2
        Q, positive semidefinite.
    linear : ndarray, shape (d,)
        c.
    e : float
        exp(epsilon).

    Raises
    ------
    ModuleNotFoundError
        If CVXOPT is not installed.
    ArithmeticError
        If CVXOPT fails.
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


SMALLEST_EPSILON = 2.0**-40
"""Smallest epsilon of a noisy histogram; noise for it stays far below 2^63."""


def noisy_histogram(counts: ArrayLike, epsilon: float, rng: Generator) -> Floats:
    """Epsilon-private histogram by the geometric mechanism, projected to the public total.

    Replacing a record lowers one count by 1 and raises another by 1, an L1 distance of 2. Noise z with probability
    proportional to e^(-epsilon |z| / 2) then changes probabilities by a factor of at most e^epsilon. The projection is
    post-processing.

    Parameters
    ----------
    counts : array_like of int, shape (d,)
        The histogram.
    epsilon : float
        At least 2^-40; infinity adds no noise.

    Raises
    ------
    ValueError
        If the histogram is refused or epsilon is too small or not positive.

    Notes
    -----
    Sampling is exact (`defenses.dp.exact`).

    Source: Ghosh, Roughgarden and Sundararajan (2009), the geometric mechanism.
    """
    histogram = check_histogram(counts)
    check_epsilon(epsilon)
    if np.isinf(epsilon):
        return project_to_simplex(histogram, histogram.sum())
    refuse(epsilon < SMALLEST_EPSILON, f"epsilon must be at least 2^-40, got {epsilon:.3g}")
    noise = two_sided_geometric(fraction(epsilon) / 2, histogram.size, rng)
    return project_to_simplex(histogram + noise, histogram.sum())


def retention_by_objective(counts: ArrayLike, epsilon_matrix: float, epsilon_release: float, rng: Generator) -> Floats:
    """Retention probabilities 1 - q by objective perturbation.

    q minimises F(q; s) + L |q - r|^2 / 2 + b' q over C, with b random.

    Proof of epsilon_1-privacy, epsilon_1 = `epsilon_matrix`. Replace the constraint C by the smooth convex penalty
    j dist(q, C)^2, which does not depend on the records. Then b = -(grad F + L (q - r) + grad penalty) maps q to b one
    to one, so q has density nu(b(q)) det(M + L I + penalty's curvature). Between neighbouring tables b(q) moves by at
    most G. The density nu, proportional to e^(-epsilon_1 |b| / (2 G)), changes by a factor of at most
    e^(epsilon_1 / 2). The ratio of determinants is at most the product of 1 + |mu_i|/L over the eigenvalues mu of the
    change of M, below e^(T/L). L = 2 T/epsilon_1 makes this e^(epsilon_1 / 2). As j grows, the minima converge to those
    over C, and the bound remains. The proof is for exact minima; they are computed to about 1e-12.

    Parameters
    ----------
    counts : array_like of int, shape (d,)
        The histogram.
    epsilon_matrix, epsilon_release : float
        Epsilon of the matrix, and of releasing records through it; positive.

    Raises
    ------
    ValueError
        If the histogram is refused or an epsilon is not positive.

    Notes
    -----
    The noise is drawn in floating point. So epsilon_1 holds for real numbers and not to the last digit: low digits of
    the matrix may leak more, and no bound on that is proven. `noisy_histogram` is exact and needs no such caution.

    Sources: Chaudhuri, Monteleoni and Sarwate (2011), Algorithm 2; Kifer, Smith and Thakurta (2012) for constraints.
    """
    shares, n = _shares(counts, epsilon_matrix, epsilon_release)
    d = shares.size
    if d == 1:
        return np.ones(1)
    gradient, curvature = _changes(d, n)
    strength = 2 * curvature / epsilon_matrix
    slope = _spherical(d, 2 * gradient / epsilon_matrix, rng) - strength * _conventional(d, epsilon_release)
    flips = private_minimum(distance_matrix(shares) + strength * np.eye(d), slope, ratio_of(epsilon_release))
    return private_retention(flips, epsilon_release)


def retention_by_output(counts: ArrayLike, epsilon_matrix: float, epsilon_release: float, rng: Generator) -> Floats:
    """Retention probabilities 1 - q by output perturbation.

    q is the point of C nearest to the minimiser of F(q; s) + L |q - r|^2 / 2 plus noise.

    Proof of epsilon_1-privacy, epsilon_1 = `epsilon_matrix`. The objective is L-strongly convex. Minima over the same
    convex set under gradients that differ by at most G are therefore at most G/L apart. Noise with density
    proportional to e^(-epsilon_1 L |b| / G) then changes densities by a factor of at most e^epsilon_1. The projection
    is post-processing. Any L fixed in advance is valid; L = 10 d G/epsilon_1 makes the noise's expected length 1/10.

    Parameters
    ----------
    counts : array_like of int, shape (d,)
        The histogram.
    epsilon_matrix, epsilon_release : float
        Epsilon of the matrix, and of releasing records through it; positive.

    Raises
    ------
    ValueError
        If the histogram is refused or an epsilon is not positive.

    Notes
    -----
    The noise is drawn in floating point. So epsilon_1 holds for real numbers and not to the last digit: low digits of
    the matrix may leak more, and no bound on that is proven. `noisy_histogram` is exact and needs no such caution.

    Source: Chaudhuri, Monteleoni and Sarwate (2011), Algorithm 1.
    """
    shares, n = _shares(counts, epsilon_matrix, epsilon_release)
    d = shares.size
    if d == 1:
        return np.ones(1)
    gradient, _ = _changes(d, n)
    strength = 10 * d * gradient / epsilon_matrix
    ratio = ratio_of(epsilon_release)
    slope = -strength * _conventional(d, epsilon_release)
    least = private_minimum(distance_matrix(shares) + strength * np.eye(d), slope, ratio)
    noisy = least + _spherical(d, gradient / (strength * epsilon_matrix), rng)
    flips = private_minimum(np.eye(d), -noisy, ratio)
    return private_retention(flips, epsilon_release)


def _shares(counts: ArrayLike, epsilon_matrix: float, epsilon_release: float) -> tuple[Floats, float]:
    histogram = check_histogram(counts)
    check_epsilon(epsilon_matrix, "epsilon_matrix")
    check_epsilon(epsilon_release, "epsilon_release")
    return histogram / histogram.sum(), float(histogram.sum())


def _changes(d: int, n: float) -> tuple[float, float]:
    """G and T: bounds on the change of gradient and curvature between neighbouring tables."""
    return (np.sqrt(2) + 1 + 1 / d) / n, (2 + (2 * np.sqrt(2) + 2 / n) / d) / n


def _conventional(d: int, epsilon: float) -> Floats:
    return np.full(d, 1 - retention_for_epsilon(epsilon, d))


def _spherical(d: int, scale: float, rng: Generator) -> Floats:
    """Noise of density proportional to e^(-|b| / scale) in d dimensions."""
    direction = rng.normal(size=d)
    return np.asarray(direction / np.linalg.norm(direction) * rng.gamma(d, scale))
