"""Runs conformance checks and gathers what fails, with each reason once."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from metrics.columns import one_line
from scenarios.running.methods.code_places import foreign_place

# The type of conformance checks, and their assertion.


class Check(NamedTuple):
    """A requirement that every method must meet.

    Attributes
    ----------
    title : str
        What is required.
    run : callable
        Raises `AssertionError` with a reason, or the method's own exception, if the requirement is not met.
    """

    title: str
    run: Callable[[], None]


class Prerequisite(Check):
    """A check without which the later ones say nothing: a method that fails it would fail them for the same reason."""


def require(holds: bool, otherwise: str) -> None:
    """Raise AssertionError with the reason `otherwise` unless the condition `holds`."""
    if not holds:
        raise AssertionError(otherwise)


@dataclass(frozen=True)
class Findings:
    """Outcome of the conformance checks of one class.

    Attributes
    ----------
    failures : dict of str to list of str
        Titles of the failed checks, by reason.
    left_out : list of str
        Titles of the checks that were not run, since they need one that failed.
    warned : list of str
        Each warning that the class gave, once, with its line.
    """

    failures: dict[str, list[str]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    warned: list[str] = field(default_factory=list)

    @property
    def failed(self) -> int:
        """Number of failed checks."""
        return sum(map(len, self.failures.values()))


def findings(checks: Iterable[Check], passed: Callable[[str], None]) -> Findings:
    """Run checks in their order; after a failed `Prerequisite`, none.

    Parameters
    ----------
    checks : iterable of Check
        The checks (`scenarios.checks.conformance.suite.checks`).
    passed : callable
        Called with the title of each check that passes.
    """
    found = Findings()
    reasons: dict[str, str] = {}
    remaining = iter(checks)
    with warnings.catch_warnings(record=True) as caught:
        for check in remaining:
            reason = _failure(check)
            if reason is None:
                passed(check.title)
                continue
            # The same mistake on tables of different sizes counts once.
            first = reasons.setdefault(_without_numbers(reason), reason)
            found.failures.setdefault(first, []).append(check.title)
            if isinstance(check, Prerequisite):
                break
    found.left_out.extend(check.title for check in remaining)
    found.warned.extend(dict.fromkeys(map(_warned, caught)))
    return found


def _failure(check: Check) -> str | None:
    """Reason why a check fails, None if it passes."""
    try:
        # What a method prints goes where that of a run's workers goes, apart from the verdicts.
        with redirect_stdout(sys.stderr):
            check.run()
    except (Exception, SystemExit) as error:  # a method under test may raise anything
        place = foreign_place(error)
        # An assertion of the check itself is a sentence of ours; one of the method's code has a place there.
        is_ours = isinstance(error, AssertionError) and not place
        return str(error) if is_ours else f"{type(error).__name__}: {one_line(error)}{place}"
    return None


def _warned(entry: warnings.WarningMessage) -> str:
    message = one_line(Warning(entry.message))
    return f"{entry.category.__name__}: {message} ({Path(entry.filename).name}, line {entry.lineno})"


def _without_numbers(reason: str) -> str:
    """A reason without its numbers, except for that of the line."""
    return re.sub(r"(?<!line )\b[0-9]+\b", "#", reason)
