"""Sketch protocols and rates of report attacks."""

import numpy as np

from defenses import LocalReports
from scenarios import play
from scenarios.seeds import generator

SKETCHES = ("CountMeanSketch", "HadamardCountMeanSketch")


def mean_rate(game, attack, plays=3, **parameters):
    defense = LocalReports(**parameters)
    scores = [play(defense, attack, game, generator(7, "play", number)).scores for number in range(plays)]
    (goal,) = game.takes
    return np.mean([score[goal].rate for score in scores])
