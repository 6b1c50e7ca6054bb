"""Tables of people that tests of utility metrics share."""

from __future__ import annotations

import numpy as np
import pandas as pd

from metrics import CategoricalDomain, NumericDomain

DOMAINS = {"age": NumericDomain(0, 99, True, (25, 50, 75)), "job": CategoricalDomain(("a", "b", "c", "d"))}


def people(n: int, seed: int = 0) -> pd.DataFrame:
    """Random ages, and a job that is determined by the age."""
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, n)
    return pd.DataFrame({"age": age, "job": np.array(list("abcd"), dtype=object)[age // 25]})
