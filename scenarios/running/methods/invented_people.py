"""Invented people, and examples of methods whose parameters name their columns."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.random import Generator

from defenses import AdditiveNoise, GlobalRecoding, Hierarchy, Microdata
from defenses.base import Parametrized, TableHierarchy
from metrics.columns import CategoricalDomain, Domain, NumericDomain

Method = TypeVar("Method", bound=Parametrized)
CITIES = ("Kyōto", "Nara|Uji", "Ōsaka", "{Kōbe}", "*")

_EXAMPLES: dict[str, dict[str, Any]] = {
    "EnsembleMembership": {"rounds": 2},
    "LearnedLinkage": {"simulations": 2},
    "LikelihoodRatioAttack": {"shadows": 2},
    "OfflineLikelihoodRatioAttack": {"shadows": 2},
    "OptimalRetentionWithPrior": {"prior": {"illness": [3, 1, 1]}, "epsilon": 1.0, "columns": ["illness"]},
    "Pipeline": {"steps": [AdditiveNoise(columns=["income"]), GlobalRecoding(levels={"city": 1})]},
    "RecordSuppression": {"k": 2, "columns": ["grade"]},
    "RecordSwapping": {"columns": ["city"], "rate": 0.5},
    "ShadowModels": {"shadows": 1},
    "StratifiedSampling": {"by": "grade"},
}
"""Parameters of exported methods that must name a column of the invented people, or would train too many models."""


def example(method: type[Method]) -> Method:
    """An instance of a method that fits the invented people."""
    if method.__name__ in _EXAMPLES and "example" not in vars(method):
        return method(**_EXAMPLES[method.__name__])
    return method.example()


def people(count: int, rng: Generator, *, missing: bool = False, constant: bool = False) -> Microdata:
    """Invented people: an identifier, quasi-identifiers (numbers and categories) and a sensitive column.

    - missing: Leave a tenth of the quasi-identifying cells missing.
    - constant: Make all records equal except for their identifiers.
    """
    ages = rng.integers(18, 96, count)
    frame = pd.DataFrame(
        {
            "name": [f"person {number}" for number in range(count)],
            "age": ages,
            "income": np.round(rng.lognormal(8, 1, count), 2).clip(0, 1e6),
            "city": rng.choice(np.array(CITIES, dtype=object), count),
            "grade": rng.choice(np.array(["low", "middle", "high"], dtype=object), count),
            "illness": rng.choice(np.array(["none", "flu", "cold"], dtype=object), count),
        }
    )
    if constant and count:
        frame.iloc[:, 1:] = frame.iloc[[0] * count, 1:].to_numpy()
        frame = frame.infer_objects().astype({"age": np.int64, "income": float})
    if missing:
        for column in ("age", "income", "city", "grade"):
            frame[column] = frame[column].where(rng.random(count) > 0.1)
    domains, hierarchies = _domains_and_hierarchies()
    return Microdata(
        frame,
        identifiers=("name",),
        quasi_identifiers=("age", "income", "city", "grade"),
        sensitive=("illness",),
        domains=dict(domains),
        hierarchies=dict(hierarchies),
    )


@cache
def _domains_and_hierarchies() -> tuple[dict[str, Domain], dict[str, Hierarchy]]:
    """Domains and hierarchies of the columns, which all tables share, as those of a built-in data set do."""
    decades = list(range(20, 100, 10))
    domains: dict[str, Domain] = {
        "age": NumericDomain(18, 95, integer=True, cuts=tuple(decades[:-1])),
        "income": NumericDomain(0, 1e6, cuts=(500, 1000, 2000, 4000, 8000, 16000)),
        "city": CategoricalDomain(CITIES),
        "grade": CategoricalDomain(("low", "middle", "high"), ordered=True),
        "illness": CategoricalDomain(("none", "flu", "cold")),
    }
    hierarchies: dict[str, Hierarchy] = {
        "age": Hierarchy.from_intervals([decades[:-1], [40, 60, 80], []], 18, 95, integer=True),
        "income": Hierarchy.from_intervals([[1000, 4000, 16000], []], 0, 1e6),
        "city": TableHierarchy([[city, "big" if city == "Ōsaka" else "other", "all"] for city in CITIES]),
        "grade": TableHierarchy([["low", "all"], ["middle", "all"], ["high", "all"]]),
    }
    return domains, hierarchies
