"""Anatomy's groups, and the deFinetti attack that looks across them."""

import numpy as np
import pandas as pd
import pytest

from attacks import DeFinetti, MajorityInClass
from attacks.attributes.definetti import balanced
from defenses import Anatomy, Microdata
from defenses.grouping.anatomy import bucket_groups
from metrics import CategoricalDomain, read_cells
from scenarios import AttributeInference
from scenarios.games.playing import play_alone
from scenarios.seeds import generator

ILLNESSES = CategoricalDomain(tuple("uvwxyz"))


def people(count, rng, follows=0.8):
    """Four columns that each name the illness with probability `follows`, and anything otherwise."""
    illness = rng.integers(6, size=count)
    columns = {
        name: np.where(rng.random(count) < follows, illness, rng.integers(6, size=count))
        for name in ("a", "b", "c", "d")
    }
    letters = np.array(ILLNESSES.categories, dtype=object)
    frame = pd.DataFrame({**{name: letters[codes] for name, codes in columns.items()}, "illness": letters[illness]})
    return Microdata(
        frame,
        quasi_identifiers=tuple(columns),
        sensitive=("illness",),
        domains=dict.fromkeys(frame.columns, ILLNESSES),
    )


@pytest.mark.parametrize("least", [2, 3, 5])
def test_groups_hold_l_different_values(least):
    for number in range(50):
        rng = generator(number, "groups")
        values = rng.integers(6, size=int(rng.integers(30, 60)))
        if np.bincount(values).max() * least > values.size:
            continue
        groups = bucket_groups(values, least, rng)
        sizes = np.bincount(groups)
        assert sizes.min() >= least
        assert len(set(zip(groups, values, strict=True))) == values.size


def test_anatomy_releases_sets_that_hold_the_truth_and_each_value_once():
    records = people(90, generator(0, "people"))
    frame = Anatomy(l=3).apply(records, generator(0, "release")).frame
    assert frame.drop(columns="illness").equals(records.frame.drop(columns="illness"))
    cells = read_cells(frame["illness"], ILLNESSES)
    truth = ILLNESSES.codes(records.frame["illness"])
    assert cells.member[cells.codes, truth].all()
    assert cells.member.sum(axis=1).min() >= 3
    for cell in range(len(cells.member)):
        rows = np.flatnonzero(cells.codes == cell)
        counts = np.bincount(truth[rows], minlength=6)[cells.member[cell]]
        assert counts.min() == counts.max() == rows.size / cells.member[cell].sum()


def test_anatomy_keeps_numbers_and_bars():
    numbers = Microdata(pd.DataFrame({"q": range(6), "s": [1.5, 2, 3, 4, 5, 6]}), ("q",) * 0, ("q",), ("s",))
    cells = Anatomy(l=3).apply(numbers, generator(0)).frame["s"]
    assert all(cell.startswith("{") and cell.count("|") == 2 for cell in cells)
    texts = Microdata(pd.DataFrame({"q": range(4), "s": ["a|b", "c", "a|b", "*"]}), (), ("q",), ("s",))
    released = Anatomy(l=2).apply(texts, generator(0)).frame["s"]
    read_cells(released, CategoricalDomain(("a|b", "c", "*")))
    plain = Anatomy(l=1).apply(texts, generator(0)).frame["s"]
    assert plain.tolist() == ["a\\|b", "c", "a\\|b", "\\*"]


@pytest.mark.parametrize(
    ("frame", "sensitive", "message"),
    [
        ({"q": [1, 2, 3], "s": ["a", "a", "b"]}, ("s",), "more than one in 2"),
        ({"q": [1, 2, 3], "s": ["a", None, "b"]}, ("s",), "row 1"),
        ({"q": [1, 2], "s": ["a", "b"]}, (), "must be named"),
        ({"q": [1, 2], "s": ["a", "b"]}, ("q", "s"), "must be named"),
    ],
)
def test_anatomy_says_what_it_cannot_group(frame, sensitive, message):
    with pytest.raises(ValueError, match=message):
        Anatomy(l=2).apply(Microdata(pd.DataFrame(frame), sensitive=sensitive), generator(0))
    with pytest.raises(ValueError, match="column"):
        Anatomy(l=2, column="x").guarantee(Microdata(pd.DataFrame({"s": ["a", "b"]})))
    with pytest.raises(ValueError, match="column"):
        Anatomy(column=3)


def rate(attack, least, follows, plays=3):
    game = AttributeInference(
        records=people(3000, generator(0, "people"), follows), originals=600, strangers=100, auxiliary=0
    )
    scores = [play_alone(Anatomy(l=least), attack, game, generator(0, "play", number))[2] for number in range(plays)]
    return float(np.mean([each["attribute"] for each in scores]))


@pytest.mark.parametrize("least", [2, 3])
def test_definetti_beats_random_worlds_where_there_is_something_to_learn(least):
    # Random worlds name one in l. The ceiling is what a known model would reach in a group, .98 for l = 2.
    assert rate(DeFinetti(), least, 0.8) > 1 / least + 0.25
    assert rate(DeFinetti(), least, 0.8) > rate(MajorityInClass(), least, 0.8) + 0.1


def test_definetti_comes_to_random_worlds_where_there_is_nothing_to_learn():
    # 1800 people, a third right: 4 standard deviations are .044 (false alarms below 1 in 10,000).
    assert abs(rate(DeFinetti(), 3, 0.0) - 1 / 3) < 0.044


def test_balancing_keeps_rows_and_columns():
    rng = generator(0)
    mass = np.repeat([[0.5, 0.5, 0.0]], 6, axis=0)
    scaled = balanced(rng.random((6, 3)), np.array([0, 0, 1, 1, 1, 1]), mass)
    assert np.allclose(scaled.sum(axis=1), 1)
    assert np.allclose(scaled[:2].sum(axis=0), [1, 1, 0], atol=1e-3)
    assert np.allclose(scaled[2:].sum(axis=0), [2, 2, 0], atol=1e-3)


def test_bad_rounds_are_refused():
    with pytest.raises(ValueError, match="rounds"):
        DeFinetti(rounds=0)
