"""How many control people a report needs."""

import re
from pathlib import Path

import numpy as np
import pytest

from metrics.score import Score
from scenarios.assessment.evaluation.control_people import (
    control_words,
    largest_risk,
    people_needed,
    trials_needed,
    upper_bound,
)
from scenarios.assessment.evaluation.evaluation_setting import MeasuredAttack, most_asked, upper_confidence


def attack(risk, trials, controls=None, chance=0.5):
    score = Score("attribute", chance + risk * (1 - chance), chance, trials, controls)
    return MeasuredAttack(attack="Homer", goal="attribute", knows="", score=score)


@pytest.mark.parametrize("threshold", [0.05, 0.09, 0.2, 0.5])
@pytest.mark.parametrize("part", [0, 0.5])
def test_one_person_fewer_is_not_enough(threshold, part):
    risk = part * threshold
    needed = people_needed(threshold, risk)
    assert upper_bound(most_asked(needed), risk) <= threshold
    assert upper_bound(most_asked(needed - 1), risk) > threshold


def test_the_bound_is_that_of_a_report():
    assert upper_bound(300, 0.1) == attack(0.1, 300, 300).advantage(upper_confidence()).high
    assert upper_bound(300, 0.1) < attack(0.1, 300, 300).advantage(upper_confidence(5)).high


@pytest.mark.long
def test_the_upper_end_of_the_first_release_fails_in_a_fortieth():
    # 20,000 estimates of an advantage of exactly .2 by 300 people: the standard error of the share is .0011. Five of
    # these make a false alarm in 10^6 runs. A bound that is far too high would hide how many people are needed.
    rng = np.random.default_rng(0)
    below = 0
    for successes, controls in zip(rng.binomial(300, 0.6, 20_000), rng.binomial(300, 0.5, 20_000), strict=True):
        score = Score("attribute", successes / 300, controls / 300, 300, 300)
        outcome = MeasuredAttack(attack="Homer", goal="attribute", knows="", score=score)
        below += outcome.advantage(upper_confidence()).high < 0.2
    assert 0.02 < below / 20_000 < 0.025 + 5 * 0.0011


def test_all_releases_together_fail_in_a_twentieth():
    errors = [(1 - upper_confidence(number)) / 2 for number in range(1, 10_000)]
    assert sum(errors) == pytest.approx(0.05, rel=1e-3)
    assert sum(errors) < 0.05
    assert errors[0] == pytest.approx(0.025)


@pytest.mark.parametrize(("threshold", "risk"), [(0.0, 0.0), (1.0, 0.0), (float("nan"), 0.0), (0.2, 0.2), (0.2, -0.1)])
def test_numbers_outside_are_refused(threshold, risk):
    with pytest.raises(ValueError, match="must"):
        people_needed(threshold, risk)


@pytest.mark.parametrize("controls", [None, 200])
@pytest.mark.parametrize("chance", [0.2, 0.5])
def test_one_trial_fewer_does_not_show_it(controls, chance):
    needed = trials_needed(attack(0.1, 200, controls, chance), 0.2)

    def shown(trials, number=1):
        repeated = attack(0.1, trials, None if controls is None else trials, chance)
        return repeated.advantage(upper_confidence(number)).high <= 0.2

    assert shown(needed)
    assert not shown(needed - 1)
    assert not shown(needed, number=2)
    assert trials_needed(attack(0.1, 200, controls, chance), 0.2, number=2) > needed


def test_more_people_do_not_help_against_a_risk_above_the_threshold():
    assert trials_needed(attack(0.2, 200), 0.2) is None
    assert trials_needed(attack(0.2 - 1e-9, 200), 0.2) is None
    skipped = MeasuredAttack(attack="Homer", goal="attribute", knows="", reason="there is no column")
    assert trials_needed(skipped, 0.2) is None


def test_the_largest_risk_is_the_last_that_is_shown():
    risk = largest_risk(300, 0.2)
    assert upper_bound(300, risk) <= 0.2 < upper_bound(300, risk + 0.01)
    assert largest_risk(0, 0.2) is None
    assert largest_risk(100, 0.2) is None


def test_words_say_what_is_enough():
    assert control_words(200, 1000) == (
        "threshold .2: too few, 307 are needed even for a risk of 0; threshold .09: too few, 1,727 are needed even for "
        "a risk of 0"
    )
    assert control_words(600, 5000).startswith("threshold .2: enough if the measured risk is at most .05; threshold")
    # Attacks compare fewer people with the rows of a large table.
    assert control_words(10_000, 1_000_000).startswith("threshold .2: not within reach, since attacks are about 50")


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_page_names_the_numbers_rounded_up(language):
    page = (Path(__file__).parents[4] / "docs/site" / language / "your-table.md").read_text()
    rows = re.findall(r"^\| (\.\d+) \|[^|]*\|\D*([\d,]+)[^|]*\|\D*([\d,]+)", page, re.MULTILINE)
    assert len(rows) == 3
    for threshold, *people in rows:
        for risk, written in zip((0.0, float(threshold) / 2), people, strict=True):
            needed = people_needed(float(threshold), risk)
            assert needed <= int(written.replace(",", "")) < 1.1 * needed
