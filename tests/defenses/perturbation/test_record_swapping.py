"""Record swapping."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from defense_tools import apply, table

from defenses import (
    RecordSwapping,
)
from scenarios.running.methods.invented_people import people
from scenarios.tables.seeds import generator


def test_swapped_records_agree_on_what_is_similar():
    records = table(town=list("uvuvuv"), age=[1, 1, 2, 2, 3, 3], job=list("xxyyzz"))
    release = apply(RecordSwapping(columns=["town"], rate=1.0), records)
    assert release.frame["town"].tolist() == list("vuvuvu")
    pd.testing.assert_frame_equal(release.frame[["age", "job"]], records.frame[["age", "job"]])
    assert release.channel is None
    assert release.origin.tolist() == list(range(6))


def test_similarity_gives_way_from_the_last_column_on():
    records = table(town=list("uvwt"), age=list("1122"), job=list("xyxy"))
    for similar, expected in ((["age"], "vutw"), (["job"], "wtuv"), (["age", "job"], "vutw"), (["job", "age"], "wtuv")):
        swapped = apply(RecordSwapping(columns=["town"], similar=similar, rate=1.0), records).frame
        assert "".join(swapped["town"]) == expected
    # Two of one town cannot trade; they wait for whoever is left, however different.
    waiting = table(town=list("uuvv"), age=list("1122"))
    assert apply(RecordSwapping(columns=["town"], rate=1.0), waiting).frame["town"].tolist() == list("vvuu")
    alone = table(town=list("uuu"), age=[1, 2, 3])
    assert apply(RecordSwapping(columns=["town"], rate=1.0), alone).frame["town"].tolist() == list("uuu")


def test_swapping_keeps_joint_counts_and_the_rate():
    records = people(500, generator(0, "people"), missing=True)
    defense = RecordSwapping(columns=["city", "grade"], similar=["age"], rate=0.2)
    release = apply(defense, records)
    before = apply(RecordSwapping(columns=["city"], rate=1e-9), records).frame
    pairs = ["city", "grade"]
    counted = [frame[pairs].fillna("?").value_counts().sort_index() for frame in (before, release.frame)]
    pd.testing.assert_series_equal(*counted)
    changed = (release.frame[pairs].fillna("?") != before[pairs].fillna("?")).any(axis=1)
    # Of the hundred drawn almost all find somebody in another of the 24 groups.
    assert 90 <= changed.sum() <= 100
    untouched = ["age", "income", "illness"]
    pd.testing.assert_frame_equal(release.frame[untouched], before[untouched])
    bins = records.domain("age").codes(records.frame["age"])
    assert len(np.unique(bins[changed])) > 1


def test_swapping_refuses():
    for rate in (0, -1, 1.1, np.nan):
        with pytest.raises(ValueError, match="rate"):
            RecordSwapping(columns=["a"], rate=rate)
    with pytest.raises(ValueError, match="at least one column"):
        RecordSwapping(columns=[])
    with pytest.raises(ValueError, match="similar: column 'a'"):
        RecordSwapping(columns=["a"], similar=["a"])
    with pytest.raises(ValueError, match="no released column 'z'"):
        apply(RecordSwapping(columns=["z"]), table(a=[1]))
