"""The game of pk-anonymity on small columns, and its summary over plays."""

import numpy as np
import pandas as pd

from defenses import Microdata
from metrics import CategoricalDomain
from scenarios import PkAnonymity, summarize_pk
from scenarios.games.playing import play_alone
from scenarios.tables.seeds import generator


def people(categories=("a", "b"), count=50):
    frame = pd.DataFrame({"x": np.resize(np.array(categories, dtype=object), count)})
    return Microdata(frame, quasi_identifiers=("x",), domains={"x": CategoricalDomain(categories)})


def game(size=6, categories=("a", "b")):
    return PkAnonymity(records=people(categories), column="x", size=size)


def played(defense, attack, size, plays, categories=("a", "b")):
    rules = game(size, categories)
    return summarize_pk(
        [play_alone(defense, attack, rules, generator(3, size, number))[2].measures for number in range(plays)]
    )
