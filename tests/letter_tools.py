"""People whose illness is a letter, for tests of attacks on a sensitive value."""

import numpy as np
import pandas as pd

from defenses import Microdata
from metrics import CategoricalDomain, NumericDomain

ILLNESSES = CategoricalDomain(tuple("uvwxyz"))


def lettered_people(count, rng, follows=0.8):
    """Four columns that each name the illness with probability `follows`, and anything otherwise."""
    illness = rng.integers(6, size=count)
    columns = {
        name: np.where(rng.random(count) < follows, illness, rng.integers(6, size=count))
        for name in ("a", "b", "c", "d")
    }
    letters = np.array(ILLNESSES.categories, dtype=object)
    frame = pd.DataFrame({**{name: letters[codes] for name, codes in columns.items()}, "illness": letters[illness]})
    return Microdata(
        frame,
        quasi_identifiers=tuple(columns),
        sensitive=("illness",),
        domains=dict.fromkeys(frame.columns, ILLNESSES),
    )


ILL = CategoricalDomain(tuple("abcdefghij"))


def aged_people(count, rng):
    """Age and height, and an illness that is independent of both."""
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 100, count),
            "height": rng.integers(140, 200, count),
            "ill": rng.choice(np.array(ILL.categories, dtype=object), count),
        }
    )
    domains = {"age": NumericDomain(0, 99, True), "height": NumericDomain(140, 199, True), "ill": ILL}
    return Microdata(frame, quasi_identifiers=("age", "height"), sensitive=("ill",), domains=domains)
