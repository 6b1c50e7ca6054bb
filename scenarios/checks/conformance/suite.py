"""The conformance suite: requirements that every defense and every attack must meet, whatever its method.

`checks` yields the named checks of a class; a check raises `AssertionError` with a reason if it fails. The tests run
them on every export, and ``tokumei check module:Class`` runs them on a user's class.
"""

from __future__ import annotations

import math
import os
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain
from types import new_class
from typing import Any, NoReturn, TypeVar

from attacks.base import Attack
from defenses.base import Defense, MicrodataRelease, Parametrized
from metrics.columns import one_line
from scenarios.checks.conformance.attack_checks import attack_checks, claims_of, stages
from scenarios.checks.conformance.defense_checks import defense_checks, release_of, untested_guarantees
from scenarios.checks.conformance.findings import (
    Begun,
    Check,
    CheckOutcome,
    Found,
    Prerequisite,
    Untested,
    outcomes,
    require,
)
from scenarios.running.methods import (
    build,
    check_constructor,
    check_declarations,
    check_signatures,
    check_storable,
    check_stored,
    constructor_at,
    example,
    find,
    people,
    written_method,
)
from scenarios.running.workers import (
    IsolatedWorker,
    Limits,
    LostProcessError,
    SeparateProcess,
    TaskStep,
    different_attribute,
    in_threads,
    released_difference,
)
from scenarios.tables.seeds import generator
from scenarios.tournament.rules.measures import (
    ROUNDING,
    ComparedTables,
    UtilityMeasure,
    escaped,
    measured,
    uninformative,
)

# Classes that are checked, by name; with other parameters than their example's, if the name has some.

Method = TypeVar("Method", bound=Parametrized)
CHECKED = {"defenses": Defense, "attacks": Attack, "measures": UtilityMeasure}
"""Base class of each kind that is checked."""


def class_of(made: Method) -> type[Method]:
    """The class of a method, as one whose example has that method's parameters.

    Examples
    --------
    >>> from defenses import Mondrian
    >>> class_of(Mondrian(k=7)).example().k
    7
    """
    cls = type(made)
    # Messages name the class and its line as before; from Python 3.13 on, the class itself knows the line.
    names = {name: vars(cls)[name] for name in ("__module__", "__qualname__", "__firstlineno__") if name in vars(cls)}
    content = {**names, "example": classmethod(lambda _: made.clone())}
    return new_class(cls.__name__, (cls,), exec_body=lambda space: space.update(content))


def named_class(name: str) -> type[Parametrized]:
    """The class that a name means on the command line, with the parameters that follow the name.

    Raises ValueError if there is no such defense, attack or utility measure, or it takes no such parameters.
    """
    table = written_method(name, *CHECKED)
    method = find(table["use"], *CHECKED)
    if len(table) == 1:
        return method
    return class_of(build(table, next(kind for kind, base in CHECKED.items() if issubclass(method, base))))


