"""The contract of mechanisms, and the lattice on which they release real numbers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from defenses.base import Guarantee, Parametrized
from defenses.dp.exact import fraction
from metrics.columns import Floats, Given, Integers64, check_real, refuse, require

# The statement that many runs of a mechanism can be drawn at once.

Release = TypeVar("Release", bound=Callable[..., Any])

_MARK = "drawn_in_bulk"


def drawn_in_bulk(release: Release) -> Release:
    """Declare that a mechanism can draw many runs of this `release` at once, with the same distribution.

    A method `sample(size, rng)` draws the noise that `release` adds, or a method `repeated(inputs, runs, rng)` draws
    whole answers. Audits may then call that method instead of `release`, which is faster. The statement belongs to the
    decorated method: a subclass that overrides `release` has to decorate it again.

    Parameters
    ----------
    release : callable
        The method `release` of a mechanism.

    Examples
    --------
    >>> class Noisy:
    ...     def sample(self, size, rng):
    ...         return rng.integers(-1, 2, size)
    ...
    ...     @drawn_in_bulk
    ...     def release(self, value, rng):
    ...         return value + self.sample(1, rng)[0]
    >>> draws_in_bulk(Noisy())
    True
    """
    release.__dict__[_MARK] = True
    return release


def draws_in_bulk(mechanism: Any) -> bool:
    """Say whether the `release` of a mechanism is decorated with `drawn_in_bulk`."""
    return bool(getattr(mechanism.release, _MARK, False))


FINEST = 2.0**-20
"""Largest ratio of the lattice step to the smaller of sensitivity and scale."""
LARGEST = 2**61
"""Number of lattice steps to which values are clamped; clamping moves no two values further apart."""


class Mechanism(Parametrized, ABC):
    """A randomized answer with a differential privacy guarantee.

    Attributes
    ----------
    guarantee : Guarantee
        Epsilon and delta, with a statement that names the neighbours.
    """

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """Guarantee of every answer."""


class SensitivityMechanism(Mechanism):
    """A mechanism whose parameters are epsilon and a sensitivity, and of subclasses maybe more.

    - epsilon: In [2^-20, 2^20].
    - sensitivity: Largest change between neighbouring tables of what the mechanism reads; positive.
    """

    def __init__(self, *, epsilon: float = 1.0, sensitivity: float = 1.0) -> None:
        check_privacy(epsilon, sensitivity)
        self.epsilon = epsilon
        self.sensitivity = sensitivity


class PureMechanism(SensitivityMechanism):
    """A mechanism with delta 0, given by epsilon and the sensitivity.

    - epsilon: In [2^-20, 2^20].
    - sensitivity: Largest change between neighbouring tables of what the mechanism reads; positive.
    """

    def _step(self) -> float:
        """Step of the lattice of real numbers."""
        return lattice_step(float(self.sensitivity), float(self.sensitivity) / float(self.epsilon))


class NoiseMechanism(SensitivityMechanism):
    """A mechanism that adds noise to numbers; `bias`, `variance` and `error_bound` describe the error of one number."""

    delta: float = 0.0
    norm: ClassVar[str | None] = None
    """Norm of the sensitivity for arrays; None for mechanisms on a single number."""
    bias: float = 0.0
    """Expected error of the noise, which is symmetric; rounding to a lattice adds at most half a step."""

    @property
    def guarantee(self) -> Guarantee:
        """Epsilon and delta for tables whose values differ by at most the sensitivity."""
        norm = f" in {self.norm} norm" if self.norm else ""
        return Guarantee(
            epsilon=float(self.epsilon),
            delta=float(self.delta),
            statement=f"neighbours: tables whose values differ by at most {self.sensitivity:g}{norm}",
        )

    @property
    @abstractmethod
    def variance(self) -> float:
        """Variance of the noise."""

    @abstractmethod
    def error_bound(self, confidence: float) -> float:
        """Return a bound that the absolute error exceeds with probability at most 1 - confidence.

        Parameters
        ----------
        confidence : float
            In (0, 1).

        Raises
        ------
        ValueError
            If the confidence lies outside of (0, 1).
        """

    @abstractmethod
    def sample(self, size: int, rng: Generator) -> NDArray[Any]:
        """Draw noise, shape (size,)."""

    @abstractmethod
    def release(self, value: Any, rng: Generator) -> Any:
        """Return the value with noise.

        Parameters
        ----------
        value : number or array_like
            The exact value.
        rng : Generator
            Draws the noise.

        Raises
        ------
        ValueError
            If a value is NaN, infinite or not a number; nothing is released then.
        """


def check_privacy(epsilon: Any, sensitivity: Any) -> None:
    """Raise ValueError unless epsilon lies in [2^-20, 2^20] and the sensitivity in [2^-500, 2^500]."""
    check_real("epsilon", epsilon, low=0, open_low=True)
    check_real("sensitivity", sensitivity, low=0, open_low=True)
    require(
        2.0**-500 <= float(sensitivity) <= 2.0**500, f"sensitivity must lie in [2^-500, 2^500], got {sensitivity!r}"
    )
    require(2.0**-20 <= float(epsilon) <= 2.0**20, f"epsilon must lie in [2^-20, 2^20], got {epsilon!r}")


def check_delta(delta: Given) -> Given:
    """Return delta if it lies in (0, 1); otherwise raise ValueError."""
    return check_real("delta", delta, low=0, high=1, open_low=True, open_high=True)


def checked_numbers(value: ArrayLike) -> Floats:
    """Return a value to be released as floats, in its own shape.

    Raises ValueError if it holds anything but finite numbers; the message does not contain the value.
    """
    try:
        array = np.asarray(value)
        numbers = array.astype(float) if array.dtype.kind in "iuf" else None
    except (TypeError, ValueError):
        numbers = None
    if numbers is None or not np.isfinite(numbers).all():
        raise ValueError("value must hold finite numbers only")
    return numbers


def checked_number(value: ArrayLike, otherwise: str = "") -> Floats:
    """Return a single number to be released, shape (1,).

    Raises ValueError if it is NaN, infinite, or more than one number; the message ends with `otherwise`.
    """
    numbers = checked_numbers(value)
    refuse(numbers.ndim, f"value must be a single number, got shape {numbers.shape}{otherwise}")
    return numbers.ravel()


def checked_integers(value: ArrayLike) -> Integers64:
    """Return a value to be released as integers, in its own shape.

    Raises ValueError if it holds anything but integers below 2^61; the message does not contain the value.
    """
    numbers = checked_numbers(value)
    require(
        (numbers == np.rint(numbers)).all() and (np.abs(numbers) <= LARGEST).all(),
        "value must hold integers below 2^61 only",
    )
    return np.asarray(np.asarray(value), dtype=np.int64)


def lattice_step(sensitivity: float, scale: float) -> float:
    """Return the lattice step: the largest power of two of at most 2^-20 of the sensitivity and of the noise's scale.

    Division by a power of two is exact, and so is the released multiple of the step.
    """
    return float(2.0 ** math.floor(math.log2(min(sensitivity, scale) * FINEST)))


def steps_between(sensitivity: float, step: float, dimensions: int = 1) -> int:
    """Return the largest number of steps between rounded values of neighbours; rounding adds one a dimension."""
    return math.ceil(fraction(sensitivity) / fraction(step)) + dimensions


@np.errstate(over="ignore")
def on_lattice(values: Floats, step: float) -> Integers64:
    """Return values as integer numbers of lattice steps, rounded to the nearest and clamped.

    Two values at most s steps apart are rounded to integers at most s + 1 apart.
    """
    # An infinite quotient is clamped like any other.
    steps = np.clip(values / step, -LARGEST, LARGEST)
    return np.rint(steps).astype(np.int64)


def like(value: ArrayLike, result: NDArray[Any]) -> Any:
    """Return the result as a plain number if the value is one, otherwise as an array of the value's shape."""
    return result.reshape(()).item() if np.ndim(value) == 0 else result.reshape(np.shape(value))


# Base classes of noise mechanisms: integer noise, and noise on a lattice with an epsilon alone.


class IntegerNoise(NoiseMechanism):
    """A mechanism that adds integer noise to integers."""

    @abstractmethod
    def sample(self, size: int, rng: Generator) -> Integers64:
        """Draw noise, shape (size,)."""

    @drawn_in_bulk
    def release(self, value: ArrayLike, rng: Generator) -> int | Integers64:
        """Return integers with noise; the sensitivity is that of the array as a whole.

        Raises ValueError if a value is not an integer.
        """
        numbers = checked_integers(value)
        return like(value, numbers.ravel() + self.sample(numbers.size, rng))  # type: ignore[no-any-return]


class PureLatticeNoise(PureMechanism, NoiseMechanism):
    """A mechanism that adds noise on a lattice and has delta 0.

    - epsilon: In [2^-20, 2^20].
    - sensitivity: Largest distance between the values of neighbouring tables; positive.
    """

    @property
    def resolution(self) -> float:
        """Step of the lattice."""
        return self._step()
