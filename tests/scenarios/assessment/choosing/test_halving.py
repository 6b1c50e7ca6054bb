"""Rounds of a choice: who is played on, and how many fresh plays are enough."""

from dataclasses import replace

import pytest

from leaderboard.statistics.exposure import Exposure, WorstAttack
from metrics import Estimate
from scenarios.assessment.choosing.choice import clearly_over, finalists, fresh_plays, front, nearest, survivors

BOUND = 0.1


def setting(name, utility, advantage, upper):
    worst = WorstAttack("membership", "Homer", {}, advantage, upper, 1, lower=2 * advantage - upper)
    return Exposure("mine", "", name, {}, "", Estimate(utility, 0, 1, 5), {}, worst, 0, 0.0, 0.0)


LIGHT = setting("Light", 0.9, 0.8, 0.85)
LIKELY = setting("Likely", 0.7, 0.08, 0.3)
MIDDLE = setting("Middle", 0.5, 0.05, 0.2)
SAFE = setting("Safe", 0.3, 0.01, 0.09)
USELESS = setting("Useless", 0.0, 0.0, 0.02)


def names(chosen):
    return [one.defense for one in chosen]


def test_settings_clearly_above_the_bound_are_dropped():
    assert clearly_over(LIGHT, BOUND)
    assert not any(clearly_over(one, BOUND) for one in (LIKELY, MIDDLE, SAFE))
    assert names(survivors([USELESS, SAFE, LIGHT, MIDDLE, LIKELY], BOUND, 5)) == ["Likely", "Middle", "Safe", "Useless"]


def test_the_most_useful_are_kept_and_the_safe_one_beside_them():
    assert names(survivors([USELESS, SAFE, LIGHT, MIDDLE, LIKELY], BOUND, 2)) == ["Likely", "Safe"]


def test_without_a_safe_setting_the_safest_stays():
    assert names(survivors([LIGHT, setting("Bad", 0.95, 0.9, 0.95)], BOUND, 3)) == ["Light"]


def test_failed_settings_are_never_chosen():
    assert survivors([replace(SAFE, failures=1)], BOUND, 3) == []
    assert finalists([replace(SAFE, failures=1), replace(MIDDLE, utility=None)], BOUND) == []


def test_settings_that_nothing_is_known_of_are_played_on():
    unknown = replace(LIKELY, overall=None)
    assert names(survivors([unknown, LIGHT, SAFE], BOUND, 3)) == ["Likely", "Safe"]
    assert finalists([unknown], BOUND) == []


def test_finalists_are_within_the_bound_as_measured():
    assert names(finalists([USELESS, SAFE, LIGHT, MIDDLE, LIKELY], BOUND)) == ["Likely", "Middle", "Safe"]
    assert finalists([LIGHT], BOUND) == []


@pytest.mark.parametrize("most", [1000, 40])
def test_fresh_plays_shrink_the_widest_interval_to_the_bound(most):
    # (u - a) / (b - (a + u) / 2) = 0.25 / 0.125 = 2, and 4 x 2 squared is 16. Student's quantile with 18 degrees of
    # freedom is 2.101 instead of 1.960 at level 1 - 0.05 / 2: 16 x 1.149 = 18.4, so 19 plays are enough and 18 are not.
    wide = setting("Wide", 0.7, 0.25, 0.5)
    assert fresh_plays([wide, SAFE], 4, 0.5, most) == 19
    # 0.5 / 0.125 = 4, and 4 x 4 squared is 64; Student's quantile makes it 64 x 1.038 = 66.4.
    assert fresh_plays([wide, setting("Wider", 0.7, 0.125, 0.625)], 4, 0.5, most) == min(most, 67)


def test_as_many_fresh_plays_as_the_last_round_at_least():
    assert fresh_plays([USELESS], 4, BOUND, 40) == 4
    assert fresh_plays([USELESS], 4, BOUND, 3) == 3


def test_the_front_rises_in_utility_and_in_risk():
    dominated = setting("Dominated", 0.2, 0.01, 0.5)
    assert names(front([LIGHT, dominated, SAFE, USELESS])) == ["Useless", "Safe", "Light"]


def test_settings_that_a_report_would_refuse_only_fill_places_that_are_left():
    candidates = [USELESS, SAFE, MIDDLE, LIKELY]

    def refused(one):
        return one.defense in ("Likely", "Safe")

    assert names(survivors(candidates, BOUND, 2, refused)) == ["Middle", "Useless"]
    assert names(survivors(candidates, BOUND, 3, refused)) == ["Likely", "Middle", "Useless"]
    assert names(finalists(candidates, BOUND, refused)) == ["Middle", "Useless"]


def test_the_nearest_setting_is_useful_and_not_refused():
    candidates = [USELESS, SAFE, MIDDLE, LIKELY]
    useful = sorted((one for one in candidates if one.utility.value >= 0.05), key=lambda one: one.overall.upper)
    assert nearest(candidates, 0.05) is useful[0]
    assert nearest(candidates, 0.05, lambda one: one is useful[0]) is useful[1]
    assert nearest([replace(one, failures=1) for one in candidates], 0.05) is None
    assert nearest([], 0.05) is None
