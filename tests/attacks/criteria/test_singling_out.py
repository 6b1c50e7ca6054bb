"""Singling out: predicates of hand-made tables, exact rates on a copy, nothing on independent data."""

import numpy as np
import pandas as pd
import pytest
from playing_tools import scored

from attacks import Knowledge, MultivariateSinglingOut, Predicates, UnivariateSinglingOut
from attacks.criteria.singling_out import AtLeast, AtMost, Conjunction, Covered, records_met
from defenses import GaussianCopula, Identity, Microdata, MicrodataRelease
from metrics import CategoricalDomain, NumericDomain
from scenarios import SinglingOut
from scenarios.tables.seeds import generator

DOMAINS = {"age": NumericDomain(0, 99, integer=True), "city": CategoricalDomain(("a", "b", "c", "d"))}
TABLE = pd.DataFrame({"age": [20, 20, 31, 42, 53, 53, 64], "city": ["a", "a", "b", "c", "c", "c", None]})


def microdata(frame=TABLE):
    return Microdata(frame, quasi_identifiers=("age", "city"), domains=DOMAINS)


def predicates(attack, frame=TABLE):
    release = MicrodataRelease(frame, np.full(len(frame), -1))
    return attack.run(release, Knowledge(frame.iloc[:0], microdata()), generator(0, "attack")).predicates


def rate(claimed, frame):
    return sum(predicate(frame).sum() == 1 for predicate in claimed) / len(claimed)


def test_univariate_on_a_copy_by_enumeration():
    claimed = predicates(UnivariateSinglingOut())
    # Ages 31, 42, 64 and cities b and missing stand once; the smallest age stands twice, the largest once.
    texts = {repr(predicate.predicates[0]) for predicate in claimed}
    expected = [Covered("age", age, DOMAINS["age"]) for age in (31, 42, 64)]
    expected += [Covered("city", city, DOMAINS["city"]) for city in ("b", None)]
    expected += [AtMost("age", 20.0), AtLeast("age", 64.0)]
    assert len(claimed) == len(expected) == 7
    assert {repr(atom).replace("np.int64(", "").replace(")", "") for atom in expected} == {
        text.replace("np.int64(", "").replace(")", "") for text in texts
    }
    assert rate(claimed, TABLE) == 6 / 7


def test_multivariate_on_a_copy_by_enumeration():
    claimed = predicates(MultivariateSinglingOut(columns=2, predicates=100, tries=50))
    # With both columns, the median being 42: row 31 b is met by itself alone, 42 c (at most 42) and 64 missing too;
    # 53 c stands twice, 20 a twice. Every predicate that one row alone meets is found, and no other.
    assert len(claimed) == len(set(claimed)) == 3
    assert rate(claimed, TABLE) == 1


@pytest.mark.parametrize("attack", [UnivariateSinglingOut(), MultivariateSinglingOut(columns=2)])
def test_generalized_cells_are_read(attack):
    released = pd.DataFrame({"age": ["[20,39]", "[20,39]", "[40,69]"], "city": ["{a|b}", "{a|b}", "*"]})
    claimed = predicates(attack, released)
    assert claimed
    assert all(predicate(pd.DataFrame({"age": [45], "city": ["d"]}))[0] for predicate in claimed)
    assert not any(predicate(pd.DataFrame({"age": [30], "city": ["d"]}))[0] for predicate in claimed)


