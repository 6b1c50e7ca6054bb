"""Units of work: one release of one defense in one play, and the attacks on it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from leaderboard.result import Result, canonical
from leaderboard.store import Store
from scenarios.fingerprint import key, source
from scenarios.methods import describe
from scenarios.plan import Plan

# Raised when the meaning of a stored number changes, so that older ones are not mixed with newer ones.
SCORER = 1
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

    def split(self) -> list[Unit]:
        """The same work, one unit a result."""
        alone = [replace(self, release=None, trials=(trial,)) for trial in self.trials]
        return [*([replace(self, trials=())] if self.release else []), *alone]


@dataclass(frozen=True)
class Catalogue:
    """Every result of a plan, with its key.

    Parameters
    ----------
    plan : Plan
        What is to be played.
    guarantees : tuple of str
        What each defense promises.
    """

    plan: Plan
    guarantees: tuple[str, ...]

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """All units, play by play, so that the first plays give a whole board."""
        plan = self.plan
        return tuple(self._unit(defense, play) for play in range(plan.plays) for defense in range(len(plan.defenses)))

    @cached_property
    def keys(self) -> frozenset[str]:
        """Keys of all results."""
        return frozenset(result.key for unit in self.units for result in unit.results)

    def missing(self, store: Store, *, fresh: bool) -> list[Unit]:
        """Units with what is still to be played: all of it where `fresh`, else what did not end well before."""
        if fresh:
            return list(self.units)
        known = store.known(self.keys)
        done = {key for key, status in known.items() if status in DONE}
        left = []
        for unit in self.units:
            trials = tuple(trial for trial in unit.trials if trial[2].key not in done)
            release = unit.release if unit.release and unit.release.key not in done else None
            if release or trials:
                left.append(Unit(unit.defense, unit.play, release, trials))
        return left

    @cached_property
    def _common(self) -> dict[str, Any]:
        plan = self.plan
        return {"scenario": plan.name, "data": plan.dataset.sha256, "seed": plan.seed, "scorer": SCORER}

    @cached_property
    def _identities(self) -> dict[int, list[Any]]:
        """Name, all parameters and source hash of every defense and attack, by `id` of its entry."""
        entries = [*self.plan.defenses, *self.plan.attacks]
        return {
            id(entry): [entry.name, describe(entry.method), source(type(entry.method).__module__)] for entry in entries
        }

    @cached_property
    def _games(self) -> list[tuple[dict[str, Any], dict[str, Any], str]]:
        """What tells each game from the others, all its settings, and its source hash."""
        settings = [dict(game.settings()) for game in self.plan.games]
        told = [name for name in settings[0] if name == "decoys" or len({canonical(s[name]) for s in settings}) > 1]
        return [
            ({name: one[name] for name in told}, one, source(type(game).__module__))
            for one, game in zip(settings, self.plan.games, strict=True)
        ]

    def _unit(self, number: int, play: int) -> Unit:
        defense = self.plan.defenses[number]
        told, settings, game_source = self._games[0]
        base = {
            **self._common,
            "play": play,
            "defense": self._identities[id(defense)],
            "game": [{name: value for name, value in settings.items() if name not in told}, game_source],
        }
        release = Result(
            key=key(**base),
            scenario=self.plan.name,
            defense=defense.name,
            parameters=defense.parameters,
            guarantee=self.guarantees[number],
            play=play,
        )
        trials = [
            (game, attack, self._trial(release, base, game, attack))
            for game in range(len(self.plan.games))
            for attack in range(len(self.plan.attacks))
        ]
        return Unit(number, play, release, tuple(trials))

    def _trial(self, release: Result, base: dict[str, Any], game: int, attack: int) -> Result:
        entry, told = self.plan.attacks[attack], self._games[game][0]
        return replace(
            release,
            key=key(**base, variant=told, attack=self._identities[id(entry)]),
            game=told,
            attack=entry.name,
            attack_parameters=entry.parameters,
        )
