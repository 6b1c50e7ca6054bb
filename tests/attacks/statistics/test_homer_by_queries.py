"""Membership inference from the histograms of a curator."""

import numpy as np
import pytest
from membership_tools import mean_score

from attacks import HomerByQueries
from attacks.base.attack import Knowledge, NotApplicable
from defenses import ExactCurator
from scenarios import StatisticsMembership, load


@pytest.mark.thorough
def test_statistics_give_members_away_where_they_are_few():
    # Chance .5; over 4 plays of 50 members the standard error is .035; measured .75.
    game = StatisticsMembership(records=load("adult").records, members=50, held_out=0)
    assert mean_score(ExactCurator(), HomerByQueries(), game, plays=4) > 0.62


def test_a_curator_that_refuses_gives_nobody_away():
    from defenses.base.queries import BudgetSpent

    class Silent:
        remaining, refused = 0.0, 0

        def answer(self, query, epsilon=None):
            raise BudgetSpent("nothing is left")

    game = StatisticsMembership(records=load("adult").records, members=50, held_out=0)
    secret = game.draw(np.random.default_rng(0))
    knowledge = game.knowledge(secret, ExactCurator())
    assert set(HomerByQueries().run(Silent(), knowledge, np.random.default_rng(0)).scores) == {0.0}
    with pytest.raises(NotApplicable, match="people of its own"):
        HomerByQueries().run(
            Silent(), Knowledge(secret.candidates, secret.auxiliary.take([])), np.random.default_rng(0)
        )
    with pytest.raises(ValueError, match="age"):
        HomerByQueries().run(
            Silent(), Knowledge(secret.candidates.drop(columns="age"), secret.auxiliary), np.random.default_rng(0)
        )
