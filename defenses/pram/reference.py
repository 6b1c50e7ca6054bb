"""Full quadratic program of the optimal matrix, with the constraints of every pair, for comparison at small sizes.

Source: Miura and Hasegawa, Section 3.4 and Algorithm 1, line 4.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from metrics.columns import Floats


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
