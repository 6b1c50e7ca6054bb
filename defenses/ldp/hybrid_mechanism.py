"""The hybrid mechanism for one number: a mixture of piecewise and two-point reports."""

from __future__ import annotations

import numpy as np

from defenses.ldp.number_mechanism import NumberMechanism


def _threshold() -> float:
    """Epsilon* = 2 ln x for the real root x of 3 x^3 - x^2 + x - 7, by Cardano's formula."""
    root = 54 * np.sqrt(241)
    return float(2 * np.log((1 + np.cbrt(838 + root) + np.cbrt(838 - root)) / 9))


HYBRID_THRESHOLD = _threshold()
"""Epsilon*, about 0.61: up to it the hybrid mechanism sends two-point reports only."""


class HybridMechanism(NumberMechanism):
    """Hybrid mechanism (HM): a piecewise report with probability alpha, else a two-point report.

    Alpha is 1 - e^(-epsilon/2) for epsilon above epsilon*, about 0.61, and 0 up to it. Its worst variance is at most
    that of `PiecewiseMechanism` and of `TwoPointMechanism`. The draw of the mechanism does not depend on the number, so
    that the epsilon of both holds for the mixture.

    Parameters
    ----------
    epsilon : float
        Privacy of one report, in [1e-6, 700].

    Notes
    -----
    With x = e^(epsilon/2), the variance is alpha (t^2/(x - 1) + (x + 3)/(3 (x - 1)^2)) + (1 - alpha)(D^2 - t^2). At
    alpha = 1 - 1/x the terms in t^2 cancel, and the variance (x + 3)/(3 x (x - 1)) + D^2/x is the same for every t.

    Epsilon* is where this equals the worst variance D^2 of two-point reports, with D = (x^2 + 1)/(x^2 - 1). That is
    (x + 3)(x + 1)^2 = 3 (x^2 + 1)^2, or 3 x^3 - x^2 + x - 7 = 0 for x > 0. Its real root is
    x = (1 + (838 + 54 sqrt(241))^(1/3) + (838 - 54 sqrt(241))^(1/3))/9.

    A report is an atom with probability 1 - alpha and else has a density. Its likelihood is with respect to Lebesgue
    measure plus a unit mass on each atom. An atom is recognized by its exact value D or -D.

    References
    ----------
    Wang, Xiao, Yang, Zhao, Hui, Shin, Shin and Yu (2019), Collecting and analyzing multidimensional data with local
    differential privacy, Algorithm 3 and Lemma 3.
    """

    called = ("HM", "Hybrid mechanism")

    @property
    def share(self) -> float:
        """Alpha, the probability of a piecewise report."""
        return float(-np.expm1(-self.epsilon / 2)) if self.epsilon > HYBRID_THRESHOLD else 0.0
