"""Mechanisms by name: classes of `defenses.dp` and `defenses.ldp`, defenses, or ``module:Class``."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from typing import Any

from defenses.base import Parametrized
from metrics.columns import errors_at
from scenarios.running.methods.methods import built_value, check_parameter_names, exported, named

PACKAGES = ("defenses.dp", "defenses.ldp")


def mechanisms() -> dict[str, type[Parametrized]]:
    """Concrete mechanisms that `defenses.dp` and `defenses.ldp` export, by class name."""
    modules = map(importlib.import_module, PACKAGES)
    values = {name: getattr(module, name) for module in modules for name in module.__all__}
    return {
        name: value
        for name, value in sorted(values.items())
        if inspect.isclass(value) and issubclass(value, Parametrized) and not inspect.isabstract(value)
    }


def mechanism_of(name: str, parameters: Mapping[str, Any]) -> Any:
    """Instantiate a mechanism or a defense.

    A ValueError is raised if there is no such class (the nearest name is suggested), or a parameter is unknown or
    refused.

    - name: An exported class, or ``module:Class`` of any class that takes keyword arguments. The current folder is
      searched last for such a module.
    - parameters: Arguments of its constructor; a table ``{"use": name, ...}`` becomes a defense.

    Examples
    --------
    >>> mechanism_of("Laplace", {"epsilon": 0.5}).guarantee.epsilon
    0.5
    """
    mechanism = named(name, {**exported("defenses"), **mechanisms()}, "there is no mechanism")
    check_parameter_names(name, parameters, list(inspect.signature(mechanism).parameters))
    with errors_at(name, TypeError):
        return mechanism(**{name: built_value(value, "defenses") for name, value in parameters.items()})
