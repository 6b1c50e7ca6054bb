"""The two-point mechanism for one number, by Duchi, Jordan and Wainwright."""

from __future__ import annotations

from defenses.ldp.number_mechanism import NumberMechanism


class TwoPointMechanism(NumberMechanism):
    """Two-point mechanism of Duchi, Jordan and Wainwright: an unbiased report of a number by one bit.

    The report of t is D or -D with D = (e^epsilon + 1)/(e^epsilon - 1). It is D with probability
    1/2 + t (e^epsilon - 1)/(2 (e^epsilon + 1)), whose largest ratio, between t = 1 and t = -1, is e^epsilon.

    Parameters
    ----------
    epsilon : float
        Privacy of one report, in [1e-6, 700].

    Notes
    -----
    The mean is D t (e^epsilon - 1)/(e^epsilon + 1) = t, and the square of a report is D^2, so that the variance is
    D^2 - t^2. It stays above 1 - t^2 for any epsilon. The same report is drawn in two steps: t is rounded to 1 with
    probability (1 + t)/2, else to -1, and the sign is flipped with probability 1/(e^epsilon + 1).

    References
    ----------
    Duchi, Jordan and Wainwright (2018), Minimax optimal procedures for locally private estimation, section 4.2; Wang
    et al. (2019), Collecting and analyzing multidimensional data with local differential privacy, Algorithm 1.
    """

    called = ("Duchi", "Duchi's mechanism")

    share = 0.0
    """0: no report is piecewise."""
