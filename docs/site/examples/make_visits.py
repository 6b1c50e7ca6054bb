"""Writes visits.csv: 400 made-up visits to a clinic."""

import numpy as np
import pandas as pd

rng = np.random.default_rng(1)
age = rng.integers(18, 96, 400)
ward = rng.choice(["north", "east", "south"], 400, p=[0.5, 0.3, 0.2])
illness = np.where(rng.random(400) < age / 150, "heart", rng.choice(["flu", "injury"], 400))
pd.DataFrame({"age": age, "ward": ward, "illness": illness}).to_csv("visits.csv", index=False)
