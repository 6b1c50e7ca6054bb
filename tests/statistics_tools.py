"""Tables, generators and disclosure rates for statistics games."""

import numpy as np
import pandas as pd
from playing_tools import scored

from defenses import Microdata
from metrics.columns.domains import NumericDomain


def rng(seed=0):
    return np.random.default_rng(seed)


def city(spending, high=2_000_000):
    return Microdata(
        pd.DataFrame({"spending": spending}), sensitive=("spending",), domains={"spending": NumericDomain(0, high)}
    )


def disclosure_rate(defense, attack, game, plays, seed=0):
    return float(
        np.mean([scored(defense, attack, game, rng(seed + number))["disclosure"].rate for number in range(plays)])
    )


def newcomer_table():
    """100 residents who spend 10,000 on average, and a newcomer with whom the mean is 20,000."""
    residents = 10_000 + np.tile([-5000, 5000], 50)
    return city(np.append(residents, 1_020_000))
