"""Top and bottom coding."""

import numpy as np
import pytest
from defense_tools import apply, table
from hypothesis import given, settings
from hypothesis import strategies as st

from defenses.recoding.top_bottom_coding import TopBottomCoding


def test_top_bottom_coding_by_share():
    records = table(x=list(range(101)), y=[0.5] * 101)
    release = apply(TopBottomCoding(share=0.05), records)
    assert release.frame["x"].tolist() == [5] * 5 + list(range(5, 96)) + [95] * 5
    assert release.frame["x"].dtype == np.int64
    assert (release.frame["y"] == 0.5).all()
    assert [(part.low, part.high) for part in release.channel.parts] == [(5, 95), (0.5, 0.5)]


@pytest.mark.thorough
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=30), st.floats(0, 0.49))
@settings(max_examples=60, deadline=None)
def test_top_bottom_coding_changes_no_more_than_its_share(numbers, share):
    records = table(x=numbers)
    coded = apply(TopBottomCoding(share=share), records).frame["x"].to_numpy()
    assert (coded > numbers).mean() <= share
    assert (coded < numbers).mean() <= share
    assert len(set(coded)) >= 1


def test_top_bottom_coding_by_thresholds():
    records = table(x=[1.0, np.nan, 50.0, 99.0], y=[1, 2, 3, 4])
    release = apply(TopBottomCoding(thresholds={"x": (-np.inf, 60.5)}), records)
    np.testing.assert_array_equal(release.frame["x"], [1.0, np.nan, 50.0, 60.5])
    assert release.frame["y"].tolist() == [1, 2, 3, 4]
