"""Scores of one play without the utility of its release, which takes two thirds of the time of a play."""

from contextlib import contextmanager
from unittest.mock import patch

from scenarios.games.classifier_membership import ClassifierMembership
from scenarios.games.playing import play_alone
from scenarios.games.table_game import TableGame


@contextmanager
def unmeasured_utility():
    """Draw secrets without a measure of utility, which has a generator of its own: the rest of a play is the same."""
    with (
        patch.object(TableGame, "table_utility", lambda *_: None),
        patch.object(ClassifierMembership, "_auc", lambda *_: None),
    ):
        yield


def scored(defense, attack, game, rng):
    """Scores of one play, the same as `play(...).scores` in a game that fits the methods."""
    with unmeasured_utility():
        return play_alone(defense, attack, game, rng)[2]
