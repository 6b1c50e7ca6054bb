"""Gower's distance of released cells from candidates' values."""

import numpy as np
import pandas as pd
import pytest
from linkage_tools import (
    small_release,
)

from attacks import (
    Knowledge,
)
from attacks.base.sides import gower_distance, shared_columns
from defenses import (
    Microdata,
    MicrodataRelease,
)
from metrics import NumericDomain


def test_gowers_distance_by_hand():
    columns = shared_columns(*small_release({"age": ["30", "[35,45]", "*"], "job": ["a", "{b|c}", "*"]}))
    # Ages span 40; a cell is as far as the nearest value that it covers.
    assert gower_distance(columns) == pytest.approx(
        np.array([[0.125, 0.625, 0.875, 0.375], [0.6875, 0, 0.1875, 0.6875], [0, 0, 0, 0]])
    )


def test_missing_values_are_far_from_values_and_near_each_other():
    candidates = pd.DataFrame({"age": [20.0, np.nan], "job": ["a", None]})
    columns = shared_columns(*small_release({"age": [20.0, np.nan], "job": ["a", None]}, candidates))
    assert gower_distance(columns) == pytest.approx(np.array([[0, 1], [1, 0]]))


@pytest.mark.parametrize(("integer", "beside", "beyond"), [(True, 1 / 40, 2 / 40), (False, 1e-6, 1 / 40)])
def test_the_open_end_of_a_cell_is_outside_it(integer, beside, beyond):
    candidates = pd.DataFrame({"age": [20.0, 29.0, 30.0, 31.0, 60.0]})
    cells = ["[20,30)", "[30,40)", "{[20,25)|[28,30)}", "[20,30]", "[20,29]"]
    release = MicrodataRelease(pd.DataFrame({"age": cells}), np.full(5, -1))
    domains = {"age": NumericDomain(0, 100, integer=integer)}
    distance = gower_distance(shared_columns(release, Knowledge(candidates, Microdata(candidates, domains=domains))))
    assert distance[0, :4] == pytest.approx([0, 0, beside, beyond])
    assert distance[1, :4] == pytest.approx([10 / 40, 1 / 40, 0, 0])
    assert distance[2, :4] == pytest.approx([0, 0, beside, beyond])
    # Closed cells cover both of their ends, and are measured from them.
    assert distance[3].tolist() == [0, 0, 0, 1 / 40, 30 / 40]
    assert distance[4].tolist() == [0, 0, 1 / 40, 2 / 40, 31 / 40]
    assert (distance[0, 1:] >= distance[0, :-1]).all()


def test_gaps_inside_half_open_cells_are_outside_them():
    candidates = pd.DataFrame({"age": [20.0, 25.0, 27.0, 28.0, 60.0]})
    columns = shared_columns(*small_release({"age": ["{[20,25)|[28,30)}"]}, candidates.assign(job="a")))
    assert (gower_distance(columns)[0] > 0).tolist() == [False, True, True, False, True]


@pytest.mark.parametrize("released", [["a"] * 60, [None] * 60], ids=["filled", "added"])
def test_gaps_that_a_release_added_or_filled_only_break_ties(released):
    candidates = pd.DataFrame({"job": [*["a"] * 20, *["b"] * 20, *[None] * 20], "age": 30.0})
    columns = shared_columns(*small_release({"job": released}, candidates))
    assert set(gower_distance(columns)[:, 40:].ravel()) <= {0, 1e-6}
    far = 1 if released[0] else 1e-6
    assert gower_distance(columns)[0, [20, 40]] == pytest.approx([far, 1e-6 if released[0] else 0], abs=1e-9)


def test_a_few_more_gaps_are_chance():
    candidates = pd.DataFrame({"job": ["a"] * 9 + [None], "age": 30.0})
    columns = shared_columns(*small_release({"job": ["a"] * 8 + [None] * 2}, candidates))
    assert gower_distance(columns)[9, 0] == 1
