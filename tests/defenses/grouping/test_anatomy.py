"""Anatomy's groups and cells."""

import numpy as np
import pandas as pd
import pytest
from letter_tools import ILLNESSES, lettered_people

from defenses import Anatomy, Microdata
from defenses.grouping.anatomy import bucket_groups
from metrics import CategoricalDomain, read_cells
from scenarios.tables.seeds import generator


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
    records = lettered_people(90, generator(0, "people"))
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
