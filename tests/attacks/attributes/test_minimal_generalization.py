"""Downcoding: what a tight generalization gives away, on a construction where it provably does."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from playing_tools import scored

from attacks import Downcoding, Homogeneity, Knowledge, MajorityInClass, Minimality, NotApplicable
from attacks.attributes.minimal_generalization import _Parts
from defenses import CellSuppression, GlobalRecoding, Identity, Incognito, Microdata, MicrodataRelease, Mondrian
from defenses.base.hierarchy import Hierarchy
from metrics import CategoricalDomain, NumericDomain
from scenarios import CellDowncoding
from scenarios.tables.seeds import generator

DOMAINS = {"zip": NumericDomain(0, 9, integer=True), "ill": CategoricalDomain(("hiv", "no"))}


def table(zips, ills):
    return Microdata(
        pd.DataFrame({"zip": zips, "ill": ills}), quasi_identifiers=("zip",), sensitive=("ill",), domains=DOMAINS
    )


# Two with HIV live in 1, four without in 2: cut apart, both parts would have one value only.
SIX = table([1, 1, 2, 2, 2, 2], ["hiv", "hiv", "no", "no", "no", "no"])


def enumerated(zips, values, diverse=2):
    """Share of HIV for each person over the distinct worlds in which some zip has fewer values than `diverse`."""
    zips = np.asarray(zips)
    worlds = np.array(sorted(set(permutations(values))))
    kept = [world for world in worlds if min(len(set(world[zips == zip_])) for zip_ in set(zips)) < diverse]
    return (np.array(kept) == "hiv").mean(axis=0)


@pytest.mark.thorough
def test_the_posterior_exceeds_one_in_l_and_equals_enumeration():
    release = Mondrian(k=1, l=2).apply(SIX, generator(0, "release"))
    assert set(release.frame["zip"]) == {"[1,2]"}
    expected = enumerated(SIX.frame["zip"], list(SIX.frame["ill"]))
    # 6 of 15 worlds have both in 2, one has both in 1; seven are kept: 1/7 for those in 1, 3/7 for those in 2.
    assert_allclose(expected, [1 / 7] * 2 + [3 / 7] * 4)
    attack = Minimality(l=2, worlds=20000)
    known = Knowledge(SIX.frame[["zip"]], SIX)
    answers = attack.run(release, known, generator(0, "attack"))
    # Standard error of a share among some 9000 kept worlds: .005; 4 of them.
    assert_allclose(answers.confidence, np.maximum(expected, 1 - expected), atol=0.02)
    plain = MajorityInClass().run(release, known, generator(0, "attack"))
    assert_allclose(plain.confidence, 4 / 6)
    assert answers.confidence[0] > 0.8


def test_worlds_that_could_have_been_cut_are_ruled_out_for_certain():
    # One with HIV among three: whoever lives alone cannot be told from l = 2; with two and two of each value,
    # a class of zips 1, 1, 2, 2 was not cut only if both values meet in no zip: 1 has (hiv, hiv) or (no, no).
    four = table([1, 1, 2, 2], ["hiv", "hiv", "no", "no"])
    answers = Minimality(worlds=2000).run(
        MicrodataRelease(pd.DataFrame({"zip": ["[1,2]"] * 4, "ill": four.frame["ill"]}), [-1] * 4),
        Knowledge(four.frame[["zip"]], four),
        generator(0),
    )
    assert_allclose(enumerated([1, 1, 2, 2], ["hiv", "hiv", "no", "no"]), 0.5)
    assert_allclose(answers.confidence, 0.5, atol=0.06)


def test_same_seed_and_strangers_among_the_people():
    release = Mondrian(k=1, l=2).apply(SIX, generator(0, "release"))
    known = Knowledge(pd.DataFrame({"zip": [1, 1, 2, 2, 2, 2, 1, 2, 7]}), SIX)
    first, second = (Minimality(worlds=50).run(release, known, generator(0, "attack")) for _ in range(2))
    pd.testing.assert_frame_equal(first.values, second.values)
    assert np.array_equal(first.confidence, second.confidence)
    assert set(first.about) == set(range(9))


def test_bad_parameters_and_generalized_values_are_refused():
    for name, value in {"l": 1, "worlds": 0}.items():
        with pytest.raises(ValueError, match=name):
            Minimality(**{name: value})
    release = MicrodataRelease(pd.DataFrame({"zip": [1, 2, 2], "ill": ["{hiv|no}", "no", "no"]}), [-1] * 3)
    with pytest.raises(NotApplicable, match="generalized"):
        Minimality().run(release, Knowledge(SIX.frame[["zip"]], SIX), generator(0))
    assert Homogeneity().run(release, Knowledge(SIX.frame[["zip"]], SIX), generator(0)).about.tolist() == [2, 3, 4, 5]


def test_only_worlds_without_a_reason_to_split_are_possible():
    """Random classes, columns and values, compared with a count of each part's values."""
    rng = generator(1)
    owner = np.sort(rng.choice([1, 4, 5, 9], 40))
    codes = rng.integers(3, size=(40, 3))
    answers = []
    for _ in range(30):
        values = rng.integers(-1, 3, size=40) * rng.integers(2, size=40)
        expected = {}
        for class_ in set(owner):
            members = [person for person in range(40) if owner[person] == class_ and values[person] >= 0]
            held = [{} for _ in range(3)]
            for person in members:
                for column in range(3):
                    held[column].setdefault(codes[person, column], set()).add(values[person])
            expected[class_] = all(len(parts) < 2 or min(map(len, parts.values())) < 2 for parts in held)
        possible = _Parts.of(owner, codes).uncuttable(values, 3, 2)
        assert possible.tolist() == [expected[class_] for class_ in owner]
        answers += possible.tolist()
    assert {True, False} == set(answers)


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
