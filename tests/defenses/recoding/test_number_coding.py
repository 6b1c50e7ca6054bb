"""Top and bottom coding."""

from __future__ import annotations

import numpy as np
import pytest
from defense_tools import apply, table
from hypothesis import given, settings
from hypothesis import strategies as st

from defenses import Channel, Rounding
from defenses.recoding.number_coding import TopBottomCoding
from metrics import CategoricalDomain


def test_rounding_by_hand():
    records = table(age=[14, 15, 25, 26, 0], height=[1.234, 1.25, 1.0, np.nan, 1.36], job=list("abcde"))
    release = apply(Rounding(base={"age": 10, "height": 0.1}), records)
    assert release.frame["age"].tolist() == [10, 20, 20, 30, 0]
    assert release.frame["age"].dtype == np.int64
    np.testing.assert_array_equal(release.frame["height"], [1.2, 1.2, 1.0, np.nan, 1.4])
    assert release.frame["job"].tolist() == list("abcde")
    assert apply(Rounding(), records).frame["age"].tolist() == [10, 20, 20, 30, 0]
    assert apply(Rounding(base=4, columns=["age"]), records).frame["height"].equals(records.frame["height"])
    likelihood = release.channel.likelihoods(release.frame, records.frame, {"job": CategoricalDomain(tuple("abcde"))})
    expected = np.equal.outer(release.frame["age"].to_numpy(), [10, 20, 20, 30, 0])
    np.testing.assert_array_equal(likelihood["age",].table() == 0, expected)
    assert Channel.from_toml(release.channel.to_toml()) == release.channel


@pytest.mark.thorough
@given(st.floats(1e-3, 1e4), st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20))
def test_rounded_numbers_are_multiples_within_half_a_base(base, numbers):
    released = apply(Rounding(base=base), table(x=np.array(numbers))).frame["x"].to_numpy()
    assert (np.abs(released - numbers) <= base / 2 * (1 + 1e-6) + 1e-9).all()
    np.testing.assert_allclose(released / base, np.rint(released / base), rtol=1e-6, atol=1e-6)


def test_rounding_refuses():
    for base in (0, -1, np.nan, np.inf, "10", True):
        with pytest.raises(ValueError, match="base"):
            Rounding(base=base)
        with pytest.raises(ValueError, match=r"base\['age'\]"):
            Rounding(base={"age": base})
    with pytest.raises(ValueError, match="columns goes with a single base; a mapping of bases names its own columns"):
        Rounding(base={"age": 1}, columns=["age"])
    with pytest.raises(ValueError, match="no released column 'z'"):
        apply(Rounding(columns=["z"]), table(a=[1]))
    with pytest.raises(ValueError, match="column 'job', row 0"):
        apply(Rounding(columns=["job"]), table(job=["x"]))


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
