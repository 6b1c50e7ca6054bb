"""What a class declares of itself: kind and goal, signatures, parameters."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from attacks.base import Attack, Claims
from defenses import Defense, Release
from defenses.base import Parametrized
from leaderboard.results import canonical, goal_words, in_order, named_goals
from metrics.columns import refuse_any
from scenarios.games import Game, Question
from scenarios.running.methods.invented_people import example
from scenarios.running.methods.methods import described_value, exported
from scenarios.running.methods.source_locations import defined_at
from scenarios.tables.near_names import suggestion

# Names of goals that a user gives, checked against those that there are.


def check_goal_names(names: Iterable[str | None], pursued: Iterable[str], option: str) -> None:
    """Refuse goals that are neither well known nor pursued; None stands for all goals.

    If there is no such goal, a ValueError is raised.

    - names: Goals that a user names.
    - pursued: Goals of games, attacks or results, which users may have defined.
    - option: What named them, for the message.

    Examples
    --------
    >>> check_goal_names(["valeus"], [], "max_advantage")
    Traceback (most recent call last):
    ValueError: max_advantage: there is no goal 'valeus'; did you mean 'values'?
    """
    goals = {*pursued, *named_goals()}
    known = [goal_words(goal).replace(" ", "-") for goal in in_order(goals)]
    refuse_any(
        (name for name in names if name is not None and name not in goals),
        lambda name: f"{option}: there is no goal {name!r}{suggestion(name, known)}",
    )


CALLED: dict[type[Parametrized], tuple[str, ...]] = {
    Attack: ("choose", "run"),
    Defense: ("check", "guarantee", "apply"),
}
"""Methods that games and commands call."""


def known_kinds() -> list[str]:
    """Kinds of release: those of the project, and those of imported classes of the user."""
    return sorted({release.kind for release in _below(Release) if hasattr(release, "kind")})


def known_goals() -> dict[str, set[type[Claims]]]:
    """Goals that a game scores, with the claims that it takes: games of the project, or the user's if imported."""
    exported("scenarios")
    goals: dict[str, set[type[Claims]]] = {}
    for game in _below(Game) + _below(Question):
        # The goals of a game on several questions are those of its questions.
        takes = getattr(game, "takes", None)
        for goal, claims in takes.items() if isinstance(takes, Mapping) else ():
            goals.setdefault(goal, set()).add(claims)
    return dict(sorted(goals.items()))


def check_declarations(method: type[Parametrized], scored: Collection[str] = ()) -> None:
    """Check that the kind of a defense, or the kind and goal of an attack, are known.

    If one is not, a ValueError names it with the nearest known one, and the line of the class.

    - scored: Goals that need no look-up, since some game is known to score them; a look-up imports all games.
    """
    if issubclass(method, Defense | Attack):
        _check_known(method, "kind", known_kinds())
    if issubclass(method, Attack) and method.goal not in scored:
        _check_known(method, "goal", list(known_goals()))


def _check_known(method: type[Parametrized], attribute: str, known: list[str]) -> None:
    value = getattr(method, attribute)
    if value in known:
        return
    advice = suggestion(value, known) if isinstance(value, str) and value else f"; known are {', '.join(known)}"
    raise ValueError(f"{method.__name__}: there is no {attribute} {value!r}{advice}{defined_at(method)}")


def check_signatures(method: type[Parametrized]) -> None:
    """Check that methods take the arguments with which games call them.

    Raises AssertionError if one does not; names the right signature, and the line.
    """
    contract = Attack if issubclass(method, Attack) else Defense
    for name in CALLED[contract]:
        arguments, own = list(inspect.signature(getattr(contract, name)).parameters), getattr(method, name)
        try:
            inspect.signature(own).bind(*arguments)
        except TypeError:
            raise AssertionError(f"the signature must be {name}({', '.join(arguments)}){defined_at(own)}") from None


def check_constructor(method: type[Parametrized]) -> None:
    """Construct the example of a class; an error of the constructor's own passes through.

    Raises AssertionError if a parameter has no default, or no name of its own; names it, and the line.
    """
    for parameter in _parameters(method):
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise AssertionError(
                f"the constructor must name each parameter, and not take {parameter}{constructor_at(method)}"
            )
    unset = [parameter.name for parameter in _parameters(method) if parameter.default is parameter.empty]
    try:
        example(method)
    except TypeError:
        if not unset:
            raise
        raise AssertionError(f"give parameter {unset[0]} a default{constructor_at(method)}") from None


def check_stored(method: type[Parametrized]) -> None:
    """Check that the example of a class stores each parameter under its own name.

    Raises AssertionError if it does not; names the parameter, and the line of the constructor.
    """
    instance = example(method)
    for parameter in _parameters(method):
        if not hasattr(instance, parameter.name):
            raise AssertionError(f"store parameter {parameter.name} as self.{parameter.name}{constructor_at(method)}")


def check_storable(instance: Parametrized) -> None:
    """Check that the values of all parameters can be stored with results.

    Raises ValueError if one is no JSON; names the parameter, and the line of the constructor.
    """
    for name, value in instance.get_params().items():
        try:
            canonical(described_value(value))
        except (TypeError, ValueError):
            raise ValueError(
                f"parameter {name} holds a {type(value).__name__}, which cannot be stored with results; "
                f"take finite numbers, texts, lists, mappings or methods{constructor_at(type(instance))}"
            ) from None


def _below(base: type[Any]) -> list[type[Any]]:
    """Imported classes below a base class, at any depth."""
    classes = base.__subclasses__()
    return classes + [deeper for each in classes for deeper in _below(each)]


def _parameters(method: type[Parametrized]) -> list[inspect.Parameter]:
    return [inspect.signature(method).parameters[name] for name in method.parameter_names()]


def constructor_at(method: type[Parametrized]) -> str:
    """File and line of a constructor, for the end of a message."""
    return defined_at(method.__init__)
