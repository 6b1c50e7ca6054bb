"""The conformance suite: requirements that every defense and every attack must meet, whatever its method.

`checks` yields the named checks of a class; a check raises `AssertionError` with a reason if it fails. The tests run
them on every export, and ``tokumei check module:Class`` runs them on a user's own class.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator
from functools import partial

from attacks.base.attack import Attack
from defenses.base.defense import Defense
from defenses.base.parametrized import Parametrized
from scenarios.conformance.attack_checks import attack_checks
from scenarios.conformance.checks import Check, require
from scenarios.conformance.defense_checks import defense_checks
from scenarios.conformance.people import example


def checks(method: type[Parametrized]) -> Iterator[Check]:
    """Checks that apply to a class, each with its title."""
    yield "parameters round-trip", partial(_parameters, method)
    yield "parameters that are no numbers are refused", partial(_refused, method)
    yield "pickles", partial(_pickles, method)
    if issubclass(method, Defense) and method.kind == "microdata":
        yield from defense_checks(method)
    if issubclass(method, Attack):
        yield from attack_checks(method)


def _parameters(method: type[Parametrized]) -> None:
    instance = example(method)
    parameters = instance.get_params()
    require(instance.clone() == instance, "clone() differs from the original")
    require(method(**parameters) == instance, "the constructor does not restore get_params()")
    require(instance.clone().set_params(**parameters) == instance, "set_params(get_params()) changes something")
    for name, value in parameters.items():
        require(getattr(instance, name) is value, f"{name} is not stored as it was given")
    try:
        instance.set_params(no_such_parameter=1)
    except ValueError as error:
        require("no_such_parameter" in str(error), "the error does not name the unknown parameter")
    else:
        raise AssertionError("an unknown parameter is accepted")


def _refused(method: type[Parametrized]) -> None:
    instance = example(method)
    for name, value in instance.get_params().items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        for bad in (math.nan, math.inf, -math.inf, "1"):
            try:
                instance.clone().set_params(**{name: bad})
            except ValueError as error:
                require(name in str(error), f"the error about {name}={bad!r} does not name the parameter")
            else:
                raise AssertionError(f"{name}={bad!r} is accepted")


def _pickles(method: type[Parametrized]) -> None:
    instance = example(method)
    require(pickle.loads(pickle.dumps(instance)) == instance, "a pickled copy differs")  # noqa: S301 (our own bytes)
