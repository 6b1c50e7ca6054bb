"""Differentially private tuning of retention probabilities to a histogram.

Neighbouring tables differ in one record's value. With n records (n is public), the shares s = v/n change by
u = (e_a - e_b)/n. The flip probabilities q are restricted to the private ones, a convex set C in [0, 1]^d that depends
only on d and epsilon. The objective is F(q; s) = q' M q / 2 with M(s) = diag(s^2) - s s'/d. Both perturbations below
need bounds on the change of F.

Gradient. grad F = s (s q - mean(s q)). With t = s + u, its change is u (t q - mean(t q)) + s (u q - mean(u q)). In
the first term the bracket is at most 1 and |u| = sqrt(2)/n. In the second |s u q| <= (s_a + s_b)/n <= 1/n, and
mean(u q) is at most 1/(d n) with |s| <= 1. So the gradient changes by at most G = (sqrt(2) + 1 + 1/d)/n.

Curvature. M(t) - M(s) = diag(u (s + t)) - (s u' + u s' + u u')/d. The first has nuclear norm at most
(s_a + t_a + s_b + t_b)/n <= 2/n, the second at most (2 |s| |u| + |u|^2)/d, so T = (2 + (2 sqrt(2) + 2/n)/d)/n bounds
the sum of the absolute eigenvalues of the change.

Regularisation. L |q - r|^2 / 2 pulls q towards the flip probability r of retention-replacement, which is public.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from defenses.base import project_to_simplex
from defenses.dp.exact import fraction, two_sided_geometric
from defenses.pram.matrix import check_epsilon, check_histogram, retention_for_epsilon
from defenses.pram.optimal import distance_matrix, private_minimum, private_retention, ratio_of
from metrics.columns import Floats, refuse

SMALLEST_EPSILON = 2.0**-40
"""Smallest epsilon of a noisy histogram; noise for it stays far below 2^63."""


def noisy_histogram(counts: ArrayLike, epsilon: float, rng: Generator) -> Floats:
    """Epsilon-private histogram by the geometric mechanism, projected to the public total.

    Replacing a record lowers one count by 1 and raises another by 1, an L1 distance of 2. Noise z with probability
    proportional to e^(-epsilon |z| / 2) then changes probabilities by a factor of at most e^epsilon. The projection is
    post-processing.

    - counts of shape (d,): The histogram.
    - epsilon: At least 2^-40; infinity adds no noise.

    Raises ValueError if the histogram is refused or epsilon is too small or not positive.

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

    - counts of shape (d,): The histogram.
    - epsilon_matrix, epsilon_release: Epsilon of the matrix, and of releasing records through it; positive.

    Raises ValueError if the histogram is refused or an epsilon is not positive.

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

    - counts of shape (d,): The histogram.
    - epsilon_matrix, epsilon_release: Epsilon of the matrix, and of releasing records through it; positive.

    Raises ValueError if the histogram is refused or an epsilon is not positive.

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
