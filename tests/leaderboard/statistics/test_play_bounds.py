"""Upper bounds of one attack's advantage hold as often as they say, whichever way its plays vary."""

import numpy as np
import pytest

from leaderboard import GateBounds, Result, exposures, gate_checks
from leaderboard.statistics.pairs import Success, design_effect, matrix, own_design_effect
from leaderboard.statistics.play_bounds import clean_plays, lower_advantage, sure_upper, upper_advantage
from metrics import Score, wilson

RUNS = 150
MOST_WRONG = 16
"""At level .05, more of 150 runs are wrong with probability .0014."""


def trial(defense, play, rate, chance=0.5, trials=200, control=None, goal="membership"):
    score = Score(goal, float(rate), float(chance), trials, control)
    key = f"{defense}{goal}{play}".rjust(64, "0")
    return Result(key=key, scenario="bank", defense=defense, attack="A", play=play, scores={goal: score})


def board(rng, plays, mean, deviation, control):
    """One setting whose plays vary beside six whose plays do not; with a control group, its chance level varies too."""
    results = []
    for number in range(7):
        rates = np.clip(rng.normal(mean, deviation if number == 0 else 0, plays), 0, 1)
        for play, rate in enumerate(rates):
            chance = rng.binomial(200, 0.5) / 200 if control else 0.5
            results.append(trial(f"D{number}", play, rng.binomial(200, rate) / 200, chance, control=control))
    return results


@pytest.mark.long
@pytest.mark.parametrize(
    ("plays", "mean", "deviation", "control"),
    [
        pytest.param(14, 0.8, 0.08, None, marks=pytest.mark.long),
        pytest.param(5, 0.6, 0.1, None, marks=pytest.mark.long),
        (3, 0.7, 0.05, 200),
    ],
)
def test_the_bound_of_a_setting_whose_plays_vary_more_than_those_of_the_others(plays, mean, deviation, control):
    rng = np.random.default_rng(20)
    advantage, missed, passed = (mean - 0.5) / 0.5, 0, 0
    bounds = GateBounds(max_advantage={"membership": advantage - 0.005})
    for _ in range(RUNS):
        results = board(rng, plays, mean, deviation, control)
        [first, *_] = exposures(results)
        [check, *_] = gate_checks(results, bounds)
        missed += first.overall.upper < advantage
        passed += check.passed
    assert missed <= MOST_WRONG
    assert passed <= MOST_WRONG


def test_an_attack_at_chance_level_is_rarely_called_better_although_its_plays_vary():
    rng = np.random.default_rng(21)
    rates = rng.binomial(200, np.clip(rng.normal(0.5, 0.1, (400, 8)), 0, 1)) / 200
    found = [Success("membership", tuple(row), 200, 0.5).above_chance for row in rates]
    controlled = [
        Success("membership", tuple(row), 200, 0.5, 200, control_rates=(0.5,) * 8).above_chance for row in rates
    ]
    # At the one-sided level .025, more than 21 of 400 are called better with probability .0008.
    assert sum(found) <= 21
    assert sum(controlled) <= 21
    assert Success("membership", (0.7, 0.8, 0.75, 0.9), 200, 0.5).above_chance


def test_the_effect_that_others_share_widens_the_bound_of_one_play():
    [alone] = matrix([trial("D0", 0, 0.8)])
    varied = [trial("D1", play, rate) for play, rate in enumerate((0.5, 0.7, 0.9))]
    beside = matrix([trial("D0", 0, 0.8), *varied])[0]
    first, second = (upper_advantage(pair.success("membership"), 0.95) for pair in (alone, beside))
    assert 0.65 < first < 0.7 < second < 1


def test_the_bound_of_one_attack_is_students():
    rates = (0.5, 0.51, 0.52, 0.49)
    upper = upper_advantage(Success("membership", rates, 100_000, 0.5), 0.95)
    mean, deviation = np.mean(rates), np.std(rates, ddof=1)
    students = mean + 2.3534 * deviation / 2  # the quantile of Student's distribution with 3 degrees of freedom
    assert upper == pytest.approx(2 * students - 1, abs=0.0005)


