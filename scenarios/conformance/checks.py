"""The type of conformance checks, and their assertion."""

from __future__ import annotations

from collections.abc import Callable

Check = tuple[str, Callable[[], None]]
"""Title of a check, and a function that raises `AssertionError` with a reason if the check fails."""


def require(holds: bool, otherwise: str) -> None:
    """Raise AssertionError with the reason `otherwise` unless the condition `holds`."""
    if not holds:
        raise AssertionError(otherwise)
