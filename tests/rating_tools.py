"""A small table of ratings, for tests of attacks and defenses on many rows a person."""

import pandas as pd

from metrics.columns.domains import CategoricalDomain, NumericDomain

DOMAINS = {
    "person": CategoricalDomain(("a", "b", "c")),
    "item": CategoricalDomain(("x", "y", "z", "u|v")),
    "rating": NumericDomain(0.5, 5),
    "day": NumericDomain(0, 1000, integer=True),
}
TABLE = pd.DataFrame(
    {
        "person": list("aabbbc"),
        "item": ["x", "y", "x", "y", "u|v", "z"],
        "rating": [5.0, 4.0, 5.0, 1.0, 3.0, 2.0],
        "day": [10, 20, 300, 400, 500, 600],
    }
)
