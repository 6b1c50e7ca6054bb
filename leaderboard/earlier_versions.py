"""Results that an earlier version of a method played: boards leave them out, and say so."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from leaderboard.number_text import counted
from leaderboard.report import Section, Table
from leaderboard.result import Result, canonical, label
from leaderboard.setting_names import listed
from leaderboard.store import Store
from leaderboard.stored_documents import document_content

TITLE = "Results of earlier versions, left out"
COLUMNS = ("what changed", "results left out", "of", "played with")
NOTE = (
    "A change of the code or of a default makes a new version. `tokumei run` plays what is left out again; with "
    "--explain it says what changed."
)
DATA = "the data set"
Subject = tuple[str, str, str, str]
"""What has versions: role (``defense``, ``attack`` or ``data``), scenario, name and canonical parameters."""
Named = tuple[str, str, str]
"""Role, scenario and name, whatever the parameters."""


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


class _Part(NamedTuple):
    """What a result depends on by a method, or by the data set.

    Attributes
    ----------
    version : str
        Canonical text of all that counts; empty if it was not kept.
    code : str
        Hash of the document that lists the modules of the code; empty if there is none.
    """

    version: str
    code: str


class Versions:
    """Versions of the methods and data sets of stored results; the last result of each is of its newest version.

    The version of a method is what its results depend on: its name, all its parameters with their defaults, and the
    hashes of its code. A change of a module makes a new version of all settings of a method that uses it, also of those
    that were not played since. Results of databases that did not keep this are of one unknown version.

    Parameters
    ----------
    store : Store
        Database that holds the results.
    results : sequence of Result
        All results of the scenarios in question, in order of insertion.
    """

    def __init__(self, store: Store, results: Sequence[Result]) -> None:
        documents = store.documents({result.parts for result in results if result.parts})
        self._of_parts = {parts: _parts(parts, text) for parts, text in documents.items()}
        self._newest: dict[Subject, str] = {}
        last: dict[tuple[Named, str], int] = {}
        for number, result in enumerate(results):
            for subject in _subjects(result):
                self._newest[subject] = self._version(result, subject)
                last[subject[:3], self._code(result, subject)] = number
        self._changed_code = _changed_code(sorted(last, key=last.__getitem__), _modules(store, last))

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
        return (
            subject
            for subject in _subjects(result)
            if self._version(result, subject) != self._newest[subject]
            or (subject[:3], self._code(result, subject)) in self._changed_code
        )

    def _version(self, result: Result, subject: Subject) -> str:
        return self._part(result, subject).version

    def _code(self, result: Result, subject: Subject) -> str:
        return self._part(result, subject).code

    def _part(self, result: Result, subject: Subject) -> _Part:
        return self._of_parts.get(result.parts, {}).get(subject[0], _Part("", ""))


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


def _modules(store: Store, codes: Collection[tuple[Named, str]]) -> dict[str, Mapping[str, str]]:
    """Hash by module, of each document that lists the modules of a method's code."""
    documents = store.documents({code for _, code in codes if code})
    return {name: document_content(name, text) for name, text in documents.items()}


def _changed_code(
    codes: Sequence[tuple[Named, str]], modules: Mapping[str, Mapping[str, str]]
) -> set[tuple[Named, str]]:
    """Those of a method's codes, in the order of their last results, that have a module which changed later."""
    newest: dict[tuple[Named, str], str] = {}
    for named, code in codes:
        newest.update({(named, module): text for module, text in modules.get(code, {}).items()})
    return {
        (named, code)
        for named, code in codes
        if any(newest[named, module] != text for module, text in modules.get(code, {}).items())
    }


def _parts(name: str, text: str) -> dict[str, _Part]:
    """What a result depends on by role, from the document of its parts."""
    content = document_content(name, text)
    parts = {role: content[role] for role in ("data", "defense", "attack") if role in content}
    return {
        role: _Part(canonical(part), str(part.get("source", "")) if isinstance(part, Mapping) else "")
        for role, part in parts.items()
    }


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
