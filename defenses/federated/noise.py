"""Gaussian noise for one direction of a federated training, calibrated by different accountants.

A noise object states the budget of one direction over the whole training and derives the noise multiplier z. Each
round's message gets noise of standard deviation z times its sensitivity.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.random import Generator

from defenses.base import Parametrized
from defenses.dp.mechanism import check_delta
from defenses.federated.accounting import classical_multiplier, gaussian_shift, renyi_multiplier
from metrics.columns import Floats, check_real, refuse

GRID_BITS = 20
"""Noisy numbers are rounded to a grid with a step of at most 2**-GRID_BITS standard deviations."""


class UpdateNoise(Parametrized, ABC):
    """Gaussian noise on updates, at a stated budget.

    Parameters
    ----------
    epsilon, delta : float
        Budget of one direction over all rounds; epsilon > 0, 0 < delta < 1. Neighbouring tables differ in one record's
        values.

    Raises
    ------
    ValueError
        If a number is out of range.
    """

    def __init__(self, *, epsilon: float = 8.0, delta: float = 1e-5) -> None:
        self.epsilon = check_real("epsilon", epsilon, low=0, open_low=True)
        self.delta = check_delta(delta)

    @abstractmethod
    def multiplier(self, rounds: int) -> float:
        """Noise multiplier (standard deviation / sensitivity) of each round."""


class SequentialNoise(UpdateNoise):
    """Gaussian noise calibrated by sequential composition, as in the lecture.

    Each of T rounds is a classical Gaussian mechanism at (epsilon / T, delta / T), and the budgets add up.

    Parameters
    ----------
    epsilon, delta : float
        Budget of one direction over all T rounds; epsilon / T must stay below 1, where the formula is proved.

    Raises
    ------
    ValueError
        If a number is out of range.
    """

    def multiplier(self, rounds: int) -> float:
        """sqrt(2 ln(1.25 T / delta)) T / epsilon.

        Raises
        ------
        ValueError
            If epsilon / T is 1 or more.
        """
        refuse(
            self.epsilon >= rounds,
            (
                f"epsilon: {self.epsilon:g} over {rounds} rounds is 1 or more in each, where the classical formula "
                "is not proved"
            ),
        )
        return classical_multiplier(self.epsilon / rounds, self.delta / rounds)


class RenyiNoise(UpdateNoise):
    """Gaussian noise calibrated by Rényi differential privacy (dp-accounting).

    Parameters
    ----------
    epsilon, delta : float
        Budget of one direction over all rounds.

    Raises
    ------
    ValueError
        If a number is out of range.

    References
    ----------
    Mironov (2017), Rényi differential privacy.
    """

    def multiplier(self, rounds: int) -> float:
        """Smallest multiplier whose Rényi epsilon is within the budget, up to one part in a million."""
        return renyi_multiplier(self.epsilon, self.delta, rounds)


class PrivacyLossNoise(UpdateNoise):
    """Gaussian noise calibrated by the exact privacy-loss distribution: the least noise that any accountant allows.

    The privacy loss of a Gaussian mechanism is Gaussian with mean mu²/2 and variance mu², mu = 1/z. The losses of T
    rounds add up to mean T mu²/2 and variance T mu²: those of one mechanism with shift sqrt(T) mu. This is exact and in
    closed form. Numeric composition (`privacy_loss_epsilon`) only approaches it from above.

    Parameters
    ----------
    epsilon, delta : float
        Budget of one direction over all rounds.

    Raises
    ------
    ValueError
        If a number is out of range.

    References
    ----------
    Sommer, Meiser and Mohammadi (2019), Privacy loss classes, section 6; Balle and Wang (2018), Theorem 5.
    """

    def multiplier(self, rounds: int) -> float:
        """sqrt(T) / mu, with mu the largest shift within the budget."""
        return float(np.sqrt(rounds) / gaussian_shift(self.epsilon, self.delta))


def noisy(values: Floats, scale: float, rng: Generator) -> Floats:
    """Values with Gaussian noise, rounded to a public grid.

    Rounding follows the noise, so it is post-processing and the guarantee is that of Gaussian noise. The grid is much
    coarser than the last bits of the floating-point sum. Rounding drops these bits, which would otherwise distinguish
    values that the noise should hide (Mironov 2012). One deviation remains: the generator's Gaussian numbers are
    floating-point numbers themselves.

    The discrete noise of secure sums (`discrete_noise`) is exact. It is not used here, since vectors that the server
    sees one by one are not in fixed-point form. They would also need a draw for each client, round and weight.

    Parameters
    ----------
    values : ndarray
        Any shape.
    scale : float
        Standard deviation of the noise, positive.
    rng : Generator
        Draws the noise.
    """
    grid = 2.0 ** (np.floor(np.log2(scale)) - GRID_BITS)
    return np.asarray(np.round((values + rng.normal(0.0, scale, values.shape)) / grid) * grid)
