"""Questions of a scenario about the same people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scenarios.games.questions.question import Question
from scenarios.games.shared_people import SharedPeople
from scenarios.running.methods.methods import build, exported


def read_questions(table: Mapping[str, Any]) -> list[Question]:
    """Questions of a game's table under ``question``: a name or a table with ``use``, or a list of them.

    Raises
    ------
    ValueError
        If there is none, or a name or a parameter is wrong.
    """
    given = table.get("question", [])
    questions = [_question(one) for one in (given if isinstance(given, list) else [given])]
    if not questions:
        raise ValueError(f"question: name at least one of {', '.join(exported('questions'))}")
    return questions


def _question(given: Any) -> Question:
    described = {"use": given} if isinstance(given, str) else given
    if not isinstance(described, Mapping) or "use" not in described:
        raise ValueError(f"question: must be a name or a table with use, got {given!r}")
    try:
        question: Question = build(described, "questions")
    except ValueError:
        # To look at all games imports all of them, which takes a second.
        if str(described["use"]) in exported("scenarios"):
            raise ValueError(
                f"question: {described['use']} is a game that draws its own people; give it a scenario of its own"
            ) from None
        raise
    return question


def check_questions(games: Sequence[SharedPeople], defenses: Sequence[Any], attacks: Sequence[Any]) -> None:
    """Check that the questions, named defenses and named attacks of a scenario fit each other.

    Raises
    ------
    ValueError
        If two questions have the same goal, a question has no attack or an attack no question, or a defense makes no
        table.
    """
    goals: dict[str, str] = {}
    for game in games:
        name = type(game.question).__name__
        for goal in game.takes:
            if goal in goals:
                raise ValueError(f"{name} and {goals[goal]} are both about {goal}; write one scenario for each")
            goals[goal] = name
        if not any(entry.method.goal in game.takes for entry in attacks):
            raise ValueError(f"{name} is about {' and '.join(game.takes)}, but no [[attack]] of the scenario is")
    for entry in attacks:
        if entry.method.goal not in goals:
            raise ValueError(f"no question is about {entry.method.goal}, the goal of [[attack]] {entry.name}")
    for entry in defenses:
        if entry.method.kind != games[0].accepts:
            raise ValueError(
                f"the questions are about a {games[0].accepts} release, "
                f"but [[defense]] {entry.name} makes {entry.method.kind}"
            )
