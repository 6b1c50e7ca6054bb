"""Mean scores of membership attacks."""

import numpy as np

from scenarios import play


def mean_score(defense, attack, game, name="membership", plays=2):
    scores = [play(defense, attack, game, np.random.default_rng(seed)).scores[name] for seed in range(plays)]
    return np.mean([score.rate for score in scores])
