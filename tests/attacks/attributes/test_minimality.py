"""The minimality attack against enumeration on a table in the manner of its source."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from attacks import Homogeneity, Knowledge, MajorityInClass, Minimality, NotApplicable
from attacks.attributes.minimality import _Parts
from defenses import Microdata, MicrodataRelease, Mondrian
from metrics import CategoricalDomain, NumericDomain
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
