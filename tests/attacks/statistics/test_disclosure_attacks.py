"""All disclosure attacks: numbers from sums and means, same seed same result, misfits."""

import numpy as np
import pytest
from playing_tools import scored
from statistics_tools import rng

from attacks import Averaging, Differencing, Distinguishing, NotApplicable, Reconstruction
from defenses import Curator, ExactCurator
from scenarios import (
    Indistinguishability,
    Newcomer,
    SecretNumbers,
    load,
    play,
)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("attack", [Differencing(), Averaging(repeats=2), Reconstruction()])
@pytest.mark.parametrize("query", ["Sum", "Mean"])
def test_sums_and_means_give_numbers_away(query, attack):
    game = SecretNumbers(records=load("bank").records, column="age", above=39.5, query=query, persons=60)
    outcome = play(ExactCurator(), attack, game, rng())
    assert outcome.scores["disclosure"].rate == 1
    assert outcome.utility["utility_answers"] == 1
    hidden = [scored(Curator(epsilon=0.1), attack, game, rng(seed)) for seed in range(3)]
    # 3 plays of 60 at the larger side's share: three standard errors are 0.11.
    assert np.mean([scores["disclosure"].rate - scores["disclosure"].chance for scores in hidden]) <= 0.11


def test_a_game_without_challenges_is_none_for_distinguishing(bits):
    secret = bits.draw(rng())
    with pytest.raises(NotApplicable, match="challenges"):
        Distinguishing().run(None, secret.known, rng())
    game = Newcomer(records=load("city").records)
    with pytest.raises(NotApplicable, match="groups"):
        play(ExactCurator(), Reconstruction(), game, rng())
    plain = Indistinguishability(records=load("city").records, column="spending").briefing(ExactCurator(), rng())
    with pytest.raises(NotApplicable, match="secret"):
        Differencing().run(None, plain, rng())


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("attack", [Differencing(), Averaging(repeats=2), Reconstruction(queries_per_person=1)])
def test_same_seed_same_result(bits, attack):
    assert play(Curator(), attack, bits, rng(3)) == play(Curator(), attack, bits, rng(3))
