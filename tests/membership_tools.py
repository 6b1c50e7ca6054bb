"""Mean scores of membership attacks."""

import numpy as np
from playing_tools import scored_together


def mean_score(defense, attack, game, plays=2):
    """Mean rate of correct membership decisions."""
    return np.mean([score["membership"].rate for score in _scores(defense, attack, game, plays)])


def mean_measure(defense, attack, game, name, plays=2):
    """Mean of a further measure, such as the true positive rate at 1 % false positives."""
    return np.mean([score.measures[name] for score in _scores(defense, attack, game, plays)])


def _scores(defense, attack, game, plays):
    return [scored_together(defense, attack, game, seed) for seed in range(plays)]
