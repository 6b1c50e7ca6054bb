"""Averaging breaks curators without an account.

Seeds are fixed; where a rate over plays is asserted, its distance from the expected value is given in standard errors.
"""

import numpy as np
import pytest
from statistics_tools import city, disclosure_rate, rng

from attacks import Averaging, Differencing
from attacks.statistics.disclosure_by_queries import ask, even_share
from defenses import Curator, UnaccountedCurator
from defenses.base.queries import Mean
from scenarios import VisitingHours, load


@pytest.mark.long
@pytest.mark.usefixtures("tables_are_read_once")
def test_averaging_breaks_an_unaccounted_curator_and_no_accounted_one():
    game = VisitingHours(records=load("visits").records, crowd=0.0, weeks=1)
    # The noise of a difference has a standard deviation of 4; of the mean of 300, of 0.23.
    averaging = Averaging(repeats=300)
    assert disclosure_rate(UnaccountedCurator(epsilon=1.0), Differencing(), game, 20) <= 0.6
    assert disclosure_rate(UnaccountedCurator(epsilon=1.0), averaging, game, 5) == 1
    assert disclosure_rate(Curator(epsilon=1.0), averaging, game, 20) <= 0.4


@pytest.mark.long
@pytest.mark.usefixtures("tables_are_read_once")
def test_noise_falls_with_the_root_of_the_questions():
    records = city(np.full(50, 40.0), 100)
    errors = {}
    for repeats in (1, 100):
        answers = []
        for seed in range(30):
            session = UnaccountedCurator(epsilon=1.0).apply(records, rng()).open(rng(seed))
            answers.append(np.mean([session.answer(Mean("spending")) for _ in range(repeats)]))
        errors[repeats] = np.std(answers)
    # Standard deviations of 30 draws of Laplace noise are off by about 20 %; three standard errors of the ratio: 60 %.
    assert 4 <= errors[1] / errors[100] <= 25


def test_a_spent_budget_is_used_as_far_as_it_goes():
    game = VisitingHours(records=load("visits").records, weeks=1)
    secret = game.draw(rng())
    session = Curator(epsilon=1e6, queries=4).apply(secret.records, rng()).open(rng())
    claims = Averaging(repeats=50).run(session, secret.known, rng())
    assert session.refused == 96
    assert claims.values["value"][0] is not None
    spent = Curator(epsilon=1.0, queries=1).apply(secret.records, rng()).open(rng())
    spent.answer(secret.known.targets[0].queries[0])
    assert even_share(spent, 2) is None
    assert ask(spent, secret.known.targets[0].queries[0], 1.0) is None
    claims = Averaging(repeats=2).run(spent, secret.known, rng())
    assert claims.values["value"][0] is None
    scores = game.score(secret, None, claims, rng())
    assert scores["disclosure"].rate == scores.measures["answered"] == 0
    assert scores.measures["precision"] is None


@pytest.mark.parametrize("change", [{"repeats": 0}, {"repeats": 1.5}])
def test_bad_parameters_are_named(change):
    with pytest.raises(ValueError, match=next(iter(change))):
        Averaging(**change)
