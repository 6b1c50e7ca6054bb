"""Linkage by a classifier of pairs that was trained on simulated releases."""

import numpy as np
import pandas as pd
import pytest

from attacks import Knowledge, LearnedLinkage, NotApplicable
from attacks.base.sides import shared_columns
from attacks.linkage.learned_linkage import column_features
from defenses import Identity, Microdata, MicrodataRelease
from scenarios.tables.seeds import generator


def test_it_needs_the_defense_and_people_of_its_own(bank):
    people = bank.take(np.arange(30))
    release = MicrodataRelease(people.frame, np.full(30, -1))
    with pytest.raises(NotApplicable, match="repeat the defense"):
        LearnedLinkage().run(release, Knowledge(people.frame, people), generator(0))
    with pytest.raises(NotApplicable, match="people of its own"):
        LearnedLinkage().run(release, Knowledge(people.frame, people.take([0]), Identity().apply), generator(0))


@pytest.mark.parametrize(
    ("parameters", "name"),
    [({"penalty": 0}, "penalty"), ({"simulations": 0}, "simulations"), ({"near": 0}, "near"), ({"far": -1}, "far")],
)
def test_bad_parameters_are_refused(parameters, name):
    with pytest.raises(ValueError, match=name):
        LearnedLinkage(**parameters)


def test_random_pairs_may_be_left_out():
    assert (LearnedLinkage(far=0).far, LearnedLinkage(near=1).near) == (0, 1)


def test_features_of_pairs_are_those_of_their_cells_and_values():
    """Numbers, intervals, missing values and categories."""
    released = pd.DataFrame({"age": ["[20,30)", "41", None, "*"], "job": ["a", "{a|b}", None, "b"]})
    people = pd.DataFrame({"age": [25.0, 41.0, np.nan, 60.0, 60.0], "job": ["a", "b", None, "a", "b"]})
    columns = shared_columns(MicrodataRelease(released, np.full(4, -1)), Knowledge(people, Microdata(people)))
    assert [len(column_features(column)) for column in columns] == [5, 2]
    for column in columns:
        cells, values = np.repeat(column.cells.codes, 5), np.tile(column.codes, 4)
        for table, pairs in zip(column_features(column), column_features(column, (cells, values)), strict=True):
            np.testing.assert_array_equal(pairs, table[cells, values])
