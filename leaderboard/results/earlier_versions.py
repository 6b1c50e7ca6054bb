"""Results of an earlier version of a method, the data, the seed or the game: boards leave them out, and say so."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from leaderboard import Result, Section, StatedGuarantee, Store, Table, canonical, label, stored_guarantees
from leaderboard.pages import counted, table_sections
from leaderboard.results.result import grouped_by
from leaderboard.results.setting_names import listed, settings_named
from leaderboard.results.store import document_content

# What results depend on besides their play: the methods, the data, the seed, the game, its questions, the scoring.

COMMON = {"data": "the data set", "seed": "the seed", "game": "the game", "scorer": "the scoring"}
"""What every result of a scenario depends on, by role, and its name on a board."""
Subject = tuple[str, str, str, str]
"""What has versions: role (one of `COMMON`, ``question``, ``defense``, ``attack``), scenario, name and parameters."""
Named = tuple[str, str, str]
"""Role, scenario and name, whatever the parameters."""
_QUESTION = "question"
"""Setting of a game in which attacks of different goals answer different questions about the same people."""


class Dependency(NamedTuple):
    """What a result depends on by one subject.

    - version: Canonical text of all that counts; empty if it was not kept.
    - code: Hash of the document that lists the modules of the code; empty if there is none.
    """

    version: str = ""
    code: str = ""


@dataclass(frozen=True)
class Dependencies:
    """All that a result depends on.

    - by_role: What was kept, by role.
    - question: Class of the question that the attack answers; empty in games without questions.
    """

    by_role: Mapping[str, Dependency] = field(default_factory=dict)
    question: str = ""

    def of(self, subject: Subject) -> Dependency:
        """What the result depends on by one of its subjects."""
        return self.by_role.get(subject[0], Dependency())

    def subjects(self, result: Result) -> Iterator[Subject]:
        """What has versions, of a result that depends on all this."""
        for role, name in COMMON.items():
            yield role, result.scenario, name, "{}"
        if self.question:
            yield _QUESTION, result.scenario, self.question, "{}"
        yield "defense", result.scenario, result.defense, result.parameters_text
        if result.attack is not None:
            yield "attack", result.scenario, result.attack, result.attack_parameters_text


def dependencies(result: Result, text: str) -> Dependencies:
    """What a result depends on, from the document of its parts.

    Raises ValueError if the document was changed by others.
    """
    content = document_content(result.parts, text)
    found: dict[str, Dependency] = {
        role: Dependency(canonical(content[role]), _source(content[role]))
        for role in ("data", "seed", "scorer", "defense", "attack")
        if role in content
    }
    game = content.get("game")
    if not isinstance(game, Mapping):
        return Dependencies(found)
    given = game.get("parameters")
    settings = given if isinstance(given, Mapping) else {}
    asked = None if _QUESTION in result.game else settings.get(_QUESTION)
    question = str(asked["use"]) if isinstance(asked, Mapping) and "use" in asked else ""
    # Variants of a game, and questions, stand side by side; what they share is of one version.
    own = {*result.game, _QUESTION} if question else {*result.game}
    shared = {name: value for name, value in settings.items() if name not in own}
    # Variants may use different modules: the code counts module by module.
    found["game"] = Dependency(canonical([game.get("name"), shared]), _source(game))
    if question:
        found[_QUESTION] = Dependency(canonical(asked))
        # An attack answers one question of a scenario, so that another one makes another version.
        found["attack"] = Dependency(canonical([content.get("attack"), question]), _source(content.get("attack")))
    return Dependencies(found, question)


def _source(part: Any) -> str:
    return str(part.get("source", "")) if isinstance(part, Mapping) else ""


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
    hashes of its code. A change of a module makes a new version of all settings of a method that uses it, played since
    or not. Data, seed and scoring have versions too, and so has the game, without the settings in which its variants or
    questions differ. Results of databases that did not keep this are of one unknown version.

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
        total = Counter(subject for result in results for subject in self._found(result).subjects(result))
        left_out: dict[Subject, list[Result]] = defaultdict(list)
        for result in results:
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
    return table_sections(earlier_tables(earlier))


def earlier_tables(earlier: Sequence[Earlier]) -> dict[str, list[Table]]:
    """Tables of the results that a board leaves out, by scenario; none for a scenario that keeps all."""
    return {
        scenario: [Table(TITLE, COLUMNS, [(one.subject, one.left_out, one.results, one.met) for one in own], note=NOTE)]
        for scenario, own in grouped_by(earlier, lambda one: one.scenario).items()
    }


def _modules(store: Store, codes: Collection[tuple[Named, str]]) -> dict[str, Mapping[str, str]]:
    """Hash by module, of each document that lists the modules of a method's code."""
    return {
        name: document_content(name, text)
        for name, text in store.documents({code for _, code in codes if code}).items()
    }


def _changed_code(
    codes: Sequence[tuple[Named, str]], modules: Mapping[str, Mapping[str, str]]
) -> set[tuple[Named, str]]:
    """Those of a method's codes, in the order of their last results, that have a module which changed later."""
    newest = {(named, module): text for named, code in codes for module, text in modules.get(code, {}).items()}
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


# What a board shows of a database: results of the newest versions, chosen by scenario, defense and attack.


@dataclass(frozen=True)
class StoredBoard:
    """Results of a board, and what is said beside them.

    Attributes
    ----------
    results : list of Result
        Releases and trials, at most one per release and trial, each method in one version.
    guarantees : list of StatedGuarantee
        What the defenses guarantee.
    earlier : list of Earlier
        What is left out, since it is of an earlier version of a method, or of an earlier seed, data set or game.
    """

    results: list[Result]
    guarantees: list[StatedGuarantee]
    earlier: list[Earlier]


def stored_board(
    store: Store,
    results: Sequence[Result],
    *,
    defenses: Sequence[str] = (),
    attacks: Sequence[str] = (),
) -> StoredBoard:
    """Board of stored results.

    Parameters
    ----------
    store : Store
        Database that holds the results.
    results : sequence of Result
        All results of one or more scenarios, in order of insertion.
    defenses, attacks : sequence of str
        Names of those to keep, as boards show them, with or without parameters. Empty keeps all. Releases meet every
        attack and are kept.

    Raises
    ------
    ValueError
        If there is no defense or attack of a name; the message lists those that are there.
    """
    versions = Versions(store, results)
    played = [(result.defense, result.parameters) for result in results]
    tried = [(result.attack, result.attack_parameters) for result in results if result.attack is not None]
    defended = {setting for name in defenses for setting in settings_named(name, played, "defense")}
    attacked = {setting for name in attacks for setting in settings_named(name, tried, "attack")}
    chosen = [
        result
        for result in results
        if (not defenses or (result.defense, result.parameters_text) in defended)
        and (not attacks or result.attack is None or (result.attack, result.attack_parameters_text) in attacked)
    ]
    current = versions.current(chosen)
    return StoredBoard(current, stored_guarantees(store, current), versions.earlier(chosen))
