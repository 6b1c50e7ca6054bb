"""Units of work: one release of one defense in one play, with the attacks on it."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from defenses.base import Guarantee
from leaderboard import Result, Store, canonical
from leaderboard.results.guarantees import guarantee_document, guarantee_name
from scenarios.running.methods import closure, describe, digest, game_settings, sources, versions
from scenarios.running.plan import Plan, column_roles

# Incremented when the meaning of a stored score changes, so that old and new scores are not mixed.
SCORER = 3
# Modules that run between the methods of a play, besides the game.
SCORING = ("scenarios.games.playing", "scenarios.tables.seeds")
DONE = ("ok", "skipped")


@dataclass(frozen=True)
class Unit:
    """One release and the trials on it.

    - defense, play: Index of the defense in the plan, and number of the play.
    - release: Result of the release, still to be filled in, or None if it is already stored.
    - trials: Index of the game, index of the attack, and result to fill in, for each trial to play.
    """

    defense: int
    play: int
    release: Result | None
    trials: tuple[tuple[int, int, Result], ...]

    @property
    def results(self) -> list[Result]:
        """All results that this unit has to fill in."""
        return [*([self.release] if self.release else []), *(result for _, _, result in self.trials)]

    def only(self, numbers: Collection[int]) -> Unit:
        """Return the same unit, restricted to the given positions in `results`."""
        first = 1 if self.release else 0
        return replace(
            self,
            release=self.release if self.release and 0 in numbers else None,
            trials=tuple(trial for position, trial in enumerate(self.trials, first) if position in numbers),
        )


@dataclass(frozen=True)
class Catalogue:
    """All results of a plan; the key of a result is the hash of everything that it depends on.

    `guarantees` has the guarantee of each defense of the plan.
    """

    plan: Plan
    guarantees: tuple[Guarantee, ...]
    _stored_documents: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def units(self) -> Iterator[Unit]:
        """All units in the order of plays, so that the first plays give a complete board."""
        return (_at(template, play) for play in range(self.plan.plays) for template in self._templates)

    @property
    def settings(self) -> list[Result]:
        """A result of each release and trial, without its play."""
        return [result for template in self._templates for result in template.results]

    @cached_property
    def keys(self) -> frozenset[str]:
        """Keys of all results."""
        return frozenset(key_of_play(one.parts, play) for one in self.settings for play in range(self.plan.plays))

    @cached_property
    def documents(self) -> dict[str, str]:
        """JSON documents by hash: everything that results depend on besides the play. Results refer to the hashes."""
        self._templates  # noqa: B018 (adds the documents)
        return self._stored_documents

    @property
    def stated(self) -> dict[str, str]:
        """Documents that say what each defense's guarantee refers to; no result depends on them."""
        records = self.plan.dataset.records
        roles = column_roles(records, self.plan.dataset.left_out)
        return {
            guarantee_name(template.release.parts): guarantee_document(
                guarantee.statement, records.released_columns, roles
            )
            for template, guarantee in zip(self._templates, self.guarantees, strict=True)
            if template.release is not None
        }

    def missing(self, store: Store, *, fresh: bool) -> list[Unit]:
        """Units with the results still to play: all if `fresh`, otherwise those without a stored success or skip."""
        if fresh:
            return list(self.units)
        done = {key for key, status in store.statuses(self.plan.name).items() if status in DONE}
        templates = [(template, [result.parts for result in template.results]) for template in self._templates]
        missing = (
            (play, template, [number for number, part in enumerate(parts) if key_of_play(part, play) not in done])
            for play in range(self.plan.plays)
            for template, parts in templates
        )
        return [_at(template.only(numbers), play) for play, template, numbers in missing if numbers]

    def _document(self, content: Any) -> str:
        """Store a document and return its hash."""
        key = digest(content)
        self._stored_documents[key] = canonical(content)
        return key

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
        """Name, parameters and sources of a method."""
        return {"name": name, "parameters": describe(method), "source": self._document(sources(method))}

    @cached_property
    def _varying(self) -> list[str]:
        """Names of the settings in which the games differ or may differ."""
        settings = [game_settings(game) for game in self.plan.games]
        return [
            name
            for name in settings[0]
            if name in self.plan.games[0].variants or len({canonical(one[name]) for one in settings}) > 1
        ]

    @cached_property
    def _games(self) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """The settings that distinguish each game on the board, and its full description."""
        settings = [game_settings(game) for game in self.plan.games]
        return [
            (
                {} if game.shares_people else {name: one[name] for name in self._varying},
                {"name": type(game).__name__, "parameters": one, "source": self._document(sources(game))},
            )
            for one, game in zip(settings, self.plan.games, strict=True)
        ]

    @cached_property
    def _templates(self) -> tuple[Unit, ...]:
        """Unit of each defense; its results carry the hash of their parts but no key of a play."""
        attacks = [self._method(entry.name, entry.method) for entry in self.plan.attacks]
        return tuple(self._template(number, attacks) for number in range(len(self.plan.defenses)))

    def _template(self, number: int, attacks: list[dict[str, Any]]) -> Unit:
        defense = self.plan.defenses[number]
        game = self._games[0][1]
        shared = {name: value for name, value in game["parameters"].items() if name not in self._varying}
        base = {**self._common, "defense": self._method(defense.name, defense.method)}
        release = Result(
            key="",
            parts=self._document({**base, "game": {**game, "parameters": shared}}),
            scenario=self.plan.name,
            defense=defense.name,
            parameters=defense.parameters,
            guarantee=str(self.guarantees[number]),
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
            for position, attack in self.plan.pairs()
            for (variant, one), entry in [(self._games[position], self.plan.attacks[attack])]
        )
        return Unit(number, 0, release, trials)


def _at(template: Unit, play: int) -> Unit:
    """Return the template as a unit of one play, with the keys of its results."""
    return replace(
        template,
        play=play,
        release=template.release and _keyed(template.release, play),
        trials=tuple((game, attack, _keyed(result, play)) for game, attack, result in template.trials),
    )


def _keyed(result: Result, play: int) -> Result:
    return replace(result, key=key_of_play(result.parts, play), play=play)


def key_of_play(parts: str, play: int) -> str:
    """Key of the result of one play, from the hash of its parts."""
    return hashlib.sha256(f"{parts} {play}".encode()).hexdigest()