def test_the_bounds_near_zero_and_one_count_trials_by_the_attacks_own_effect():
    few, many = (Success("reidentification", rates, 100, 0.0) for rates in ((0.0, 0.0, 0.1), (1.0, 1.0, 0.9)))
    # Variance of three plays over that of 100 trials; quantiles of Student's (2 degrees of freedom) and the normal one.
    effect = (0.01 / 3) / (1 / 30 * 29 / 30 / 100) * (2.919986 / 1.644854) ** 2
    for success in (few, many):
        assert own_design_effect(success, 0.95) == design_effect(success, 0.95) == pytest.approx(effect, rel=1e-5)
    trials = round(300 / effect)
    assert trials == 9
    expected = wilson(trials / 30, trials, 0.9).high
    assert upper_advantage(few, 0.95) == pytest.approx(expected)
    assert lower_advantage(many, 0.95) == pytest.approx(1 - expected)
    # Neither all trials nor Student's bound come near it.
    assert max(wilson(10, 300, 0.9).high, 1 / 30 + 2.919986 / 30) < 0.5 * expected


def test_an_effect_that_others_share_is_taken_where_it_is_larger():
    rates = (0.4, 0.5, 0.6)
    shared = [
        design_effect(Success("membership", rates, 100, 0.5, shared_effect=one), 0.95) for one in (1.0, 12.0, 13.0)
    ]
    own = 4 * (2.919986 / 1.644854) ** 2
    assert shared == pytest.approx([own, own, 13], rel=1e-5)
    assert design_effect(Success("membership", (0.4,), 100, 0.5, shared_effect=3.0), 0.95) == 3


def test_the_effect_allows_for_the_control_group():
    # Advantage 0.5 in every play, whatever the chance level: plays do not differ.
    chances = np.array([0.1, 0.2, 0.4])
    rates = tuple(0.5 + 0.5 * chances)
    mean = float(chances.mean())
    success = Success("attribute", rates, 100, mean, 100, control_rates=tuple(chances))
    assert own_design_effect(success, 0.95) == pytest.approx(0)


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_claims_that_always_fail_or_succeed_have_no_effect(rate):
    assert own_design_effect(Success("reidentification", (rate, rate), 100, 0.01), 0.95) == 1


@pytest.mark.parametrize("control", [None, 50])
@pytest.mark.parametrize("draw", ["rare", "skewed", "normal"])
def test_sure_bounds_hold_however_plays_vary(draw, control):
    rng = np.random.default_rng(22)
    missed, plays = 0, 20
    for _ in range(RUNS):
        chances = rng.binomial(50, 0.3, plays) / 50
        if draw == "rare":
            advantages = np.where(rng.random(plays) < 0.1, 1.0, 0.0)
        elif draw == "skewed":
            advantages = rng.beta(0.1, 0.9, plays)
        else:
            advantages = np.clip(rng.normal(0.1, 0.02, plays), 0, 1)
        rates = 0.3 + 0.7 * advantages
        success = Success(
            "membership",
            tuple(rates),
            50,
            float(chances.mean()) if control else 0.3,
            control,
            control_rates=tuple(chances) if control else (),
        )
        missed += sure_upper(success, 0.95) < 0.1 - 1e-9
    assert missed <= MOST_WRONG


def test_sure_bounds_with_a_control_group_take_more_plays():
    known = Success("attribute", (0.3,) * 59, 100, 0.3)
    estimated = Success("attribute", (0.3,) * 59, 100, 0.3, 100, control_rates=(0.3,) * 59)
    assert sure_upper(known, 0.95) < 0.05 < sure_upper(estimated, 0.95) < 0.08
    assert sure_upper(Success("attribute", (1.0, 0.3), 100, 0.3), 0.95) == 1
    assert sure_upper(Success("attribute", (1.0, 0.3), 100, 0.0, 100, control_rates=(0.0, 0.0)), 0.95) == 1


@pytest.mark.parametrize("bound", [0.05, 0.1, 0.25, 0.5])
def test_clean_plays_are_the_fewest_that_are_sure(bound):
    needed = clean_plays(bound, 0.95)
    enough, too_few = (Success("membership", (0.5,) * plays, 10, 0.5) for plays in (needed, needed - 1))
    assert sure_upper(enough, 0.95) <= bound < sure_upper(too_few, 0.95)


def test_a_bound_of_zero_or_one():
    assert clean_plays(0.0, 0.95) is None
    assert clean_plays(1.0, 0.95) == 1
