"""Clipping of updates, Gaussian noise for one direction of a federated training, and its accounting over rounds.

An update is the sum of the mean gradients of a client's local steps, (w_before - w_after) / learning rate.

The noise multiplier z is standard deviation / sensitivity. Neighbouring tables differ in one record's values
(replace-one). A Gaussian mechanism's outputs on neighbouring tables are Gaussian, with means at most one sensitivity
apart. T adaptively chosen rounds with multiplier z are dominated by one round with z / sqrt(T).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cache
from typing import Any

import numpy as np
from numpy.random import Generator

from defenses.base import Parametrized
from defenses.dp.composition import doubled, gaussian_delta, unit_sigma
from defenses.dp.mechanism import check_delta
from metrics.columns import Floats, check_integer, check_real, refuse


class NormClipping(Parametrized, ABC):
    """Clipping to a Euclidean norm, of gradients or updates.

    Parameters
    ----------
    norm : float
        The bound C on a Euclidean norm, positive.

    Raises
    ------
    ValueError
        If `norm` is not a finite number above 0.
    """

    def __init__(self, *, norm: float = 1.0) -> None:
        self.norm = check_real("norm", norm, low=0, open_low=True)

    @abstractmethod
    def example_factors(self, norms: Floats) -> Floats:
        """Factors of the examples' gradients, given their norms, shape (..., n)."""

    @abstractmethod
    def clipped(self, updates: Floats) -> Floats:
        """Clipped updates, shape (..., size)."""

    @abstractmethod
    def record_sensitivity(self, size: int, steps: int) -> float:
        """L2 sensitivity of an update if one of the client's `size` records is replaced, after `steps` local steps."""

    @abstractmethod
    def client_sensitivity(self, steps: int) -> float:
        """L2 sensitivity of an update if all of the client's records are replaced, after `steps` local steps."""


class ExampleClipping(NormClipping):
    """Per-example gradient clipping to norm C.

    With one local step a record moves the mean of n clipped gradients by at most 2C/n, the lecture's uplink
    sensitivity. Later local steps start from weights that the record has already changed. All gradients may differ
    there, so each further step adds 2C.

    Parameters
    ----------
    norm : float
        The bound C on an example's gradient, positive.

    Raises
    ------
    ValueError
        If `norm` is not a finite number above 0.

    References
    ----------
    Abadi et al. (2016), Deep learning with differential privacy, section 3.1.
    """

    def example_factors(self, norms: Floats) -> Floats:
        """min(1, C / norm)."""
        return self.norm / np.maximum(norms, self.norm)

    def clipped(self, updates: Floats) -> Floats:
        """Updates unchanged."""
        return updates

    def record_sensitivity(self, size: int, steps: int) -> float:
        """2C/n, and 2C for each further step."""
        return 2 * self.norm / size + 2 * self.norm * (steps - 1)

    def client_sensitivity(self, steps: int) -> float:
        """2C for each step: the mean of clipped gradients has norm C at most."""
        return 2 * self.norm * steps


class UpdateClipping(NormClipping):
    """Clipping of a client's whole update to norm C.

    One record may reverse the update, so record and client have the same sensitivity, 2C. The lecture claims 2C/n for
    parameters clipped to C. This fails: the minimiser of the mean absolute loss is the median, and one record of 101
    can move it from -C to C.

    Parameters
    ----------
    norm : float
        The bound C on an update, positive.

    Raises
    ------
    ValueError
        If `norm` is not a finite number above 0.

    References
    ----------
    McMahan et al. (2018), Learning differentially private recurrent language models, section 2.
    """

    def example_factors(self, norms: Floats) -> Floats:
        """1: gradients of examples stay unchanged."""
        return np.ones_like(norms)

    def clipped(self, updates: Floats) -> Floats:
        """Updates times min(1, C / norm)."""
        norms = np.linalg.norm(updates, axis=-1, keepdims=True)
        return np.asarray(updates * (self.norm / np.maximum(norms, self.norm)))

    def record_sensitivity(self, size: int, steps: int) -> float:
        """2C."""
        return 2 * self.norm

    def client_sensitivity(self, steps: int) -> float:
        """2C."""
        return 2 * self.norm


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

    - scale: Standard deviation of the noise, positive.
    """
    grid = 2.0 ** (np.floor(np.log2(scale)) - GRID_BITS)
    return np.asarray(np.round((values + rng.normal(0.0, scale, values.shape)) / grid) * grid)
