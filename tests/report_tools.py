"""Sketch protocols, rates of report attacks, and a small table of cities."""

import numpy as np
import pandas as pd
from playing_tools import scored

from defenses import LocalReports, Microdata
from metrics.columns.domains import CategoricalDomain
from scenarios.tables.seeds import generator

SKETCHES = ("CountMeanSketch", "HadamardCountMeanSketch")


def mean_rate(game, attack, plays=3, **parameters):
    defense = LocalReports(**parameters)
    scores = [scored(defense, attack, game, generator(7, "play", number)) for number in range(plays)]
    (goal,) = game.takes
    return np.mean([score[goal].rate for score in scores])


def city_table(values, **more):
    """One of two cities for each row, two rows for each person."""
    frame = pd.DataFrame({"city": values, "person": np.arange(len(values)) // 2})
    domain = CategoricalDomain(("Nara", "Uji"))
    return Microdata(frame, identifiers=("person",), **{"domains": {"city": domain}, "person": "person", **more})
