"""State that a method keeps between its runs."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any, TypeVar

from defenses.base import Parametrized
from scenarios.running.methods.code_places import defined_at
from scenarios.running.methods.fingerprint import is_own_code

Answer = TypeVar("Answer")
Method = TypeVar("Method", bound=Parametrized)
TURNS = (True, False, False, True, False, False)
"""Whether each run is on the other inputs; the runs on the first ones are the 2nd, 3rd, 5th and 6th of the instance."""


def check_memory(
    method: Method,
    answer: Callable[[Method, bool], Answer],
    difference: Callable[[Answer, Answer], str],
    what: str,
    place: Callable[..., Any],
) -> None:
    """Run one instance on two inputs in turn, with one seed; the first inputs must have the same answer each time.

    Parameters
    ----------
    method : Parametrized
        The instance that runs.
    answer : callable
        ``answer(method, other)`` runs an instance on the first inputs, or on the others.
    difference : callable
        Names the part in which two answers differ; empty where they are equal.
    what : str
        What an answer is called, such as ``claims``.
    place : callable
        The method that runs, whose line is named.

    Raises
    ------
    AssertionError
        If an answer differs; names the attributes that changed meanwhile. Answers of new instances may differ.
    """
    before, first = _state(method), answer(method, False)
    for other in TURNS:
        again = answer(method, other)
        changed = "" if other else difference(first, again)
        if changed:
            kept = [name for name, content in _state(method).items() if before.get(name) != content]
            if not kept and difference(answer(method.clone(), False), answer(method.clone(), False)):
                # It draws from a generator of its own, which another check finds.
                return
            where = f" It keeps {', '.join(kept)}." if kept else ""
            raise AssertionError(
                f"the {what} of a run depend on the runs before it: {changed} differs with the same inputs and the "
                f"same seed.{where} Keep nothing between runs that changes an answer{defined_at(place)}",
            )


def _state(method: Parametrized) -> dict[str, bytes]:
    """Content of what an instance, the classes of a user's own above it, and their modules hold, by name."""
    held = {f"self.{name}": value for name, value in vars(method).items()}
    for cls in type(method).__mro__:
        if is_own_code(cls.__module__):
            continue
        held |= {f"{cls.__name__}.{name}": value for name, value in vars(cls).items() if not name.startswith("__")}
        module = vars(sys.modules.get(cls.__module__, sys))
        held |= {name: value for name, value in module.items() if not name.startswith("__")}
    return {name: _content(value) for name, value in held.items() if not isinstance(value, type | ModuleType)}


def _content(value: Any) -> bytes:
    """Bytes that are others once a value has changed; empty for functions and for what cannot be pickled."""
    if isinstance(value, FunctionType):
        return b""
    try:
        return pickle.dumps(value)
    except Exception:  # a user's object may refuse in any way
        return b""
