"""What the checks of the conformance suite have in common."""

from __future__ import annotations

from collections.abc import Callable

Check = tuple[str, Callable[[], None]]
"""A title, and what raises `AssertionError` with a reason where the check fails."""


def require(holds: bool, otherwise: str) -> None:
    """Raise AssertionError with a reason unless something holds."""
    if not holds:
        raise AssertionError(otherwise)
