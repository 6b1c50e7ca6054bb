"""Majority in class on a table made by hand."""

import numpy as np
import pandas as pd
import pytest
from illness_tools import rates
from letter_tools import aged_people
from numpy.testing import assert_allclose
from playing_tools import scored

from attacks import CompositionAttack, Knowledge, MajorityInClass, NotApplicable
from attacks.attributes.majority_in_class import OtherRelease
from defenses import Constant, MicrodataRelease, Mondrian
from scenarios import Intersection
from scenarios.tables.seeds import generator


def test_majority_on_twelve_rows_exactly():
    # All four of the first class, two of four in the tied second, three of four in the third.
    # Strangers: one of the four covered by the first class, half each of the two in the second, and the two beyond
    # all classes are nearest to the third, whose majority has a cold.
    assert_allclose(rates(MajorityInClass()), [9 / 12, (1 + 1) / 8])


def test_two_hospitals_by_hand():
    # The source's example in small: 28 years old, in both; only one illness stands in both classes.
    first = MicrodataRelease(pd.DataFrame({"age": ["[20,29]"] * 3, "ill": ["a", "b", "c"]}), [-1] * 3)
    second = MicrodataRelease(pd.DataFrame({"age": ["[25,34]"] * 3, "ill": ["c", "d", "e"]}), [-1] * 3)
    records = aged_people(10, generator(0))
    known = OtherRelease(pd.DataFrame({"age": [28]}), records, None, second)
    answers = CompositionAttack().run(first, known, generator(0))
    assert answers.values["ill"].tolist() == ["c"]
    assert answers.confidence.tolist() == [1.0]
    disjoint = MicrodataRelease(second.frame.assign(ill=["d", "e", "f"]), [-1] * 3)
    answers = CompositionAttack().run(first, OtherRelease(known.candidates, records, None, disjoint), generator(0))
    assert sorted(answers.values["ill"]) == ["a", "b", "c"]
    assert answers.weight.sum() == pytest.approx(1)
    with pytest.raises(NotApplicable, match="second release"):
        CompositionAttack().run(first, Knowledge(known.candidates, records), generator(0))


def intersection_rates(defense, attack, plays=3):
    game = Intersection(
        records=aged_people(4000, generator(0, "people")), originals=500, overlap=250, strangers=250, auxiliary=10
    )
    scores = [scored(defense, attack, game, generator(0, "play", number)) for number in range(plays)]
    named = [each["attribute"] for each in scores]
    return [float(np.mean([getattr(score, name) for score in named])) for name in ("rate", "chance")]


@pytest.mark.thorough
def test_the_second_release_adds_to_the_first():
    alone, _ = intersection_rates(Mondrian(k=5, strict=False), MajorityInClass())
    both, control = intersection_rates(Mondrian(k=5, strict=False), CompositionAttack())
    # 750 people: 4 standard deviations of a difference of shares are at most .1.
    assert both > alone + 0.1
    assert both > control + 0.3
    # Ten illnesses, equally frequent and independent of all else: a stranger's is named by chance.
    assert abs(control - 0.1) < 4 * np.sqrt(0.09 / 750)


def test_nothing_comes_of_two_constant_tables():
    both, control = intersection_rates(Constant(), CompositionAttack())
    assert abs(both - control) < 4 * np.sqrt(2 * 0.09 / 750)
