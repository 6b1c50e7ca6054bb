"""Plays in this process: scores without utility (two thirds of the time of a play), and stored trials again."""

from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from unittest.mock import patch

import numpy as np

from leaderboard.results.store import identity
from scenarios.games.classifier_membership import ClassifierMembership
from scenarios.games.playing import attack_release, make_release, play_alone
from scenarios.games.table_game import TableGame
from scenarios.running.workers.worker import Ending, Worker


@contextmanager
def unmeasured_utility():
    """Draw secrets without a measure of utility, which has a generator of its own: the rest of a play is the same."""
    with (
        patch.object(TableGame, "table_utility", lambda *_: None),
        patch.object(ClassifierMembership, "_auc", lambda *_: None),
    ):
        yield


def secret_of(game, rng):
    """The secret of a game, for tests that ask for no utility."""
    with unmeasured_utility():
        return game.draw(rng)


def scored(defense, attack, game, rng):
    """Scores of one play, the same as `play(...).scores` in a game that fits the methods."""
    with unmeasured_utility():
        return play_alone(defense, attack, game, rng)[2]


def scored_together(defense, attack, game, seed):
    """Scores as `scored` with this seed, on a release that all attacks share, with what they simulate and learn of it.

    The game has been drawn before an attack could choose.
    """
    with unmeasured_utility():
        secret, published = _published(defense, _Same(game), seed)
        return attack_release(defense, attack, game, secret, published, np.random.default_rng(seed).spawn(4)[3])


@dataclass(frozen=True, eq=False)
class _Same:
    """A game that equals itself alone: games are equal whose tables have one size."""

    game: TableGame

    def __eq__(self, other):
        return self.game is other.game

    def __hash__(self):
        return id(self.game)


@lru_cache(maxsize=8)
def _published(defense, same, seed):
    _, draw_rng, release_rng, _ = np.random.default_rng(seed).spawn(4)
    secret = same.game.draw(draw_rng, None)
    return secret, make_release(defense, same.game, secret, release_rng)[1]


def replay(catalogue, results):
    """Stored trials that the catalogue still has, each with the outcome of its play in this process."""
    wanted = {identity(result): result for result in results}
    worker = Worker(catalogue.plan)
    replays = []
    for unit in catalogue.units:
        part = unit.only([number for number, result in enumerate(unit.results) if identity(result) in wanted])
        endings = [item for item in worker.play(part) if isinstance(item, Ending)] if part.results else []
        replays += [(wanted[identity(part.results[ending.result])], ending) for ending in endings]
    return replays
