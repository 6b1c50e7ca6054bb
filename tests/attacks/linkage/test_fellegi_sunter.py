"""Fellegi-Sunter linkage: comparisons of numbers, and its strength where columns are few."""

import numpy as np
import pandas as pd
import pytest

from attacks import FellegiSunter, Knowledge
from attacks.base.sides import shared_columns
from attacks.linkage.fellegi_sunter import ComparedColumn, agreement
from attacks.linkage.linkage_answers import one_to_one
from defenses import Microdata, MicrodataRelease
from metrics import CategoricalDomain, NumericDomain
from scenarios.tables.seeds import generator


def few_columns(number):
    """120 released rows of 200 people: half of the codes replaced, occupations kept, noise on ages."""
    rng = generator(5, "few columns", number)
    codes, work = [f"c{i:02d}" for i in range(40)], [f"o{i:02d}" for i in range(19)]
    people = pd.DataFrame(
        {"zip": rng.choice(codes, 200), "work": rng.choice(work, 200), "age": rng.integers(18, 90, 200)}
    )
    origin = rng.permutation(200)[:120]
    rows = people.iloc[origin].reset_index(drop=True)
    rows["zip"] = np.where(rng.random(120) < 0.5, rng.choice(codes, 120), rows["zip"])
    rows["age"] = (rows["age"] + rng.normal(0, 2, 120).round()).clip(18, 90).astype(int)
    age = NumericDomain(18, 90, integer=True, cuts=tuple(range(25, 82, 7)))
    domains = {"zip": CategoricalDomain(tuple(codes)), "work": CategoricalDomain(tuple(work)), "age": age}
    return MicrodataRelease(rows, np.full(120, -1)), Knowledge(people, Microdata(people, domains=domains)), origin


def test_fellegi_sunter_comes_near_counting_agreements_where_columns_are_few():
    weighed, counted = [], []
    for number in range(5):
        release, knowledge, origin = few_columns(number)
        best = FellegiSunter().run(release, knowledge, generator(number)).best(generator(number))
        weighed.append((best == origin).mean())
        sides, cuts = (release.frame, knowledge.candidates), knowledge.auxiliary.domains["age"].cuts
        left, right = (side.assign(age=np.searchsorted(cuts, side["age"], side="right")) for side in sides)
        agreements = sum(left[name].to_numpy()[:, None] == right[name].to_numpy() for name in left)
        counted.append((one_to_one(agreements.astype(float)) == origin).mean())
    # Each finds about 70 % of 600 rows. The standard deviation of the difference is at most .027, so .1 exceeds three.
    assert np.mean(weighed) > np.mean(counted) - 0.1


def years_nearly_equal(rows, more, number):
    """Released rows of people with a unique code, and a year that is off by one in a third of the rows.

    The columns in `more` hold words, of which a tenth are replaced. One column always agrees, and one never does.
    """
    rng = generator(6, "years", rows, more, number)
    count = rows * 3 // 2
    words = [f"w{i:02d}" for i in range(20)]
    people = pd.DataFrame(
        {
            "zip": rng.permutation(90000)[:count].astype(str),
            "year": rng.integers(1950, 1990, count),
            **{f"word{i}": rng.choice(words, count) for i in range(more)},
            "country": "X",
            "row": [f"c{i}" for i in range(count)],
        }
    )
    origin = rng.permutation(count)[:rows]
    released = people.iloc[origin].reset_index(drop=True)
    released["row"] = [f"r{i}" for i in range(rows)]
    off = rng.random(rows) < 1 / 3
    released["year"] = np.where(off, (released["year"] + 1).clip(upper=1989), released["year"])
    for i in range(more):
        released[f"word{i}"] = np.where(rng.random(rows) < 0.1, rng.choice(words, rows), released[f"word{i}"])
    domains = {
        name: CategoricalDomain(tuple(sorted({*people[name], *released[name]}))) for name in people if name != "year"
    }
    knowledge = Knowledge(
        people, Microdata(people, domains={**domains, "year": NumericDomain(1950, 1989, integer=True)})
    )
    return MicrodataRelease(released, np.full(rows, -1)), knowledge, origin


@pytest.mark.thorough_beyond(3)
@pytest.mark.parametrize("rows", [10, 30, 100])
@pytest.mark.parametrize("more", [0, 1, 3])
def test_numbers_that_are_nearly_equal_do_not_outweigh_an_exact_column(rows, more):
    # Codes alone name everybody. Years that are off by one are equal to those of other people.
    for number in range(3):
        release, knowledge, origin = years_nearly_equal(rows, more, number)
        best = FellegiSunter().run(release, knowledge, generator(number)).best(generator(number))
        assert (best == origin).mean() == 1


def test_numbers_agree_once():
    people = pd.DataFrame({"age": [21, 22, 60]})
    domains = {"age": NumericDomain(0, 100, integer=True, cuts=(50,))}
    release = MicrodataRelease(pd.DataFrame({"age": [21]}), np.full(1, -1))
    [column] = shared_columns(release, Knowledge(people, Microdata(people, domains=domains)))
    compared = agreement([ComparedColumn(column)], np.zeros(3, dtype=int), np.arange(3))
    assert compared.names == ("age", "age (bins)")
    assert compared.patterns.tolist() == [[1, 0], [0, 1], [0, 0]]


def test_weights_may_be_fitted_to_the_nearest_pairs_alone():
    release, knowledge, origin = few_columns(0)
    best = FellegiSunter(far=0).run(release, knowledge, generator(0)).best(generator(0))
    # Guesses among 200 people name more than six of 120 with probability 4e-6.
    assert (best == origin).sum() > 6
    with pytest.raises(ValueError, match="far"):
        FellegiSunter(far=-1)
