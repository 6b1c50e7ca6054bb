"""Columns of some released rows."""

import numpy as np
import pandas as pd
import pytest
from name_tools import named_people, released_texts, with_errors

from attacks import Knowledge
from attacks.base.sides import gower_distance, shared_columns
from defenses import Microdata, MicrodataRelease


@pytest.mark.parametrize("rows", [[0, 3, 6, 7], [5, 5, 1], [2], [4, 0]])
def test_some_rows_of_a_column_have_the_distances_and_cells_of_all(rows):
    """Numbers, intervals, sets, suppressed and missing cells, in any order."""
    released = pd.DataFrame(
        {
            "age": ["[20,30)", "41", None, "*", "{20|41}", "60", "41", "[25,60]"],
            "job": ["a", "{a|b}", None, "b", "*", "a", "{b|}", "a"],
        }
    )
    people = pd.DataFrame({"age": [25.0, 41.0, np.nan, 60.0, 60.0], "job": ["a", "b", None, "a", "b"]})
    columns = shared_columns(MicrodataRelease(released, np.full(8, -1)), Knowledge(people, Microdata(people)))
    some = [column.of_rows(np.array(rows)) for column in columns]
    assert np.array_equal(gower_distance(some), gower_distance(columns)[rows])
    for part, column in zip(some, columns, strict=True):
        assert np.array_equal(part.expand(part.contains()), column.expand(column.contains())[rows])
        assert part.cells.missing.size == np.unique(column.cells.codes[rows]).size


def test_some_rows_of_a_column_have_the_typing_errors_of_all():
    rng = np.random.default_rng(0)
    people = named_people(200, rng)
    release, knowledge = released_texts(with_errors(people, 0.5, rng), people)
    rows = np.array([7, 150, 3, 3])
    found = 0
    for column in shared_columns(release, knowledge):
        if column.errors is None:
            continue
        part = column.of_rows(rows)
        found += part.errors.pairs.cell.size
        levels = column.errors.levels(column.contains().shape)
        assert np.array_equal(part.expand(part.errors.levels(part.contains().shape)), column.expand(levels)[rows])
    assert found
