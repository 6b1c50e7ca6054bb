"""Base classes of noise mechanisms: integer noise, and noise on a lattice with an epsilon alone."""

from __future__ import annotations

from abc import abstractmethod

from numpy.random import Generator
from numpy.typing import ArrayLike

from defenses.dp.mechanism import NoiseMechanism, PureMechanism, checked_integers, drawn_in_bulk, lattice_step, like
from metrics.columns.arrays import Integers64


class IntegerNoise(NoiseMechanism):
    """A mechanism that adds integer noise to integers."""

    @abstractmethod
    def sample(self, size: int, rng: Generator) -> Integers64:
        """Draw noise, shape (size,)."""

    @drawn_in_bulk
    def release(self, value: ArrayLike, rng: Generator) -> int | Integers64:
        """Return integers with noise; the sensitivity is that of the array as a whole.

        Raises
        ------
        ValueError
            If a value is not an integer.
        """
        numbers = checked_integers(value)
        noisy = numbers.ravel() + self.sample(numbers.size, rng)
        return like(value, noisy)  # type: ignore[no-any-return]


class PureLatticeNoise(PureMechanism, NoiseMechanism):
    """A mechanism that adds noise on a lattice and has delta 0.

    Parameters
    ----------
    epsilon : float
        In [2^-20, 2^20].
    sensitivity : float
        Largest distance between the values of neighbouring tables; positive.

    Raises
    ------
    ValueError
        If a parameter is refused.
    """

    @property
    def resolution(self) -> float:
        """Step of the lattice."""
        return lattice_step(float(self.sensitivity), float(self.sensitivity) / float(self.epsilon))
