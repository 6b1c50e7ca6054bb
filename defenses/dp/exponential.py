"""The exponential mechanism."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from defenses.dp.selection import Selection, checked_scores
from metrics.arrays import Floats


class Exponential(Selection):
    """Exponential mechanism: it selects an option with probability proportional to e^(epsilon score / (2 s)).

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
    Proof. Between neighbours every weight changes by a factor of e^(epsilon / 2) at most, and so does their sum.

    The mechanism selects the largest score epsilon / (2 s) + g with g from the Gumbel distribution, which gives each
    option the stated probability. It is not exact, because scores and g are floating-point numbers. Probabilities are
    off by a factor of about 1 + 10^-10, and options of probability below about 10^-16 may never be selected. The
    released position has no low bits that could leak the scores. `ReportNoisyMax` is exact.

    References
    ----------
    McSherry and Talwar (2007), Mechanism design via differential privacy, theorem 6.

    Examples
    --------
    >>> import math
    >>> from defenses.dp import Exponential
    >>> Exponential(epsilon=2 * math.log(2), sensitivity=1).probabilities([1, 0, 0]).round(3).tolist()
    [0.5, 0.25, 0.25]
    """

    def _noisy(self, values: Floats, runs: int, rng: Generator) -> Floats:
        return np.asarray(self._exponents(values) + rng.gumbel(size=(runs, values.size)))

    def probabilities(self, scores: ArrayLike) -> Floats:
        """Probability of each option, shape (options,)."""
        weights = np.exp(self._exponents(checked_scores(scores)))
        return np.asarray(weights / weights.sum())
