"""Bounds on what one record, or one client, can do to an update.

An update is the sum of the mean gradients of a client's local steps, (w_before - w_after) / learning rate.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from defenses.base.parameters import Parametrized, check_real
from metrics.arrays import Floats


class NormClipping(Parametrized, ABC):
    """A way to bound updates.

    Parameters
    ----------
    norm : float
        The bound C on a Euclidean norm, positive.

    Raises
    ------
    ValueError
        If `norm` is no finite number above 0.
    """

    def __init__(self, *, norm: float = 1.0) -> None:
        check_real("norm", norm, low=0, open_low=True)
        self.norm = norm

    @abstractmethod
    def example_factors(self, norms: Floats) -> Floats:
        """What each example's gradient is multiplied by, given its norm, shape (..., n)."""

    @abstractmethod
    def clipped(self, updates: Floats) -> Floats:
        """Updates as sent, shape (..., size)."""

    @abstractmethod
    def record_sensitivity(self, size: int, steps: int) -> float:
        """How far an update moves at most if one of the client's `size` records is replaced; `steps` local steps."""

    @abstractmethod
    def client_sensitivity(self, steps: int) -> float:
        """How far an update moves at most if all of the client's records are replaced."""


class ExampleClipping(NormClipping):
    """Every example's gradient is scaled down to norm C.

    With one local step a record moves the mean of n clipped gradients by at most 2C/n: the lecture's uplink
    sensitivity, and here it is a bound. Later local steps start from weights that the record moved already, where all
    gradients may differ, so each of them adds 2C.

    Parameters
    ----------
    norm : float
        The bound C on an example's gradient, positive.

    Raises
    ------
    ValueError
        If `norm` is no finite number above 0.

    References
    ----------
    Abadi et al. (2016), Deep learning with differential privacy, section 3.1.
    """

    def example_factors(self, norms: Floats) -> Floats:
        """min(1, C / norm)."""
        return self.norm / np.maximum(norms, self.norm)

    def clipped(self, updates: Floats) -> Floats:
        """Updates as they are."""
        return updates

    def record_sensitivity(self, size: int, steps: int) -> float:
        """2C/n, and 2C for each further step."""
        return 2 * self.norm / size + 2 * self.norm * (steps - 1)

    def client_sensitivity(self, steps: int) -> float:
        """2C for each step: each mean of clipped gradients has norm C at most."""
        return 2 * self.norm * steps


class UpdateClipping(NormClipping):
    """A client's whole update is scaled down to norm C.

    One record may turn the update around, so that record and client have the same sensitivity, 2C. That
    2C/n would do is the lecture's claim for parameters clipped to C; it fails: for the mean absolute loss the
    minimiser is the median, which one record of 101 can move from -C to C.

    Parameters
    ----------
    norm : float
        The bound C on an update, positive.

    Raises
    ------
    ValueError
        If `norm` is no finite number above 0.

    References
    ----------
    McMahan et al. (2018), Learning differentially private recurrent language models, section 2.
    """

    def example_factors(self, norms: Floats) -> Floats:
        """1: examples stay as they are."""
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
