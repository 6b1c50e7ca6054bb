"""Mean scores of membership attacks."""

import numpy as np

from scenarios import play


def mean_score(defense, attack, game, name="membership", plays=2):
    return np.mean([play(defense, attack, game, np.random.default_rng(seed)).scores[name] for seed in range(plays)])
