"""Downcoding: what a tight generalization gives away, on a construction where it provably does."""

import numpy as np
import pandas as pd
import pytest
from playing_tools import scored

from attacks import Downcoding, Knowledge, NotApplicable
from defenses import CellSuppression, GlobalRecoding, Identity, Incognito, Microdata, MicrodataRelease, Mondrian
from defenses.base.hierarchy import Hierarchy
from metrics import CategoricalDomain, NumericDomain
from scenarios import CellDowncoding
from scenarios.tables.seeds import generator

CITY = CategoricalDomain(("a", "b", "c", "d"))


def people(count, rng):
    frame = pd.DataFrame({"number": rng.permutation(10 * count)[:count], "city": rng.choice(list("abcd"), count)})
    domains = {"number": NumericDomain(0, 10 * count - 1, integer=True), "city": CITY}
    levels = Hierarchy.from_intervals([list(range(10, 10 * count, 10)), []], 0, 10 * count - 1, integer=True)
    return Microdata(frame, quasi_identifiers=("number",), domains=domains, hierarchies={"number": levels})


def scores(defense, count=200, attack=None):
    game = CellDowncoding(records=people(2 * count, generator(0, "people")), originals=count, strangers=1)
    return scored(defense, attack or Downcoding(), game, generator(0, "play"))


def test_classes_of_two_and_three_give_two_thirds_away_for_certain():
    # All numbers differ, so that Mondrian with k = 2 ends in classes of two and three: their ends are right, always.
    results = scores(Mondrian(k=2))
    assert results["downcoding"].trials == 200
    assert results["downcoding"].rate >= 2 / 3
    assert results["downcoding"].chance < 0.3
    assert results.measures["risk_low"] > 0.4


def test_larger_classes_give_away_their_ends():
    results = scores(Mondrian(k=10))
    # Classes of at most 19 rows have two ends.
    assert results["downcoding"].rate >= 2 / 19
    assert results["downcoding"].trials == 200


def test_levels_of_a_whole_column_are_not_tight():
    results = scores(GlobalRecoding(levels=1))
    assert results["downcoding"].rate < scores(Mondrian(k=2))["downcoding"].rate


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("defense", [Incognito(k=5), GlobalRecoding(levels=1), CellSuppression(k=5), Mondrian(k=10)])
def test_it_beats_values_drawn_from_other_people(defense, adult_attributes):
    # Some 1,500 cells a play; measured .03 to .11 above over six plays, with intervals of .01.
    game = CellDowncoding(records=adult_attributes, originals=500)
    results = [scored(defense, Downcoding(), game, generator(play)) for play in range(2)]
    assert np.mean([each["downcoding"].rate - each["downcoding"].chance for each in results]) > 0.01


def test_rows_whose_cells_are_not_tight_follow_the_attackers_own_people():
    # Own people a:b:d = 4:1:1; by Webster three rows get a, a, b (8, 8/3 and 2), and each its own where tight.
    records = Microdata(
        pd.DataFrame({"city": list("aaaabd"), "x": range(6)}), quasi_identifiers=("city",), domains={"city": CITY}
    )
    for cell, expected in (("*", "aab"), ("{a|b|d}", "abd")):
        release = MicrodataRelease(pd.DataFrame({"city": [cell] * 3}), [-1] * 3)
        answers = Downcoding().run(release, Knowledge(records.frame.iloc[:0], records), generator(0))
        assert sorted(answers.values["city"]) == sorted(expected)


def test_a_plain_table_has_nothing_to_refine():
    assert scores(Identity())["downcoding"].rate is None


def test_sets_and_stars_by_hand():
    records = Microdata(
        pd.DataFrame({"city": list("aaabbd"), "x": range(6)}), quasi_identifiers=("city",), domains={"city": CITY}
    )
    release = MicrodataRelease(pd.DataFrame({"city": ["{b|d}", "{b|d}", "{b|d}", "*", "a"]}), [-1] * 5)
    answers = Downcoding().run(release, Knowledge(records.frame.iloc[:0], records), generator(0))
    assert answers.values["city"].tolist() == ["b", "d", "b", "a", None]


def test_suppression_gives_its_attack_no_ends():
    results = scores(CellSuppression(k=5))
    assert results["downcoding"].rate < 0.2


def test_releases_without_a_quasi_identifier_are_refused():
    records = people(20, generator(0))
    stranger = MicrodataRelease(pd.DataFrame({"other": [1]}), [-1])
    with pytest.raises(NotApplicable, match="quasi-identifier"):
        Downcoding().run(stranger, Knowledge(records.frame, records), generator(0))
