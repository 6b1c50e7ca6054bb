"""Upper bounds of the worst advantage hold as often as they say, with few plays."""

import numpy as np
import pytest

from leaderboard import Result, exposures
from leaderboard.statistics.pairs import FEWEST_TRIALS, Success, design_effects, matrix, sampling_variance
from leaderboard.statistics.play_bounds import LEVEL
from metrics import Score

TABLES, PLAYS, TRIALS, ATTACKS = 200, 3, 500, 8
# With probability .95 and 200 tables, fewer than 179 bounds hold with probability below 0.05 %.
FEWEST_HELD = 179


def trial(defense, attack, play, score, status="ok"):
    common = {"scenario": "bank", "defense": defense, "play": play, "attack": attack, "status": status}
    scores = {} if score is None else {score.goal: score}
    return Result(key=f"{defense}{attack}{play}", scores=scores, **common)


def boards(rng, advantage, control):
    """Tables as defenses of one board: the best of several attacks has this advantage, the others have none."""
    results = []
    for table in range(TABLES):
        for attack in range(ATTACKS):
            for play in range(PLAYS):
                chance = 0.7 if control else 0.5
                rate = chance + (1 - chance) * (advantage if attack == 0 else 0)
                successes = rng.binomial(TRIALS, rate) / TRIALS
                guessed = rng.binomial(TRIALS, chance) / TRIALS if control else chance
                score = Score("attribute", successes, guessed, TRIALS, TRIALS if control else None)
                results.append(trial(f"D{table:03}", f"A{attack}", play, score))
    return results


@pytest.mark.thorough
@pytest.mark.parametrize(("advantage", "control"), [(0.0, False), (0.05, True), (0.4, False)])
def test_the_bound_holds_for_95_of_100_tables(advantage, control):
    rows = exposures(boards(np.random.default_rng(1), advantage, control))
    held = sum(row.overall.upper >= advantage for row in rows)
    assert LEVEL == 0.95
    assert held >= FEWEST_HELD
    # A bound that always holds would be of no use: three plays of 500 people tell .3 from nothing.
    if advantage == 0.0:
        assert np.mean([row.overall.upper for row in rows]) < 0.3


@pytest.mark.thorough
def test_design_effects_of_independent_and_of_shared_draws():
    rng = np.random.default_rng(2)
    independent = matrix(boards(rng, 0.2, True))
    [effect] = design_effects(independent).values()
    assert effect < 1.1
    shared = []
    for table in range(2 * TABLES):
        for play in range(PLAYS):
            rate = np.clip(0.6 + 0.1 * rng.standard_normal(), 0, 1)
            score = Score("membership", rng.binomial(TRIALS, rate) / TRIALS, 0.5, TRIALS)
            shared.append(trial(f"D{table:03}", "A", play, score))
    [effect] = design_effects(matrix(shared)).values()
    # Between plays the variance is .01, within them .24 / 500: the ratio is 1 + .01 * 500 / .24 = 21.8.
    assert 18 < effect < 26


def test_sampling_variance_is_the_variance_of_a_plays_advantage():
    rng = np.random.default_rng(3)
    rates, chances = rng.binomial(400, 0.8, 20_000) / 400, rng.binomial(300, 0.6, 20_000) / 300
    success = Success("attribute", (0.8,), 400, 0.6, 300)
    assert np.var((rates - chances) / (1 - chances)) == pytest.approx(sampling_variance(success), rel=0.05)


def test_attacks_with_too_few_trials_are_not_judged():
    few = [trial("D", "A", play, Score("singling_out", 1.0, 0.0, 1, 1)) for play in range(PLAYS)]
    [row] = exposures(few)
    assert row.overall is None
    assert row.goals == {}
    many = [trial("D", "A", 0, Score("singling_out", 1.0, 0.0, FEWEST_TRIALS, FEWEST_TRIALS))]
    assert exposures(many)[0].overall.advantage == 1.0


def test_failures_count_and_every_goal_has_its_worst_attack():
    results = [
        trial("D", "Weak", 0, Score("membership", 0.6, 0.5, 1000)),
        trial("D", "Strong", 0, Score("membership", 0.9, 0.5, 1000)),
        trial("D", "Links", 0, Score("linkability", 0.3, 0.1, 1000, 1000)),
        trial("D", "Broken", 0, None, "error"),
        Result(key="r", scenario="bank", defense="D", play=0, values={"marginals": 0.5}, seconds=2.0),
    ]
    [row] = exposures(results)
    assert row.failures == 1
    assert row.goals["membership"].attack == "Strong"
    assert row.goals["linkability"].attack == "Links"
    assert row.overall.attack == "Strong"
    assert row.overall.upper >= row.goals["membership"].upper
    assert (row.utility.value, row.release_seconds) == (0.5, 2.0)
