"""Whether a method gives the same output in another process, where Python hashes texts differently."""

from __future__ import annotations

from itertools import chain
from typing import Any

from attacks.base import Attack
from defenses import Defense, MicrodataRelease
from defenses.base import Parametrized
from metrics.columns import one_line
from scenarios.checks.conformance.attack_checks import claims_of, stages
from scenarios.checks.conformance.findings import require
from scenarios.checks.conformance.given_parameters import named_class, release_of
from scenarios.running.methods.invented_people import people
from scenarios.running.workers import (
    Limits,
    LostProcessError,
    SeparateProcess,
    different_attribute,
    in_threads,
    released_difference,
)
from scenarios.tables.seeds import generator

HASH_SEEDS = ("1", "2")
"""Seeds of the hashes of texts in the other processes. Two texts of a set are in one order in half of all processes."""


def has_output(method: type[Parametrized]) -> bool:
    """Whether `output` knows how to run a class: a defense of tables, or an attack of a goal that is checked."""
    if issubclass(method, Attack):
        return (method.goal, method.kind) in stages()
    return issubclass(method, Defense) and method.kind == "microdata"


def output(method: type[Any]) -> Any:
    """Release of sixty people, or claims about one."""
    if issubclass(method, Attack):
        return claims_of(method)
    return release_of(method, people(60, generator(0, "people")), "release")


def check_other_processes(method: type[Any], name: str) -> None:
    """Check that the output does not depend on the process.

    Parameters
    ----------
    method : type
        The class under test.
    name : str
        Name by which another process finds it, with its parameters.

    Raises
    ------
    AssertionError
        If an output of another process differs, or that process fails.
    """
    here = output(method)
    processes = [SeparateProcess(Limits(), hash_seed=seed) for seed in HASH_SEEDS]
    try:
        there = list(chain.from_iterable(in_threads(processes, lambda process: [process.call(_named_output, name)])))
    except Exception as error:
        reason = str(error) if isinstance(error, LostProcessError) else f"{type(error).__name__}: {one_line(error)}"
        raise AssertionError(f"it works in this process and fails in another one: {reason}") from None
    compared = released_difference if isinstance(here, MicrodataRelease) else different_attribute
    right = "draw from rng alone, and sort what you take from a set: its order differs between processes"
    for answer in there:
        changed = compared(here, answer)
        require(not changed, f"two processes with one seed differ in {changed}; {right}")


def _named_output(name: str) -> Any:
    return output(named_class(name))
