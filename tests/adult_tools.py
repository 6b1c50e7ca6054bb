"""The Adult records as published results have them."""

from pathlib import Path

import pandas as pd
import pytest

from defenses import Hierarchy, Microdata
from scenarios import load

QUASI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")
HIERARCHIES = Path(__file__).parents[2] / "shared" / "data" / "adult-hierarchies"


def adult_of_arx(copies: int = 1) -> Microdata:
    """Complete records (any number of times over), with the hierarchies that ARX publishes."""
    if not HIERARCHIES.exists():
        pytest.skip(f"runs where the hierarchies of Adult that ARX publishes lie in {HIERARCHIES}")
    frame = load("adult").records.frame
    frame = frame[(frame[list(QUASI)] != "?").all(axis=1)]
    files = {name: HIERARCHIES / f"adult_hierarchy_{name}.csv" for name in QUASI}
    hierarchies = {name: Hierarchy.from_csv(file, sep=";") for name, file in files.items()}
    frame = pd.concat([frame] * copies, ignore_index=True)
    return Microdata(frame, quasi_identifiers=QUASI, sensitive=("salary-class",), hierarchies=hierarchies)
