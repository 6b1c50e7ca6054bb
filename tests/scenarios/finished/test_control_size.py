"""How many control people a report needs."""

import re
from pathlib import Path

import pytest

from metrics.score import Score
from scenarios.finished.control_size import chance_bound, control_words, people_needed
from scenarios.finished.evaluation_setting import most_asked
from scenarios.finished.measured_attack import MeasuredAttack, joint_confidence


@pytest.mark.parametrize("threshold", [0.05, 0.09, 0.2, 0.9])
@pytest.mark.parametrize("sensitive", [0, 1, 3])
def test_one_person_fewer_is_not_enough(threshold, sensitive):
    needed = people_needed(threshold, sensitive)
    assert chance_bound(most_asked(needed), sensitive) <= threshold
    assert chance_bound(most_asked(needed - 1), sensitive) > threshold


def test_the_bound_is_that_of_a_report():
    # 6 attacks on rows, 4 on members, 5 on the sensitive column, 2 that single out and 1 that links.
    outcome = MeasuredAttack(attack="Homer", goal="membership", knows="", score=Score("membership", 0.5, 0.5, 300))
    assert chance_bound(300, 1) == outcome.advantage(joint_confidence(18)).high


def test_thresholds_outside_are_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        people_needed(0.0)


def test_words_say_what_is_enough():
    assert control_words(200, 1000) == (
        "threshold .2: too few, 429 are needed; threshold .09: not within reach, since too few of 1,000 rows can be "
        "attacked"
    )
    assert control_words(429, 5000) == "threshold .2: enough; threshold .09: too few, 2,191 are needed"
    assert control_words(3000, 5000).endswith("threshold .09: enough with `report --targets 1096`")
    # Attacks compare fewer people with the rows of a large table.
    assert control_words(10_000, 1_000_000).startswith("threshold .2: not within reach")


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_page_names_the_numbers_rounded_up(language):
    page = (Path(__file__).parents[3] / "docs/site" / language / "your-table.md").read_text()
    rows = re.findall(r"^\| (\.\d+) \|[^|]*\|\D*([\d,]+)", page, re.MULTILINE)
    assert len(rows) == 3
    for threshold, people in rows:
        needed = people_needed(float(threshold))
        assert needed <= int(people.replace(",", "")) < 1.1 * needed
