"""MAMA-MIA beats one-way marginals where a generator measures pairs, and works without the mechanism."""

import numpy as np
import pytest
from membership_tools import mean_measure

from attacks import MarginalLikelihoodRatio, MarginalMembership
from defenses import PrivateMarginals
from scenarios import Membership


def area(defense, attack, game):
    return mean_measure(defense, attack, game, "membership_auc", plays=2)


@pytest.mark.long
def test_it_beats_single_columns_where_pairs_are_measured(membership_game):
    # Two plays of 120 members; standard error of an area about .025. Measured .84 and .69.
    defense = PrivateMarginals(epsilon=1000)
    learned = area(defense, MarginalMembership(), membership_game)
    assert learned > area(defense, MarginalLikelihoodRatio(), membership_game) + 0.05


@pytest.mark.thorough
def test_mutual_information_weighs_pairs_without_the_mechanism(adult):
    game = Membership(records=adult, members=120, auxiliary=400, held_out=0, attacker_knows="nothing")
    # Chance .5 with a standard error of .025.
    assert area(PrivateMarginals(epsilon=1000), MarginalMembership(rounds=2), game) > 0.6


@pytest.mark.parametrize("rounds", [0, 1.5, np.nan])
def test_bad_rounds_are_refused(rounds):
    with pytest.raises(ValueError, match="rounds"):
        MarginalMembership(rounds=rounds)
