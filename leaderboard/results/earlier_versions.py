"""Results of an earlier version of a method, the data, the seed or the game: boards leave them out, and say so."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from leaderboard.pages.number_text import counted
from leaderboard.pages.report import Section, Table
from leaderboard.results.dependencies import COMMON, Dependencies, Named, Subject, dependencies
from leaderboard.results.result import Result, label
from leaderboard.results.setting_names import listed
from leaderboard.results.store import Store
from leaderboard.results.stored_documents import document_content

TITLE = "Results of earlier versions, left out"
COLUMNS = ("what changed", "results left out", "of", "played with")
NOTE = (
    "A change of the code, of a default, of the data, the seed or the game makes a new version. `tokumei run` plays "
    "what is left out again; with --explain it says what changed."
)
_NOT_KEPT = Dependencies()
"""Of results whose parts are not stored."""


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """Results of earlier versions of one method, or of all of a scenario, which a board leaves out.

    Parameters
    ----------
    scenario : str
        Name of the scenario.
    subject : str
        Label of the method, such as ``Mondrian k=5``; ``the data set``, ``the seed``, ``the game``, a question's class
        or ``the scoring`` if that changed.
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
        what = f"{self.left_out} of {counted(self.results, 'result')}"
        seed = self.subject == COMMON["seed"]
        of = "are of an earlier seed" if seed else f"of {self.subject} are of an earlier version"
        return f"{self.scenario}: {what} {of} and left out (with {self.met})"


class Versions:
    """Versions of what stored results depend on; the last result of each method is of its newest version.

    The version of a method is what its results depend on: its name, all its parameters with their defaults, and the
    hashes of its code. A change of a module makes a new version of all settings of a method that uses it, also of those
    that were not played since. Data, seed and scoring have versions too, and so has the game, without the settings in
    which its variants or questions differ. Results of databases that did not keep this are of one unknown version.

    Parameters
    ----------
    store : Store
        Database that holds the results.
    results : sequence of Result
        All results of the scenarios in question, in order of insertion.
    """

    def __init__(self, store: Store, results: Sequence[Result]) -> None:
        documents = store.documents({result.parts for result in results if result.parts})
        # Results of the same parts differ in their plays and their words alone.
        examples = {result.parts: result for result in results}
        self._of_parts = {parts: dependencies(examples[parts], text) for parts, text in documents.items()}
        self._newest: dict[Subject, str] = {}
        last: dict[tuple[Named, str], int] = {}
        for number, result in enumerate(results):
            found = self._found(result)
            for subject in found.subjects(result):
                self._newest[subject] = found.of(subject).version
                last[subject[:3], found.of(subject).code] = number
        self._changed_code = _changed_code(sorted(last, key=last.__getitem__), _modules(store, last))

    def current(self, results: Sequence[Result]) -> list[Result]:
        """The results of which every method, the data, the seed, the game and the scoring are of the newest version."""
        return [result for result in results if not any(True for _ in self._outdated(result))]

    def earlier(self, results: Sequence[Result]) -> list[Earlier]:
        """The other ones, counted by what has a newer version."""
        total: dict[Subject, int] = defaultdict(int)
        left_out: dict[Subject, list[Result]] = defaultdict(list)
        for result in results:
            for subject in self._found(result).subjects(result):
                total[subject] += 1
            for subject in self._outdated(result):
                left_out[subject].append(result)
        return [_earlier(subject, left_out[subject], total[subject]) for subject in sorted(left_out)]

    def _outdated(self, result: Result) -> Iterator[Subject]:
        found = self._found(result)
        return (
            subject
            for subject in found.subjects(result)
            if found.of(subject).version != self._newest[subject]
            or (subject[:3], found.of(subject).code) in self._changed_code
        )

    def _found(self, result: Result) -> Dependencies:
        return self._of_parts.get(result.parts, _NOT_KEPT)


def earlier_sections(earlier: Sequence[Earlier]) -> list[Section]:
    """Sections of a report: a table for each scenario."""
    return [Section(scenario, tables=tuple(tables)) for scenario, tables in earlier_tables(earlier).items()]


def earlier_tables(earlier: Sequence[Earlier]) -> dict[str, list[Table]]:
    """Tables of the results that a board leaves out, by scenario; none for a scenario that keeps all."""
    rows: dict[str, list[tuple[str, int, int, str]]] = defaultdict(list)
    for one in earlier:
        rows[one.scenario].append((one.subject, one.left_out, one.results, one.met))
    return {scenario: [Table(TITLE, COLUMNS, own, note=NOTE)] for scenario, own in rows.items()}


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
