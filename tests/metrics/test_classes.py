"""Equivalence classes and k-anonymity."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from metrics import equivalence_classes, k_anonymity
from metrics.classes import example_of_each, ranks_in_groups


def test_classes_tell_missing_values_and_types_of_cells_apart() -> None:
    frame = pd.DataFrame({"a": [1.0, np.nan, np.nan, 1.0], "b": [None, "*", "*", "x"]})
    assert equivalence_classes(frame, ["a", "b"]).tolist() == [0, 1, 1, 2]
    assert equivalence_classes(frame, []).tolist() == [0] * 4
    assert k_anonymity(frame, ["a"]) == 2


def test_rows_are_ranked_in_their_groups_and_stand_for_them() -> None:
    groups = np.array([2, 0, 2, 1, 0, 2])
    assert ranks_in_groups(groups).tolist() == [0, 0, 1, 0, 1, 2]
    assert example_of_each(groups, 3).tolist() == [4, 3, 5]
    assert ranks_in_groups(groups[:0]).tolist() == example_of_each(groups[:0], 0).tolist() == []


@pytest.mark.parametrize("classes", [[0, 0], [0, 0, 2, 2], [0.0, 0.0, 1.0, 1.0], [-1, 0, 0, 0]])
def test_classes_that_are_none_are_refused(classes):
    frame = pd.DataFrame({"q": list("aabb")})
    with pytest.raises(ValueError, match="classes must hold"):
        k_anonymity(frame, ["q"], classes=np.array(classes))


def test_hand_made_k_anonymity() -> None:
    frame = pd.DataFrame({"q": ["a"] * 4 + ["b"] * 4 + ["c"] * 5})
    assert equivalence_classes(frame, ["q"]).tolist() == [0] * 4 + [1] * 4 + [2] * 5
    assert k_anonymity(frame, ["q"]) == 4


def test_k_anonymity_refuses() -> None:
    frame = pd.DataFrame({"q": [1], "s": [2]})
    with pytest.raises(ValueError, match="no column 'z'"):
        k_anonymity(frame, ["z"])
    with pytest.raises(ValueError, match="sequence of names"):
        k_anonymity(frame, "q")
    with pytest.raises(ValueError, match="no rows"):
        k_anonymity(frame.iloc[:0], ["q"])
    frame = pd.DataFrame([[1, 2, 3]], columns=["q", "q", "s"])
    with pytest.raises(ValueError, match="'q' appears twice"):
        k_anonymity(frame, ["q"])


def test_frequencies_are_those_of_sdcmicro() -> None:
    # Keys 1 to 4 of its data francdat, as its manual prints them: fk, and records that violate 2- and 3-anonymity.
    keys = pd.DataFrame(
        [(1, 2, 5, 1), (1, 2, 1, 1), (1, 2, 1, 1), (3, 3, 1, 5), (4, 3, 1, 4), (4, 3, 1, 1), (6, 2, 1, 5), (1, 2, 5, 1)]
    )
    classes = equivalence_classes(keys, list(keys))
    sizes = np.bincount(classes)[classes]
    assert sizes.tolist() == [2, 2, 2, 1, 1, 1, 1, 2]
    assert ((sizes < 2).sum(), (sizes < 3).sum()) == (4, 8)
