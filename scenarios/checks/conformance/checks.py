"""The type of conformance checks, and their assertion."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Check(NamedTuple):
    """A requirement that every method must meet.

    Attributes
    ----------
    title : str
        What is required.
    run : callable
        Raises `AssertionError` with a reason, or the method's own exception, if the requirement is not met.
    """

    title: str
    run: Callable[[], None]


class Prerequisite(Check):
    """A check without which the later ones say nothing: a method that fails it would fail them for the same reason."""


def require(holds: bool, otherwise: str) -> None:
    """Raise AssertionError with the reason `otherwise` unless the condition `holds`."""
    if not holds:
        raise AssertionError(otherwise)
