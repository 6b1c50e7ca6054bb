"""Settings that a scenario writes more than once: each is played once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")


def distinct(entries: Iterable[T], setting: Callable[[T], Any]) -> tuple[T, ...]:
    """The entries of different settings in their order; of equal ones the first, as it is written.

    Parameters
    ----------
    entries : iterable
        Methods or games.
    setting : callable
        Gives an entry's setting as JSON values, in which 1 and 1.0 are one number.

    Examples
    --------
    >>> distinct([0.5, 1, 1.0, True, 5e-1], lambda value: {"retention": value})
    (0.5, 1, True)
    """
    first: dict[str, T] = {}
    for entry in entries:
        first.setdefault(repr(_by_value(setting(entry))), entry)
    return tuple(first.values())


def _by_value(value: Any) -> Any:
    """A value whose whole numbers are integers, and whose mappings are sorted: equal ones have equal texts."""
    if isinstance(value, Mapping):
        return {name: _by_value(value[name]) for name in sorted(value)}
    if isinstance(value, list | tuple):
        return [_by_value(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
