"""What a trial's result depends on, as a hash: an equal key means that it need not be played again."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

from leaderboard.result import canonical

PACKAGES = ("attacks", "defenses", "leaderboard", "metrics", "scenarios")
NUMERIC = ("numpy", "pandas", "scipy", "scikit-learn", "recordlinkage")


def key(**parts: Any) -> str:
    """Hash of everything that a result depends on, 64 hexadecimal digits."""
    return hashlib.sha256(canonical({**parts, "versions": versions()}).encode()).hexdigest()


@lru_cache
def versions() -> dict[str, str]:
    """Versions of the packages whose numbers enter results."""
    return {name: metadata.version(name) for name in NUMERIC}


@lru_cache
def source(module: str) -> str:
    """Hash of a module's source and of every module of the project that it imports, directly or not."""
    texts = {name: _text(name) for name in sorted(_closure(module))}
    return hashlib.sha256(canonical(texts).encode()).hexdigest()


def _closure(module: str) -> set[str]:
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in seen or not _file(name):
            continue
        seen.add(name)
        waiting += [other for other in _imports(name) if other.partition(".")[0] in PACKAGES]
    return seen


@lru_cache
def _imports(module: str) -> tuple[str, ...]:
    """Modules named in the import statements of a module, and the modules of names imported from packages."""
    found = []
    for node in ast.walk(ast.parse(_text(module))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return tuple(found)


@lru_cache
def _text(module: str) -> str:
    return Path(_file(module)).read_text(encoding="utf-8")


@lru_cache
def _file(module: str) -> str:
    """Source file of a module, or nothing if there is none."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, AttributeError, ValueError):
        return ""
    origin = spec.origin if spec else None
    return origin if origin and origin.endswith(".py") else ""
