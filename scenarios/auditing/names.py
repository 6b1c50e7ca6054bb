"""Mechanisms by name: classes of `defenses.dp` and `defenses.ldp`, defenses, or ``module:Class``."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from typing import Any

from defenses.base.parameters import Parametrized
from scenarios.methods import class_at, exported, suggestion

PACKAGES = ("defenses.dp", "defenses.ldp")


def mechanisms() -> dict[str, type[Parametrized]]:
    """Concrete mechanisms that `defenses.dp` and `defenses.ldp` export, by class name."""
    found: dict[str, type[Parametrized]] = {}
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) and issubclass(value, Parametrized) and not inspect.isabstract(value):
                found[name] = value
    return dict(sorted(found.items()))


def mechanism_of(name: str, parameters: Mapping[str, Any]) -> Any:
    """Make a mechanism or a defense.

    Parameters
    ----------
    name : str
        An exported class, or ``module:Class`` of any class that takes keyword arguments; such a module is looked for
        in the current folder last.
    parameters : mapping
        Arguments of its constructor.

    Raises
    ------
    ValueError
        If there is no such class (the nearest name is suggested), or a parameter is unknown or refused.
    """
    known: dict[str, Any] = {**exported("defenses"), **mechanisms()}
    if ":" in name:
        made = class_at(name)
    elif name in known:
        made = known[name]
    else:
        raise ValueError(f"there is no mechanism {name!r}{suggestion(name, known)}")
    accepted = list(inspect.signature(made).parameters)
    unknown = sorted(set(parameters) - set(accepted))
    if unknown:
        raise ValueError(
            f"{name} has no parameter {unknown[0]!r}{suggestion(unknown[0], accepted) if accepted else '; it has none'}"
        )
    try:
        return made(**parameters)
    except TypeError as error:
        raise ValueError(f"{name}: {error}") from None
