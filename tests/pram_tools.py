"""Records and defenses for tests of PRAM."""

import numpy as np
import pandas as pd

from defenses import (
    Microdata,
    OptimalRetention,
    OptimalRetentionByObjective,
    OptimalRetentionByOutput,
    OptimalRetentionFromNoisyHistogram,
    OptimalRetentionWithPrior,
)
from metrics.columns.domains import CategoricalDomain, NumericDomain

JOB = CategoricalDomain(("admin.", "blue|collar", "services", "student"))


AGE = NumericDomain(17, 90, True, (30, 45, 60))


PRIVATE = [OptimalRetentionFromNoisyHistogram, OptimalRetentionByObjective, OptimalRetentionByOutput]


def people(n=400, seed=0, missing=False):
    rng = np.random.default_rng(seed)
    job = rng.choice(np.array(JOB.categories, dtype=object), n, p=[0.6, 0.3, 0.1, 0])
    if missing:
        job[:5] = None
    frame = pd.DataFrame({"name": np.arange(n), "age": rng.integers(17, 91, n), "job": job, "y": rng.integers(0, 2, n)})
    domains = {"age": AGE, "job": JOB, "y": NumericDomain(0, 1, True, (1,))}
    return Microdata(frame, ("name",), ("age", "job"), ("y",), domains)


def every_form(**common):
    yield OptimalRetention(epsilon=2.0, **common)
    yield OptimalRetention(k=20, **common)
    yield OptimalRetentionWithPrior(prior={"age": [1, 2, 3, 4], "job": [3, 2, 1, 1]}, epsilon=2.0, **common)
    for form in PRIVATE:
        yield form(epsilon_matrix=1.0, epsilon_release=2.0, **common)


def _plain(cells):
    if str(cells.iloc[0]).startswith("["):
        return [float(cell[1:].split(",")[0]) for cell in cells]
    return [cell.replace("\\", "") for cell in cells]
