"""Runs conformance checks and gathers what fails, with each reason once."""

from __future__ import annotations

import pickle
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple, TypeVar

from defenses.base import Parametrized
from metrics.columns import one_line
from scenarios.running.methods import defined_at, is_project_module, user_code_location
from scenarios.running.workers.isolation import Death, TaskStep

# State that a method keeps between its runs.

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

    If an answer differs, an AssertionError names the attributes that changed meanwhile. Answers of new instances may
    differ.

    - answer: ``answer(method, other)`` runs an instance on the first inputs, or on the others.
    - difference: Names the part in which two answers differ; empty where they are equal.
    - what: What an answer is called, such as ``claims``.
    - place: The method that runs, whose line is named.
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
    """Content of what an instance, a user's classes above it, and their modules hold, by name."""
    held = {f"self.{name}": value for name, value in vars(method).items()}
    for cls in type(method).__mro__:
        if is_project_module(cls.__module__):
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


# The type of conformance checks, and their assertion.


class Check(NamedTuple):
    """A requirement that every method must meet.

    - title: What is required.
    - run: Raises `AssertionError` with a reason, or the exception of the method, if the requirement is not met.
    """

    title: str
    run: Callable[[], object]


class Prerequisite(Check):
    """A check without which the later ones say nothing: a method that fails it would fail them for the same reason."""


def require(holds: bool, otherwise: str, right: str = "", at: Callable[..., Any] | None = None) -> None:
    """Assert something about a method under test, also where Python runs without assertions.

    The message says what is wrong, then what would be right, and where the code `at` stands.
    """
    if not holds:
        raise AssertionError(f"{otherwise}{f'; {right}' if right else ''}{defined_at(at) if at else ''}")


@dataclass
class Findings:
    """Outcome of the conformance checks of one class.

    - failures: Titles of the failed checks, by reason.
    - left_out: Titles of the checks that were not run, since they need one that failed.
    - warned: Each warning that the class gave, once, with its line.
    - untested: Parts of its guarantee that no check tests.
    - died: Whether a check ended its process, so that those after it were not run.
    """

    failures: dict[str, list[str]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    warned: list[str] = field(default_factory=list)
    untested: list[str] = field(default_factory=list)
    died: bool = False

    @property
    def failed(self) -> int:
        """Number of failed checks."""
        return sum(map(len, self.failures.values()))


class CheckOutcome(NamedTuple):
    """What a check found.

    - title: Title of the check.
    - reason: Why the check failed; None if the class passes it.
    - left_out: Titles of the checks that are not run, since they need this one.
    - warned: Warnings that the class gave meanwhile, each with its line.
    """

    title: str
    reason: str | None
    left_out: tuple[str, ...] = ()
    warned: tuple[str, ...] = ()


class Begun(NamedTuple):
    """The title of a check that begins now."""

    title: str


def outcomes(checks: Iterable[Check]) -> Iterator[TaskStep | Begun | CheckOutcome]:
    """Run checks in their order, and say which one begins and what it found; after a failed `Prerequisite`, none."""
    remaining = iter(checks)
    for check in remaining:
        yield TaskStep(check.title)
        yield Begun(check.title)
        with warnings.catch_warnings(record=True) as caught:
            reason = _failure(check)
        ends = reason is not None and isinstance(check, Prerequisite)
        left_out = tuple(other.title for other in remaining) if ends else ()
        yield CheckOutcome(check.title, reason, left_out, tuple(map(_warned, caught)))


class Untested(NamedTuple):
    """Parts of a guarantee that no check tests."""

    parts: tuple[str, ...]


Found = TaskStep | Begun | CheckOutcome | Untested | Death
"""What a suite of checks says, here or in a process that may die of one."""


def findings(found: Iterable[Found], passed: Callable[[str], None]) -> Findings:
    """Gather what checks found, as `outcomes` gives it here or in a process that may die of one.

    `passed` is called with the title of each check that passes.
    """
    gathered = Findings()
    reasons: dict[str, str] = {}
    for one in found:
        if isinstance(one, Untested):
            gathered.untested.extend(one.parts)
        elif isinstance(one, Death):
            gathered.died = True
            gathered.failures.setdefault(one.reason, []).append(one.step)
        elif isinstance(one, CheckOutcome):
            if one.reason is None:
                passed(one.title)
            else:
                # The same mistake on tables of different sizes counts once.
                alike = re.sub(r"(?<!line )\b[0-9]+\b", "#", one.reason)
                first = reasons.setdefault(alike, one.reason)
                gathered.failures.setdefault(first, []).append(one.title)
            gathered.left_out.extend(one.left_out)
            gathered.warned.extend(text for text in dict.fromkeys(one.warned) if text not in gathered.warned)
    return gathered


def _failure(check: Check) -> str | None:
    """Reason why a check fails, None if it passes."""
    try:
        # What a method prints goes where that of a run's workers goes, apart from the verdicts.
        with redirect_stdout(sys.stderr):
            check.run()
    except (Exception, SystemExit) as error:  # a method under test may raise anything
        place = user_code_location(error)
        # An assertion of the check itself is a sentence of ours; one of the method's code has a place there.
        is_ours = isinstance(error, AssertionError) and not place
        return str(error) if is_ours else f"{type(error).__name__}: {one_line(error)}{place}"
    return None


def _warned(entry: warnings.WarningMessage) -> str:
    message = one_line(Warning(entry.message))
    return f"{entry.category.__name__}: {message} ({Path(entry.filename).name}, line {entry.lineno})"
