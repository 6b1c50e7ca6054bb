"""Values of measurements as JSON text, exact to the last bit."""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from defenses.base.parametrized import Parametrized
from scenarios.running.methods.methods import describe

MODULES = ("scenarios.", "metrics.", "leaderboard.")
"""Beginnings of the modules whose dataclasses and named tuples a text may name; no others are imported."""


def written(value: Any) -> str:
    """Text of a value.

    Raises
    ------
    TypeError
        If it holds anything but numbers, texts, arrays, lists, tuples, dictionaries, protocols of local differential
        privacy, and dataclasses and named tuples of this project.

    Examples
    --------
    >>> read(written({"a": (1, 2.5, float("inf")), "b": None}))
    {'a': (1, 2.5, inf), 'b': None}
    """
    return json.dumps(_plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def read(text: str) -> Any:
    """Value of a text that `written` made.

    Raises
    ------
    ValueError
        If `written` did not make this text.
    """
    try:
        return _value(json.loads(text))
    except (KeyError, TypeError, AttributeError, IndexError, ImportError, RecursionError) as error:
        raise ValueError(f"a stored measurement is damaged ({type(error).__name__})") from None


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, np.ndarray):
        return {
            "array": [_plain(item) for item in value.ravel().tolist()],
            "of": str(value.dtype),
            "shape": value.shape,
        }
    if isinstance(value, Parametrized):
        return {"protocol": type(value).__name__, "parameters": _plain(describe(value))}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {"named": _name(value), "items": [_plain(item) for item in value]}
    if is_dataclass(value) and not isinstance(value, type):
        return {"named": _name(value), "fields": {f.name: _plain(getattr(value, f.name)) for f in fields(value)}}
    if isinstance(value, tuple):
        return {"tuple": [_plain(item) for item in value]}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {"pairs": [[_plain(key), _plain(item)] for key, item in value.items()]}
    raise TypeError(f"{type(value).__name__} cannot be stored")


def _value(plain: Any) -> Any:
    if isinstance(plain, list):
        return [_value(item) for item in plain]
    if not isinstance(plain, dict):
        return plain
    if "float" in plain:
        return float(plain["float"])
    if "array" in plain:
        items = [_value(item) for item in plain["array"]]
        return np.array(items, dtype=plain["of"]).reshape(plain["shape"])
    if "tuple" in plain:
        return tuple(_value(item) for item in plain["tuple"])
    if "pairs" in plain:
        return {_value(key): _value(item) for key, item in plain["pairs"]}
    if "protocol" in plain:
        return _protocol(plain["protocol"], _value(plain["parameters"]))
    kind = _kind(plain["named"])
    if "items" in plain:
        return kind(*(_value(item) for item in plain["items"]))
    return kind(**{name: _value(item) for name, item in plain["fields"].items()})


def _protocol(name: str, parameters: dict[str, Any]) -> Any:
    from scenarios.checks.audits.names import mechanisms

    if name not in mechanisms():
        raise ValueError(f"a stored measurement is damaged (there is no protocol {name!r})")
    return mechanisms()[name](**parameters)


def _name(value: Any) -> str:
    name = f"{type(value).__module__}:{type(value).__qualname__}"
    if not name.startswith(MODULES):
        raise TypeError(f"{name} cannot be stored")
    return name


def _kind(name: str) -> type[Any]:
    """Class of a dataclass or named tuple of this project."""
    module, _, qualified = name.partition(":")
    kind = getattr(importlib.import_module(module), qualified, None) if module.startswith(MODULES) else None
    if not isinstance(kind, type) or not (is_dataclass(kind) or issubclass(kind, tuple)):
        raise ValueError(f"a stored measurement is damaged (there is no value {name!r})")
    return kind
