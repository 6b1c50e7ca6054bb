"""Microaggregation of k-means clusters."""

from __future__ import annotations

import numpy as np

from defenses import (
    KMeansMicroaggregation,
    Microaggregation,
)


def within(values: np.ndarray, groups: np.ndarray) -> float:
    return sum(float(((values[groups == g] - values[groups == g].mean()) ** 2).sum()) for g in np.unique(groups))


def test_k_means_groups_are_about_as_alike_as_those_of_mdav() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(2000, 3))
    none = np.zeros((2000, 0), dtype=np.intp)

    def spread(variant: type[Microaggregation]) -> float:
        groups = variant(k=5)._groups(points, none, np.random.default_rng(0))
        return sum(within(column, groups) for column in points.T) / float((points**2).sum())

    # Groups at random would leave 4/5 of the spread.
    assert spread(KMeansMicroaggregation) < 1.15 * spread(Microaggregation) < 0.1
