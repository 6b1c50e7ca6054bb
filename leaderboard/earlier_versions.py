"""Results that an earlier version of a method played: boards leave them out, and say so."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.number_text import counted
from leaderboard.report import Section, Table
from leaderboard.result import Result, canonical, label
from leaderboard.setting_names import listed
from leaderboard.store import Store

TITLE = "Results of earlier versions, left out"
COLUMNS = ("what changed", "results left out", "of", "played with")
NOTE = (
    "A change of the code or of a default makes a new version. `tokumei run` plays what is left out again; with "
    "--explain it says what changed."
)
DATA = "the data set"
Subject = tuple[str, str, str, str]
"""What has versions: role (``defense``, ``attack`` or ``data``), scenario, name and canonical parameters."""


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """Results of earlier versions of one method, or of one data set, which a board leaves out.

    Parameters
    ----------
    scenario : str
        Name of the scenario.
    subject : str
        Label of the method, such as ``Mondrian k=5``; ``the data set`` if the data changed.
    left_out, results : int
        Number of results of earlier versions, and of all versions.
    met : str
        Labels of the defenses, or for a defense of the attacks, of the results left out.

    Examples
    --------
    >>> met = "AdditiveNoise, Microaggregation"
    >>> print(Earlier(scenario="bank", subject="mine:Guess", left_out=10, results=15, met=met))
    bank: 10 of 15 results of mine:Guess are of an earlier version and left out (with AdditiveNoise, Microaggregation)
    """

    scenario: str
    subject: str
    left_out: int
    results: int
    met: str

    def __str__(self) -> str:
        """One line for a log."""
        what = f"{self.left_out} of {counted(self.results, 'result')} of {self.subject}"
        return f"{self.scenario}: {what} are of an earlier version and left out (with {self.met})"


class Versions:
    """Versions of the methods and data sets of stored results; the last result of each is of its newest version.

    The version of a method is what its results depend on: its name, all its parameters with their defaults, and the
    hashes of its code. Results of databases that did not keep this are of one unknown version.

    Parameters
    ----------
    store : Store
        Database that holds the results.
    results : sequence of Result
        All results of the scenarios in question, in order of insertion.
    """

    def __init__(self, store: Store, results: Sequence[Result]) -> None:
        documents = store.documents({result.parts for result in results if result.parts})
        self._of_parts = {parts: _versions(parts, text) for parts, text in documents.items()}
        self._newest: dict[Subject, str] = {}
        for result in results:
            for subject in _subjects(result):
                self._newest[subject] = self._version(result, subject)

    def current(self, results: Sequence[Result]) -> list[Result]:
        """The results of which every method, and the data set, is of its newest version."""
        return [result for result in results if not any(True for _ in self._outdated(result))]

    def earlier(self, results: Sequence[Result]) -> list[Earlier]:
        """The other ones, counted by the method that has a newer version."""
        total: dict[Subject, int] = defaultdict(int)
        left_out: dict[Subject, list[Result]] = defaultdict(list)
        for result in results:
            for subject in _subjects(result):
                total[subject] += 1
            for subject in self._outdated(result):
                left_out[subject].append(result)
        return [_earlier(subject, left_out[subject], total[subject]) for subject in sorted(left_out)]

    def _outdated(self, result: Result) -> Iterator[Subject]:
        return (subject for subject in _subjects(result) if self._version(result, subject) != self._newest[subject])

    def _version(self, result: Result, subject: Subject) -> str:
        return self._of_parts.get(result.parts, {}).get(subject[0], "")


def earlier_sections(earlier: Sequence[Earlier]) -> list[Section]:
    """Sections of a report: a table for each scenario."""
    return [Section(scenario, tables=tuple(tables)) for scenario, tables in earlier_tables(earlier).items()]


def earlier_tables(earlier: Sequence[Earlier]) -> dict[str, list[Table]]:
    """Tables of the results that a board leaves out, by scenario; none for a scenario that keeps all."""
    rows: dict[str, list[tuple[str, int, int, str]]] = defaultdict(list)
    for one in earlier:
        rows[one.scenario].append((one.subject, one.left_out, one.results, one.met))
    return {scenario: [Table(TITLE, COLUMNS, own, note=NOTE)] for scenario, own in rows.items()}


def _subjects(result: Result) -> Iterator[Subject]:
    yield "data", result.scenario, DATA, "{}"
    yield "defense", result.scenario, result.defense, result.parameters_text
    if result.attack is not None:
        yield "attack", result.scenario, result.attack, result.attack_parameters_text


def _versions(parts: str, text: str) -> Mapping[str, str]:
    """Version by role, from the document of a result's parts."""
    try:
        content: dict[str, Any] = json.loads(text)
        return {role: canonical(content[role]) for role in ("data", "defense", "attack") if role in content}
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"the stored document {parts[:8]} is damaged ({type(error).__name__})") from None


def _earlier(subject: Subject, left_out: Sequence[Result], total: int) -> Earlier:
    role, scenario, name, parameters = subject
    met = (
        [(one.attack, one.attack_parameters) for one in left_out if one.attack is not None]
        if role == "defense"
        else [(one.defense, one.parameters) for one in left_out]
    )
    return Earlier(
        scenario=scenario,
        subject=label(name, json.loads(parameters)),
        left_out=len(left_out),
        results=total,
        met=listed(met) or "no attack",
    )
