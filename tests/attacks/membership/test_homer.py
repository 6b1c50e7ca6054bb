"""Homer's statistic and the marginal likelihood ratio."""

import numpy as np
import pandas as pd
import pytest
from membership_tools import mean_score

from attacks import DistanceToClosestRecord, MarginalLikelihoodRatio
from attacks.base.binary_attributes import BinaryAttributes, homer_scores, likelihood_ratio_scores
from defenses import GaussianCopula, IndependentMarginals
from metrics.columns.domains import CategoricalDomain, NumericDomain
from scenarios import Membership, load


@pytest.mark.long
def test_marginals_give_members_of_synthetic_tables_away():
    # 10 plays of 300 members: standard error of the mean rate below .01; measured .56 and .57.
    game = Membership(records=load("adult").records, members=300, held_out=0)
    for defense in (GaussianCopula(), IndependentMarginals()):
        assert mean_score(defense, MarginalLikelihoodRatio(), game, plays=10) > 0.53
        assert mean_score(defense, MarginalLikelihoodRatio(), game, plays=10) > mean_score(
            defense, DistanceToClosestRecord(), game, plays=10
        )


def test_homers_statistic_is_as_published():
    domains = {"x": CategoricalDomain(("a", "b")), "n": NumericDomain(0, 10, cuts=(5,))}
    attributes = BinaryAttributes(domains)
    people = pd.DataFrame({"x": ["a", "b", None], "n": [1, 7, np.nan]})
    # Columns: a, b, missing; [0, 5), [5, 10], missing.
    yes = np.array([[1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 1]], dtype=float)
    rng = np.random.default_rng(0)
    published, population = rng.random(6), rng.random(6)
    expected = (np.abs(yes - population) - np.abs(yes - published)).sum(axis=1)
    assert homer_scores(attributes, people, published, population) == pytest.approx(expected)
    ratio = yes @ (np.log(published + 0.1) - np.log(population + 0.1))
    assert likelihood_ratio_scores(attributes, people, published, population, 0.1) == pytest.approx(ratio)
    released = pd.DataFrame({"x": ["{a|b}", "a", "b", None], "n": ["[0,10]", "2", "*", None]})
    assert attributes.shares(released)[:3] == pytest.approx([0.375, 0.375, 0.25])
    assert attributes.shares(released).sum() == pytest.approx(2)
