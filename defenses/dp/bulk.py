"""The statement that many runs of a mechanism can be drawn at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

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