def big(count, rng):
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 100, count),
            "city": rng.choice(["a", "b", "c", "d"], count),
            "income": np.round(rng.lognormal(8, 1, count), 2),
            "weight": rng.normal(70, 10, count).round(1),
        }
    )
    return Microdata(frame, quasi_identifiers=tuple(frame.columns))


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("attack", [UnivariateSinglingOut(), MultivariateSinglingOut(columns=3)])
def test_a_copy_gives_everybody_away_and_independent_rows_nobody(attack):
    population = big(3000, generator(0, "people"))
    game = SinglingOut(records=population, originals=300, auxiliary=300)
    copied = scored(Identity(), attack, game, generator(0, "play"))
    assert copied["singling_out"].rate > 0.97
    assert copied.measures["risk"] > 0.9
    fresh = scored(Independent(), attack, game, generator(0, "play"))
    # Same predicates on two tables of equal law; the interval of the risk holds 0 with 95 %, this seed is fixed.
    assert fresh.measures["risk_low"] <= 0 <= fresh.measures["risk_high"]
    assert fresh["singling_out"].trials == fresh["singling_out"].control_trials
    assert scored(Independent(), attack, game, generator(0, "play")) == fresh


class Independent(Identity):
    """Releases invented people of the same law."""

    def apply(self, records, rng):
        frame = big(len(records), rng).frame
        return MicrodataRelease(frame, np.full(len(frame), -1))


def test_synthetic_rows_play():
    game = SinglingOut(records=big(700, generator(0, "people")), originals=200, auxiliary=100)
    scores = scored(GaussianCopula(), MultivariateSinglingOut(), game, generator(0, "play"))
    assert scores["singling_out"].rate is not None


def test_no_predicate_is_a_rate_of_nothing():
    alike = microdata(pd.DataFrame({"age": [30] * 9, "city": ["a"] * 9}))
    game = SinglingOut(records=alike, originals=4, auxiliary=1)
    assert scored(Identity(), MultivariateSinglingOut(), game, generator(0, "play"))["singling_out"].rate is None
    assert predicates(MultivariateSinglingOut(), TABLE.iloc[:0]) == []
    assert predicates(UnivariateSinglingOut(), TABLE.iloc[:0]) == []


def test_predicates_are_drawn_until_as_many_are_found_as_are_wanted():
    """A round of 256 draws finds about fifteen of the 35 that are wanted."""
    people = big(400, generator(0, "people"))
    release = MicrodataRelease(people.frame, np.full(400, -1))
    knowledge = Knowledge(people.frame.iloc[:0], people)
    attack = MultivariateSinglingOut(columns=2, predicates=35, tries=1)
    claimed = attack.run(release, knowledge, generator(0, "attack")).predicates
    assert len(claimed) == len(set(claimed)) == 35
    assert rate(claimed, people.frame) == 1
    assert len(predicates(MultivariateSinglingOut(columns=2, predicates=10**4, tries=1))) == 3


def test_one_row():
    assert len(predicates(UnivariateSinglingOut(), TABLE.iloc[2:3])) == 4


def test_predicates_are_bounded_and_refused():
    assert len(predicates(UnivariateSinglingOut(predicates=3))) == 3
    for attack, name in ((UnivariateSinglingOut, "predicates"), (MultivariateSinglingOut, "columns")):
        with pytest.raises(ValueError, match=name):
            attack(**{name: 0})
    stranger = MicrodataRelease(TABLE.add_prefix("other "), np.full(7, -1))
    with pytest.raises(ValueError, match="no column"):
        UnivariateSinglingOut().run(stranger, Knowledge(TABLE, microdata()), generator(0))
    assert isinstance(Predicates([Conjunction(())]).predicates[0](TABLE), np.ndarray)


def test_records_are_counted_as_by_each_predicate_alone():
    """Shared atomic predicates, and predicates of other kinds."""
    people = pd.DataFrame({"age": [21, 35, 35, 60], "job": ["cook", "judge", None, "cook"]})
    old, cook = AtLeast("age", 35.0), Covered("job", "cook", CategoricalDomain(("cook", "judge")))
    predicates = [
        Conjunction((old, cook)),
        Conjunction((cook,)),
        lambda frame: (frame["age"] == 35).to_numpy(),
        Conjunction((cook, old)),
        Conjunction(()),
    ]
    assert records_met(predicates, people) == [1, 2, 2, 1, 4]
    assert records_met(predicates, people.iloc[:0]) == [0] * 5
