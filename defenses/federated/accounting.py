"""Privacy accounting for Gaussian noise over many rounds.

The noise multiplier z is standard deviation / sensitivity. Neighbouring tables differ in one record's values
(replace-one). A Gaussian mechanism's outputs on neighbouring tables are Gaussian, with means at most one sensitivity
apart. T adaptively chosen rounds with multiplier z are dominated by one round with z / sqrt(T).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from defenses.dp.composition import doubled, gaussian_delta, unit_sigma
from defenses.dp.mechanism import check_delta
from metrics.columns import check_integer, check_real


def uplink_sensitivity(clip: float, size: int) -> float:
    """Sensitivity of a client's parameters as the lecture states it: 2C / n_i for n_i records.

    Parameters
    ----------
    clip : float
        The bound C.
    size : int
        Number of the client's records.
    """
    check_real("clip", clip, low=0, open_low=True)
    check_integer("size", size, low=1)
    return 2 * clip / size


def downlink_sensitivity(clip: float, share: float, smallest: int) -> float:
    """Sensitivity of the aggregated parameters as the lecture states it: 2 p C / m.

    Parameters
    ----------
    clip : float
        The bound C.
    share : float
        Largest weight p_i of a client, in (0, 1].
    smallest : int
        Number m of records of the smallest client.
    """
    check_real("share", share, low=0, high=1, open_low=True)
    return share * uplink_sensitivity(clip, smallest)


def classical_multiplier(epsilon: float, delta: float) -> float:
    """Noise multiplier of the classical Gaussian mechanism, sqrt(2 ln(1.25 / delta)) / epsilon.

    Raises
    ------
    ValueError
        If delta or epsilon lies outside (0, 1). The formula is not proved for larger epsilon.

    References
    ----------
    Dwork and Roth (2014), Theorem A.1.
    """
    check_real("epsilon", epsilon, low=0, high=1, open_low=True, open_high=True)
    check_delta(delta)
    return float(np.sqrt(2 * np.log(1.25 / delta)) / epsilon)


def sequential_composition(epsilon: float, delta: float, rounds: int, directions: int) -> tuple[float, float]:
    """Total budget by sequential composition: each round costs (epsilon, delta) in each direction, and costs add up."""
    return rounds * directions * epsilon, rounds * directions * delta


def gaussian_epsilon(shift: float, delta: float) -> float:
    """Smallest epsilon at which a Gaussian mechanism with this shift is (epsilon, delta)-private.

    Parameters
    ----------
    shift : float
        mu = sensitivity / standard deviation, positive; sqrt(T) / z for T rounds with multiplier z.
    delta : float
        In (0, 1).

    Raises
    ------
    ValueError
        If delta lies outside (0, 1) or the shift is no finite number above 0.

    References
    ----------
    Balle and Wang (2018), Improving the Gaussian mechanism for differential privacy, theorem 8.
    """
    from scipy.optimize import brentq

    check_delta(delta)
    check_real("shift", shift, low=0, open_low=True)
    sigma = 1 / shift
    if gaussian_delta(sigma, 0.0) <= delta:
        return 0.0
    high = doubled(lambda epsilon: gaussian_delta(sigma, epsilon) > delta, 1.0)
    return float(brentq(lambda epsilon: gaussian_delta(sigma, epsilon) - delta, 0.0, high, xtol=1e-12))


def gaussian_shift(epsilon: float, delta: float) -> float:
    """Largest shift at which a Gaussian mechanism is (epsilon, delta)-private; the inverse of `gaussian_epsilon`.

    Raises
    ------
    ValueError
        If epsilon is no finite number above 0 or delta lies outside (0, 1).
    """
    check_delta(delta)
    check_real("epsilon", epsilon, low=0, open_low=True)
    return 1 / unit_sigma(float(epsilon), float(delta))


def privacy_loss_epsilon(multiplier: float, rounds: int, delta: float) -> float:
    """Epsilon over all rounds by numeric composition of privacy-loss distributions (dp-accounting); an upper bound."""
    from dp_accounting.pld import PLDAccountant

    return _composed_epsilon(PLDAccountant(), multiplier, rounds, delta)


def renyi_epsilon(multiplier: float, rounds: int, delta: float) -> float:
    """Epsilon over all rounds by Rényi differential privacy (dp-accounting); an upper bound.

    References
    ----------
    Mironov (2017); Canonne, Kamath and Steinke (2020), Proposition 12, for the conversion.
    """
    from dp_accounting.rdp import RdpAccountant

    return _composed_epsilon(RdpAccountant(), multiplier, rounds, delta)


@cache
def renyi_multiplier(epsilon: float, delta: float, rounds: int) -> float:
    """Smallest noise multiplier at which `renyi_epsilon` does not exceed epsilon, up to one part in a million.

    Raises ValueError if a number is out of range.
    """
    # The exact multiplier is a lower bound.
    low = np.sqrt(rounds) / gaussian_shift(epsilon, delta)
    high = doubled(lambda multiplier: renyi_epsilon(multiplier, rounds, delta) > epsilon, 2 * low)
    while high - low > 1e-6 * low:
        middle = (low + high) / 2
        low, high = (low, middle) if renyi_epsilon(middle, rounds, delta) <= epsilon else (middle, high)
    return float(high)


def _composed_epsilon(accountant: Any, multiplier: float, rounds: int, delta: float) -> float:
    """Epsilon of Gaussian noise over all rounds, as an accountant of dp-accounting composes it."""
    from dp_accounting import GaussianDpEvent, SelfComposedDpEvent

    check_real("multiplier", multiplier, low=0, open_low=True)
    check_integer("rounds", rounds, low=1)
    check_delta(delta)
    return float(accountant.compose(SelfComposedDpEvent(GaussianDpEvent(multiplier), rounds)).get_epsilon(delta))
