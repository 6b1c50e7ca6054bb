"""Units of work: one release of one defense in one play, and the attacks on it."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from leaderboard.result import Result, canonical
from leaderboard.store import Store
from scenarios.methods import describe
from scenarios.running.fingerprint import closure, digest, sources, versions
from scenarios.running.plan import Plan

# Raised when the meaning of a stored number changes, so that older ones are not mixed with newer ones.
SCORER = 1
# What runs between the methods of a play, beside the game.
SCORING = ("scenarios.games.playing", "scenarios.seeds")
DONE = ("ok", "skipped")


@dataclass(frozen=True)
class Unit:
    """One release and the trials that it feeds.

    Attributes
    ----------
    defense, play : int
        Which of the plan's defenses, and which play.
    release : Result or None
        The release's result, yet to be filled in; None where it is known.
    trials : tuple of (int, int, Result)
        Game, attack and result yet to be filled in, for each trial that is to be played.
    """

    defense: int
    play: int
    release: Result | None
    trials: tuple[tuple[int, int, Result], ...]

    @property
    def results(self) -> list[Result]:
        """Every result that this unit is to fill in."""
        return [*([self.release] if self.release else []), *(result for _, _, result in self.trials)]

    def only(self, numbers: Collection[int]) -> Unit:
        """The same release with those of the results whose positions in `results` are given."""
        first = 1 if self.release else 0
        return replace(
            self,
            release=self.release if self.release and 0 in numbers else None,
            trials=tuple(trial for position, trial in enumerate(self.trials, first) if position in numbers),
        )


@dataclass(frozen=True)
class Catalogue:
    """Every result of a plan, with its key: the hash of everything that it depends on.

    Parameters
    ----------
    plan : Plan
        What is to be played.
    guarantees : tuple of str
        What each defense promises.
    """

    plan: Plan
    guarantees: tuple[str, ...]

    @property
    def units(self) -> Iterator[Unit]:
        """All units, play by play, so that the first plays give a whole board."""
        return (_at(template, play) for play in range(self.plan.plays) for template in self._templates)

    @cached_property
    def keys(self) -> frozenset[str]:
        """Keys of all results."""
        parts = [result.parts for template in self._templates for result in template.results]
        return frozenset(_key(part, play) for play in range(self.plan.plays) for part in parts)

    @cached_property
    def documents(self) -> dict[str, str]:
        """JSON of everything that results depend on beside the play, by the hashes that results and JSON name."""
        self._templates  # noqa: B018 (fills the documents in)
        return self._written

    def missing(self, store: Store, *, fresh: bool) -> list[Unit]:
        """Units with what is still to be played: all of it where `fresh`, else what did not end well before."""
        if fresh:
            return list(self.units)
        known = store.statuses(self.plan.name)
        done = {key for key, status in known.items() if status in DONE}
        templates = [(template, [result.parts for result in template.results]) for template in self._templates]
        left = []
        for play in range(self.plan.plays):
            for template, parts in templates:
                wanted = [number for number, part in enumerate(parts) if _key(part, play) not in done]
                if wanted:
                    left.append(_at(template.only(wanted), play))
        return left

    @cached_property
    def _written(self) -> dict[str, str]:
        return {}

    def _document(self, content: Any) -> str:
        """Keep a document; its hash."""
        name = digest(content)
        self._written[name] = canonical(content)
        return name

    @cached_property
    def _common(self) -> dict[str, Any]:
        plan = self.plan
        return {
            "scenario": plan.name,
            "data": plan.dataset.sha256,
            "seed": plan.seed,
            "scorer": {"version": SCORER, "source": self._document(closure(SCORING))},
            "versions": versions(),
        }

    def _method(self, name: str, method: Any) -> dict[str, Any]:
        """Name, all parameters and sources of a method."""
        return {"name": name, "parameters": describe(method), "source": self._document(sources(method))}

    @cached_property
    def _games(self) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """What tells each game from the others, and everything about it."""
        settings = [dict(game.settings()) for game in self.plan.games]
        told = [
            name
            for name in settings[0]
            if name in self.plan.games[0].variants or len({canonical(s[name]) for s in settings}) > 1
        ]
        return [
            (
                {name: one[name] for name in told},
                {"name": type(game).__name__, "parameters": one, "source": self._document(sources(game))},
            )
            for one, game in zip(settings, self.plan.games, strict=True)
        ]

    @cached_property
    def _templates(self) -> tuple[Unit, ...]:
        """The unit of each defense, its results with the hash of their parts instead of a play's key."""
        attacks = [self._method(entry.name, entry.method) for entry in self.plan.attacks]
        return tuple(self._template(number, attacks) for number in range(len(self.plan.defenses)))

    def _template(self, number: int, attacks: list[dict[str, Any]]) -> Unit:
        defense = self.plan.defenses[number]
        told, game = self._games[0]
        shared = {name: value for name, value in game["parameters"].items() if name not in told}
        base = {**self._common, "defense": self._method(defense.name, defense.method)}
        release = Result(
            key="",
            parts=self._document({**base, "game": {**game, "parameters": shared}}),
            scenario=self.plan.name,
            defense=defense.name,
            parameters=defense.parameters,
            guarantee=self.guarantees[number],
            play=0,
        )
        trials = tuple(
            (
                position,
                attack,
                replace(
                    release,
                    parts=self._document({**base, "game": one, "attack": attacks[attack]}),
                    game=variant,
                    attack=entry.name,
                    attack_parameters=entry.parameters,
                ),
            )
            for position, (variant, one) in enumerate(self._games)
            for attack, entry in enumerate(self.plan.attacks)
        )
        return Unit(number, 0, release, trials)


def _at(template: Unit, play: int) -> Unit:
    """The unit of one play."""
    trials = tuple((game, attack, _keyed(result, play)) for game, attack, result in template.trials)
    release = template.release and _keyed(template.release, play)
    return replace(template, play=play, release=release, trials=trials)


def _keyed(result: Result, play: int) -> Result:
    return replace(result, key=_key(result.parts, play), play=play)


def _key(parts: str, play: int) -> str:
    """Key of one play of what depends on these parts."""
    return hashlib.sha256(f"{parts} {play}".encode()).hexdigest()
