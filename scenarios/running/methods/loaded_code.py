"""Whether the code that this process has loaded is that of its files, which worker processes load."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from scenarios.running.methods.fingerprint import (
    PACKAGES,
    closure,
    code_hash,
    look_again,
    modules,
    parts_of,
    source_file,
)
from scenarios.running.methods.module_differences import difference
from scenarios.running.plan import Plan

_first_seen: dict[str, tuple[Any, str]] = {}
"""Specification and code hash of each module when a run first met it; a reload makes a new specification."""


def check_loaded(plans: Iterable[Plan]) -> None:
    """Check that methods are those of their files; files are hashed anew from here on.

    Raises
    ------
    ValueError
        If a class stands in no module, a file has changed since its module was loaded, or an object is of a class from
        before a reload.
    """
    look_again()
    methods = [
        method
        for plan in plans
        for method in (*plan.games, *(entry.method for entry in (*plan.defenses, *plan.attacks)))
    ]
    for part in parts_of(methods):
        _check_class(type(part))
    for name, code in closure({module for method in methods for module in modules(method)}).items():
        if name in sys.modules:
            _check_module(name, code)


def foreign_code(plan: Plan) -> dict[str, str]:
    """Code hash of each file of a user's own code that a plan's methods use, as keys of results hold it."""
    methods = [*plan.games, *(entry.method for entry in (*plan.defenses, *plan.attacks))]
    names = {module for method in methods for module in modules(method)}
    return {source_file(name): code for name, code in closure(names).items() if name.partition(".")[0] not in PACKAGES}


def check_unchanged(code: Mapping[str, str]) -> None:
    """Check that files hold the code that they held before; a new worker process has just loaded them.

    Parameters
    ----------
    code : mapping of str to str
        Code hash by file (`foreign_code`).

    Raises
    ------
    ValueError
        If a file has changed: its results would stand under the keys of the former code.
    """
    for file, before in code.items():
        try:
            now = code_hash(Path(file).read_text(encoding="utf-8"))
        except (OSError, ValueError, SyntaxError):
            now = ""
        if now != before:
            raise ValueError(f"{file} changed during the run; the same command plays what is missing with the new code")


def _check_module(name: str, code: str) -> None:
    module, file = sys.modules[name], source_file(name)
    spec, before = _first_seen.get(name, (None, code))
    if name.partition(".")[0] in PACKAGES:
        # Worker processes are forked from one that loaded these at its start, so that a reload here is not enough.
        if before != code:
            raise ValueError(f"{file} changed after {name} was loaded; start Python anew")
    else:
        reloaded = spec is not module.__spec__
        changed = difference(module) if reloaded else None
        if changed is not None or (not reloaded and before != code):
            what = f" ({changed} differs)" if changed else ""
            raise ValueError(
                f"{file} changed after {name} was loaded{what}; call importlib.reload({name}) and make its objects "
                "again, or start Python anew"
            )
    _first_seen[name] = module.__spec__, code


def _check_class(cls: type) -> None:
    if cls.__module__ == "__main__" or "." in cls.__qualname__:
        raise ValueError(
            f"{cls.__name__}: worker processes cannot import it; write the class at the top of a module (a file)"
        )
    module = sys.modules.get(cls.__module__)
    present = getattr(module, cls.__name__, None)
    if isinstance(present, type) and present is not cls:
        raise ValueError(
            f"{cls.__module__}.{cls.__name__} was loaded anew after this object was made; make the object again, as in "
            f"{cls.__module__}.{cls.__name__}(...)"
        )
