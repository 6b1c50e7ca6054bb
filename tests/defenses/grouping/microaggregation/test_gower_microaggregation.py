"""Microaggregation under Gower's distance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from defenses import (
    GowerMicroaggregation,
    Microdata,
)
from defenses.grouping.microaggregation import mdav


def gower_mdav(points: np.ndarray, codes: np.ndarray, k: int) -> np.ndarray:
    """MDAV word for word under Gower's distance; a category is at its mean distance from the average."""
    group, left, formed = np.full(len(points), -1), list(range(len(points))), 0

    def close_group(start: int) -> int:
        nonlocal formed
        distance = np.abs(points - points[start]).sum(axis=1) + (codes != codes[start]).sum(axis=1)
        members = sorted(left, key=lambda i: distance[i])[:k]
        for member in members:
            group[member] = formed
            left.remove(member)
        formed += 1
        return max(left, key=lambda i: distance[i], default=-1)

    def farthest() -> int:
        mean = points[left].mean(axis=0)
        return max(left, key=lambda i: np.abs(points[i] - mean).sum() + (codes[left] != codes[i]).mean(axis=0).sum())

    while len(left) >= 3 * k:
        close_group(close_group(farthest()))
    if len(left) >= 2 * k:
        close_group(farthest())
    group[left] = formed
    return group


@pytest.mark.parametrize("seed", range(8))
def test_gower_groups_are_those_of_the_published_algorithm(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(5, 80)), int(rng.integers(1, 6))
    numbers, codes = rng.random((n, 2)), rng.integers(0, 4, (n, 2))
    result = mdav.groups(numbers, k, codes, distance="absolute")
    expected = gower_mdav(numbers, codes, k)
    pairs = set(zip(result.tolist(), expected.tolist(), strict=True))
    assert len(pairs) == result.max() + 1 == expected.max() + 1


def test_gower_does_not_let_an_outlier_rule() -> None:
    # By squares the millionaire is alone in her corner whatever the job; by Gower a job weighs as much as her range.
    table = pd.DataFrame({"income": [0, 1, 0, 1, 0, 1000.0], "job": list("xyxyxy")})
    records = Microdata(table, quasi_identifiers=("income", "job"))
    release = GowerMicroaggregation(k=3).apply(records, np.random.default_rng(0))
    assert release.frame["job"].tolist() == list("xyxyxy")
    with pytest.raises(ValueError, match="distance must be one of 'squared', 'absolute'"):
        mdav.groups(np.zeros((2, 1)), 1, distance="gower")
