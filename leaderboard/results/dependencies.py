"""What results depend on besides their play: the methods, the data, the seed, the game, its questions, the scoring."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from leaderboard.results.result import Result, canonical
from leaderboard.results.stored_documents import document_content

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

    Attributes
    ----------
    version : str
        Canonical text of all that counts; empty if it was not kept.
    code : str
        Hash of the document that lists the modules of the code; empty if there is none.
    """

    version: str = ""
    code: str = ""


@dataclass(frozen=True)
class Dependencies:
    """All that a result depends on.

    Attributes
    ----------
    by_role : mapping of str to Dependency
        What was kept, by role.
    question : str
        Class of the question that the attack answers; empty in games without questions.
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

    Raises
    ------
    ValueError
        If the document was changed by others.
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
