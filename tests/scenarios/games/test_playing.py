"""One play: equal seeds, the order of its steps, the adversary's choice, and methods that do not fit."""

import pandas as pd
import pytest
from playing_tools import scored

from attacks import Differencing, DistanceToClosestRecord, Distinguishing, NearestNeighbour, NotApplicable
from defenses import Curator, ExactCurator, Identity, Microdata, RetentionReplacement
from scenarios import CandidateFile, Indistinguishability, Newcomer, load, play
from scenarios.games.playing import attack_release, make_release, play_alone
from scenarios.tables.seeds import generator


@pytest.fixture
def game():
    records = Microdata(pd.DataFrame({"age": range(18, 78)}), quasi_identifiers=("age",))
    return CandidateFile(records=records, originals=10, candidates=20)


def test_equal_generators_give_equal_outcomes(game):
    defense = RetentionReplacement(retention=0.5)
    first, second, other = (play(defense, NearestNeighbour(), game, generator(seed, "play")) for seed in (1, 1, 2))
    assert first == second != other


def test_a_play_is_its_steps(game):
    defense, attack = RetentionReplacement(retention=0.5), NearestNeighbour()
    secret, release, scores = play_alone(defense, attack, game, generator(3))
    _, draw_rng, release_rng, attack_rng = generator(3).spawn(4)
    again = game.draw(draw_rng)
    assert again.records.frame.equals(secret.records.frame)
    own, published = make_release(defense, game, again, release_rng)
    assert own.frame.equals(release.frame)
    # The game publishes the same rows in another order.
    assert sorted(published.frame["age"]) == sorted(own.frame["age"])
    assert published.frame["age"].tolist() != own.frame["age"].tolist()
    assert attack_release(defense, attack, game, again, published, attack_rng) == scores
    outcome = play(defense, attack, game, generator(3))
    assert (outcome.scores, outcome.utility) == (scores, game.utility(secret, release))
    assert scored(defense, attack, game, generator(3)) == scores


@pytest.mark.parametrize(
    ("defense", "attack", "message"),
    [
        (Curator(epsilon=1.0), NearestNeighbour(), "needs a microdata release, Curator makes statistics"),
        (Identity(), Differencing(), "publishes microdata, Differencing works on statistics"),
        (Identity(), DistanceToClosestRecord(), "is about reidentification, DistanceToClosestRecord about membership"),
    ],
)
def test_methods_that_do_not_fit_are_refused_before_anything_is_drawn(game, defense, attack, message):
    rng = generator(4)
    before = rng.bit_generator.state
    with pytest.raises(NotApplicable, match=message):
        play(defense, attack, game, rng)
    assert rng.bit_generator.state == before
    assert rng.bit_generator.seed_seq.n_children_spawned == 0


def test_the_adversary_chooses_before_the_draw_where_the_game_lets_it():
    game = Indistinguishability(records=load("city").records, column="spending", size=3, challenges=8)
    calls = []

    class Asking(Distinguishing):
        def choose(self, knowledge, rng):
            calls.append(len(knowledge.candidates))
            return super().choose(knowledge, rng)

    assert Asking.goal == "distinguishing"
    scores = play_alone(ExactCurator(), Asking(runs=8), game, generator(5))[2]
    assert calls == [3]
    assert scores["distinguishing"].rate == 1
    calls.clear()

    class Silent(Differencing):
        def choose(self, knowledge, rng):
            raise AssertionError("this game gives no choice")

    play(ExactCurator(), Silent(), Newcomer(records=load("city").records, residents=3), generator(6))
