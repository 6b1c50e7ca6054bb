"""Norm clipping: bounds on the influence of one record or one client on an update.

An update is the sum of the mean gradients of a client's local steps, (w_before - w_after) / learning rate.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from defenses.base import Parametrized
from metrics.columns import Floats, check_real


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
