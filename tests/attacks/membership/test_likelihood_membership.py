"""The membership likelihood ratio against enumeration."""

import itertools

import numpy as np
import pandas as pd
import pytest

from attacks import LikelihoodMembership
from attacks.base.attack import Knowledge
from defenses import Microdata, RetentionReplacement
from metrics.columns.domains import CategoricalDomain


def test_the_likelihood_ratio_is_exact_on_a_tiny_table():
    """Against all tables of two records of a population of three, one column under randomized response."""
    domain = CategoricalDomain(("a", "b", "c"))
    defense = RetentionReplacement(retention=0.6)
    population = pd.DataFrame({"x": ["a", "b", "c"]})
    records = Microdata(population.iloc[[0, 1]].reset_index(drop=True), ("x",)[:0], ("x",), (), {"x": domain})
    release = defense.apply(records, np.random.default_rng(4)).view(np.random.default_rng(0))
    keep = np.full((3, 3), 0.2) + 0.4 * np.eye(3)
    seen = [domain.categories.index(cell) for cell in release.frame["x"]]

    def probability(pairs):
        return np.mean([keep[first, seen[0]] * keep[second, seen[1]] for first, second in pairs])

    everybody = list(itertools.product(range(3), repeat=2))
    out = probability(everybody)
    ratios = [
        probability([(x, other) for other in range(3)] + [(other, x) for other in range(3)]) / out for x in range(3)
    ]
    knowledge = Knowledge(population, records.take([]))
    decided = LikelihoodMembership().run(release, knowledge, np.random.default_rng(0)).scores
    assert np.exp(decided) == pytest.approx(ratios)
