"""Distinguishing two neighbouring tables by the answers of a curator."""

from functools import partial
from math import prod

import pytest
from statistics_tools import rng

from attacks import Distinguishing
from attacks.statistics.distinguishing import DISTINCT, _table, feature
from defenses import Curator, ExactCurator
from scenarios import Indistinguishability, load, play


@pytest.mark.thorough
@pytest.mark.parametrize(("query", "column"), [("Sum", "spending"), ("Mean", "spending"), ("Histogram", "district")])
def test_distinguishing(query, column):
    game = Indistinguishability(records=load("city").records, column=column, query=query, challenges=200)
    exact = play(ExactCurator(), Distinguishing(runs=100), game, rng())
    assert exact.scores["distinguishing"].rate == 1
    assert exact.scores.measures["epsilon_bound"] > 2
    hidden = play(Curator(epsilon=0.05), Distinguishing(runs=100), game, rng())
    # 200 challenges at a half (at most 0.513 under this epsilon): three standard errors are 0.106.
    assert hidden.scores["distinguishing"].rate <= 0.62
    assert hidden.scores.measures["epsilon_bound"] <= 0.05


@pytest.mark.long
def test_distinguishing_bound_never_exceeds_the_claim():
    """Each bound holds with 99.9 %."""
    game = Indistinguishability(records=load("city").records, column="spending", challenges=600)
    outcome = play(Curator(epsilon=3.0), Distinguishing(runs=400), game, rng())
    assert 1 < outcome.scores.measures["epsilon_bound"] <= 3
    assert outcome.scores["distinguishing"].rate > 0.6


@pytest.mark.parametrize("change", [{"runs": 3}])
def test_bad_parameters_are_named(change):
    with pytest.raises(ValueError, match=next(iter(change))):
        Distinguishing(**change)


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_tables_of_any_dimension_are_no_larger_than_one_of_a_single_dimension(dimensions):
    first, second = rng().normal(size=(2, 3000, dimensions))
    table = _table([partial(feature, column) for column in range(dimensions)], first, second)
    _, cuts, cells, *_ = table.args
    assert cells.size <= prod(one.size + 1 for one in cuts) <= DISTINCT
    assert all(one.size >= 2 for one in cuts)