# Whether a method gives the same output in another process, where Python hashes texts differently.


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
    """Check that the output does not depend on the process; an AssertionError if it does, or another process fails.

    `name` is that by which another process finds the class, with its parameters.
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
        require(not changed, f"two processes with one seed differ in {changed}", right)


def _named_output(name: str) -> Any:
    return output(named_class(name))


# Calls of `os._exit` that raise, so that a method under test cannot end its check without a word.


@contextmanager
def raised_exits() -> Iterator[None]:
    """Let `os._exit` raise SystemExit in this process, which checks report as any other failure.

    Processes that are forked within end as usual.
    """
    ends, process = os._exit, os.getpid()

    def raises(status: int) -> NoReturn:
        if os.getpid() != process:
            ends(status)
        raise SystemExit(f"os._exit({status})")

    os._exit = raises
    try:
        yield
    finally:
        os._exit = ends


def checks(method: type[Parametrized]) -> Iterator[Check]:
    """Checks that apply to a class, each with its title; a `Prerequisite` stands before those that need it."""
    if issubclass(method, Defense | Attack):
        goal = " and goal" if issubclass(method, Attack) else ""
        yield Prerequisite(f"its kind{goal} exist" + ("" if goal else "s"), partial(_holds, check_declarations, method))
        yield Prerequisite("its methods take the contract's arguments", partial(check_signatures, method))
    yield from (
        Prerequisite("every parameter has a default", partial(check_constructor, method)),
        Prerequisite("parameters are stored under their own names", partial(check_stored, method)),
        Check("parameters round-trip", partial(_parameters, method)),
        Check("parameters that are no numbers are refused", partial(_refused, method)),
        Check(
            "parameters can be stored with results", partial(_holds, lambda cls: check_storable(example(cls)), method)
        ),
        Check("pickles", partial(_pickles, method)),
    )
    if issubclass(method, Defense) and method.kind == "microdata":
        yield from defense_checks(method)
    if issubclass(method, Attack):
        yield from attack_checks(method)
    if issubclass(method, UtilityMeasure):
        yield Check("the originals have utility 1, and any table one from 0 to 1", partial(_holds, _valued, method))


def suite(name: str) -> Iterator[TaskStep | Begun | CheckOutcome | Untested]:
    """Run all checks of the class that a name means: a defense, an attack or ``module:Class``, with its parameters."""
    failed = False
    with raised_exits():
        method = named_class(name)
        for item in outcomes(checks(method)):
            failed |= isinstance(item, CheckOutcome) and item.reason is not None
            yield item
        if not failed and has_output(method):
            # Costlier than the others, and only if they say that the class can be used.
            compared = partial(check_other_processes, method, name)
            yield from outcomes([Check("same seed, same output in other processes", compared)])
        yield Untested(tuple(untested_guarantees(method)))


def suite_outcomes(name: str, timeout: float) -> Iterator[Found]:
    """What `suite` finds; a user-defined class is checked in another process, which may die.

    `timeout` is the seconds after which a check of a user-defined class has failed.
    """
    if ":" not in name:
        yield from suite(name)
        return
    prepare = partial(_search, sys.path, os.getcwd())
    worker = IsolatedWorker[str, Begun | CheckOutcome | Untested](suite, Limits(time=timeout), prepare)
    try:
        yield from worker.results(name)
    finally:
        worker.close()


def _search(folders: Sequence[str], here: str) -> None:
    """Find modules where the owner of this process does."""
    sys.path[:] = folders
    os.chdir(here)


def _holds(check: Callable[[Any], object], method: type[Parametrized]) -> None:
    """Make a check, whose ValueError says what fails."""
    try:
        check(method)
    except ValueError as error:
        raise AssertionError(str(error)) from None


def _parameters(method: type[Parametrized]) -> None:
    instance = example(method)
    parameters = instance.get_params()
    require(instance.clone() == instance, "clone() differs from the original")
    require(method(**parameters) == instance, "the constructor does not restore get_params()")
    require(instance.clone().set_params(**parameters) == instance, "set_params(get_params()) changes something")
    for name, value in parameters.items():
        stored = getattr(instance, name) is value
        require(stored, f"store parameter {name} as self.{name}, as it was given", at=method.__init__)
    try:
        instance.set_params(no_such_parameter=1)
    except ValueError as error:
        require("no_such_parameter" in str(error), "the error does not name the unknown parameter")
    else:
        raise AssertionError("an unknown parameter is accepted")


def _valued(method: type[UtilityMeasure]) -> None:
    """Value invented people, and tables without information and of one row."""
    records = people(60, generator(0, "people"))
    domains = {name: records.domain(name) for name in records.released_columns}
    tables = ComparedTables(records.frame, escaped(records.frame, domains), domains, 1.0, 1.0)
    measure, short = example(method), replace(tables, cells=tables.cells.head(1))
    value, *_ = (measured(measure, one) for one in (tables, short, *uninformative(records.frame, domains)))
    require(value >= 1 - ROUNDING, f"the originals have {value:g}, not 1", at=method.value)
    require(measured(measure, tables) == value, "a second value of the same tables is another one", at=method.value)


def _refused(method: type[Parametrized]) -> None:
    instance = example(method)
    for name, value in instance.get_params().items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        helper = "check_integer" if isinstance(value, int) else "check_real"
        right = (
            f"the constructor must raise ValueError naming {name}, "
            f"as {helper}({name!r}, {name}, low=...) of defenses does{constructor_at(method)}"
        )
        for bad in (math.nan, math.inf, -math.inf, "1"):
            try:
                instance.clone().set_params(**{name: bad})
            except ValueError as error:
                require(name in str(error), f"the error about {name}={bad!r} does not name the parameter; {right}")
            except (Exception, SystemExit) as error:  # a constructor may raise anything
                raise AssertionError(f"{name}={bad!r} raises {type(error).__name__}; {right}") from None
            else:
                raise AssertionError(f"{name}={bad!r} is accepted; {right}")


def _pickles(method: type[Parametrized]) -> None:
    instance = example(method)
    require(pickle.loads(pickle.dumps(instance)) == instance, "a pickled copy differs")  # noqa: S301 (our own bytes)
