"""Report noisy maximum with one-sided geometric noise."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from defenses.dp.exact import fraction, geometric
from defenses.dp.mechanism import (
    on_lattice,
    steps_between,
)
from defenses.dp.selection import Selection, checked_scores
from metrics.columns import Floats, Integers


class ReportNoisyMax(Selection):
    """Report noisy maximum: it selects the highest score after adding one-sided geometric noise to each score.

    Parameters
    ----------
    epsilon : float
        In [2^-20, 2^20].
    sensitivity : float
        Largest change s of any option's score between neighbouring tables; positive.

    Raises
    ------
    ValueError
        If a parameter is refused.

    Notes
    -----
    Scores are rounded to a lattice of at most 2^-20 of s and of s / epsilon; a score then moves by at most
    d = ceil(s / step) + 1 steps. Noise G >= 0 has P(G >= k) = e^(-epsilon k / (2 d)) for k >= 0.

    Proof. Fix the noise of all options but i. Option i is selected if and only if its noise is at least some
    threshold r (the first of equal options wins). Between neighbours r rises by 2 d at most: the score of i falls by d
    and another score rises by d. P(G >= r + 2 d) >= e^-epsilon P(G >= r), also for r below 0. So the probability of i
    falls by a factor of e^epsilon at most, whatever the noise of the others.

    Sampling is exact (`defenses.dp.exact`). Up to the lattice, the selection has the law of permute-and-flip, whose
    expected score is never below that of the exponential mechanism.

    References
    ----------
    Dwork and Roth (2014), section 3.3; McKenna and Sheldon (2020), Permute-and-flip; Ding et al. (2021), The
    permute-and-flip mechanism is identical to report-noisy-max with exponential noise.
    """

    called = ("Report noisy max", "RNM", "Noisy max")

    def _selected(self, values: Floats, runs: int, rng: Generator) -> Integers:
        between = steps_between(self.sensitivity, self._step())
        noise = geometric(fraction(self.epsilon) / (2 * between), runs * values.size, rng)
        return np.asarray(np.argmax(on_lattice(values, self._step()) + noise.reshape(runs, values.size), axis=1))

    def probabilities(self, scores: ArrayLike) -> Floats:
        """Probability of each option up to the lattice, shape (options,).

        The probability of option i is p_i times the integral over u in [0, 1] of the product over j != i of 1 - p_j u,
        with p = e^(epsilon (score - highest) / (2 s)). The integrand is a polynomial, and Gauss-Legendre quadrature
        integrates it exactly.
        """
        values = checked_scores(scores)
        p = np.exp(self._exponents(values))
        nodes, weights = np.polynomial.legendre.leggauss(values.size // 2 + 1)
        u = (nodes + 1) / 2
        # The factor of option i is divided out of the product of all; u < 1 keeps it positive.
        factors = 1 - np.outer(u, p)
        product = factors.prod(axis=1)
        return np.asarray(p * ((weights / 2) @ (product[:, None] / factors)))
