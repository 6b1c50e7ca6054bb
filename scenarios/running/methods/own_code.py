"""Which code is the project's own, and which a user's."""

from __future__ import annotations

from typing import Any

from scenarios.running.methods.fingerprint import PACKAGES, modules


def is_own_code(module: str) -> bool:
    """Whether a module belongs to the project, or is one of Python's built-in ones."""
    return module.partition(".")[0] in (*PACKAGES, "builtins", "abc")


def is_foreign(method: Any) -> bool:
    """Whether a class of a method or of a method among its parameters is not the project's."""
    return not all(is_own_code(module) for module in modules(method))
