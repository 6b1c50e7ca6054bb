"""The bounds of fresh plays hold as often as they say; sure ones also where some plays show what others do not."""

import numpy as np
import pytest

from leaderboard import Result
from leaderboard.results.result import canonical
from metrics import Score
from scenarios.assessment.choosing.choice import ERROR, bounds_in_plays, confirmed_bounds

BOUND, PLAYS, PEOPLE, TABLES = 0.1, 12, 200, 200
ATTACKS = 6


def simulated_plays(rng, settings, advantage, spread, attacks=ATTACKS):
    """Plays of settings, each with one attack exactly at an advantage; plays differ by `spread` more than by chance."""
    results = []
    for number in range(settings):
        common = {"scenario": "mine", "defense": "Mondrian", "parameters": {"k": number}}
        for attack in range(attacks):
            mean = 0.5 + 0.5 * (advantage if attack == 0 else 0.0)
            rates = rng.binomial(PEOPLE, np.clip(rng.normal(mean, spread, PLAYS), 0, 1)) / PEOPLE
            for play, rate in enumerate(rates):
                scores = {"membership": Score("membership", float(rate), 0.5, PEOPLE)}
                key = f"{number:04}{attack:030}{play:030}"
                results.append(Result(key=key, attack=f"Attack{attack}", play=play, scores=scores, **common))
    return results


def wrongly_confirmed(advantage, spread, seed, attacks=ATTACKS):
    """Share of simulated tables on which some of three settings is said to meet a bound that it exceeds."""
    rng = np.random.default_rng(seed)
    wrong = 0
    for _ in range(TABLES):
        bounds = bounds_in_plays(simulated_plays(rng, 3, advantage, spread, attacks), 3)
        wrong += any(upper <= BOUND for upper in bounds.values())
    return wrong / TABLES


@pytest.mark.thorough
@pytest.mark.long_for("0.03")
@pytest.mark.parametrize("spread", [0.0, 0.03])
def test_a_setting_beyond_the_bound_is_rarely_confirmed(spread):
    # At level 0.05 more than 22 of 200 tables are wrong with probability 0.0002. Further attacks only raise the bound.
    assert wrongly_confirmed(BOUND + 0.001, spread, 5, attacks=2) <= 22 / TABLES


@pytest.mark.thorough
def test_the_check_would_notice_bounds_that_are_too_low():
    # A point estimate instead of a bound would be wrong on more than half of the tables.
    rng = np.random.default_rng(6)
    rates = [
        np.mean(
            [one.scores["membership"].rate for one in simulated_plays(rng, 1, BOUND, 0.0) if one.attack == "Attack0"]
        )
        for _ in range(TABLES)
    ]
    assert np.mean(np.array(rates) * 2 - 1 <= BOUND) > 22 / TABLES


@pytest.mark.long
def test_plays_that_differ_more_on_one_attack_than_on_others_make_its_own_bound_wider():
    # The attack at the bound has a design effect of 4; the average over the six attacks of the setting is 1.5.
    rng = np.random.default_rng(10)
    wrong = 0
    for _ in range(TABLES):
        worst = [one for one in simulated_plays(rng, 1, BOUND + 0.001, 0.06) if one.attack == "Attack0"]
        others = [one for one in simulated_plays(rng, 1, 0.0, 0.0) if one.attack != "Attack0"]
        [upper] = bounds_in_plays(worst + others, 1).values()
        wrong += upper <= BOUND
    # At level 0.05, fewer than 2 or more than 22 of 200 tables are wrong with probability 0.0006 in all.
    assert 2 <= wrong <= 22


def test_one_play_confirms_nothing():
    results = simulated_plays(np.random.default_rng(11), 1, 0.0, 0.0)
    assert set(bounds_in_plays([one for one in results if one.play == 0], 1).values()) == {1.0}
    assert max(bounds_in_plays([one for one in results if one.play < 2], 1).values()) < 1
    assert min(confirmed_bounds([one for one in results if one.play == 0], 1).values()) > 0.9


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(("probability", "plays"), [(0.1, 4), (0.06, 40), (0.3, 12)])
def test_a_release_that_gives_everybody_away_in_few_plays_is_not_said_to_be_sure(probability, plays):
    rng = np.random.default_rng(12)
    clean, wrong = 0, 0
    for _ in range(TABLES):
        bad = rng.random(plays) < probability
        rates = np.where(bad, 1.0, rng.binomial(PEOPLE, 0.005, plays) / PEOPLE)
        common = {"scenario": "mine", "defense": "Mondrian", "attack": "Attack"}
        scores = [{"reidentification": Score("reidentification", float(rate), 0.005, PEOPLE)} for rate in rates]
        results = [Result(key=f"{play:064}", play=play, scores=score, **common) for play, score in enumerate(scores)]
        clean += max(bounds_in_plays(results, 3).values()) <= probability - 0.01
        wrong += max(confirmed_bounds(results, 3).values()) <= probability - 0.01
    # The advantage is the probability of a bad play. The plays without one meet the bound, but not for sure. At level
    # .05 / 3 more than 11 of 200 are wrong with probability 0.0002.
    assert clean > 0 or plays * probability > 3
    assert wrong <= 11


def test_many_clean_plays_confirm_for_sure():
    def plays(count):
        common = {"scenario": "mine", "defense": "Mondrian", "attack": "Attack"}
        scores = {"membership": Score("membership", 0.5, 0.5, PEOPLE)}
        return [Result(key=f"{play:064}", play=play, scores=scores, **common) for play in range(count)]

    assert max(confirmed_bounds(plays(80), 3).values()) <= 0.05 < max(confirmed_bounds(plays(79), 3).values())


@pytest.mark.long
def test_a_setting_within_the_bound_is_usually_confirmed():
    assert wrongly_confirmed(0.0, 0.0, 7) > 0.9


def test_the_worst_attack_decides():
    results = simulated_plays(np.random.default_rng(8), 1, 0.9, 0.0)
    [upper] = bounds_in_plays(results, 1).values()
    alone = bounds_in_plays([one for one in results if one.attack == "Attack0"], 1)
    assert 0.85 < upper == alone["Mondrian", canonical({"k": 0})] < 1


def test_more_settings_make_wider_bounds():
    results = simulated_plays(np.random.default_rng(9), 1, 0.2, 0.0)
    assert max(bounds_in_plays(results, 1).values()) < max(bounds_in_plays(results, 3).values())
    assert ERROR == 0.05


def test_without_results_there_is_no_bound():
    assert bounds_in_plays([], 1) == confirmed_bounds([], 1) == {}
