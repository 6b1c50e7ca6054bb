"""Attacks on one release of the training game."""

import numpy as np

from scenarios import Training
from scenarios.games.playing import attack_release, make_release


def played(records, members, defense, attacks, seed=0):
    """Scores of attacks on one release."""
    game = Training(records=records, members=members, held_out=1000)
    secret = game.draw(np.random.default_rng(seed))
    _, published = make_release(defense, game, secret, np.random.default_rng(seed + 1))
    return [
        attack_release(defense, attack, game, secret, published, np.random.default_rng(seed + 2)) for attack in attacks
    ]


def per_play(records, members, defense, attack, name, plays):
    """One measure of an attack, in each of several plays."""
    return [played(records, members, defense, [attack], 10 * number)[0].measures[name] for number in range(plays)]
