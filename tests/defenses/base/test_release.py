"""Releases: what an attack sees of each kind, and origins that stay secret."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from defenses import MicrodataRelease, ModelRelease, Release, ReportsRelease, StatisticsRelease
from defenses.base.channel import Channel
from scenarios.tables.seeds import generator

FRAME = pd.DataFrame({"age": ["[30,39]", "52", "41"]})


def test_a_view_of_a_table_is_a_copy_without_origins():
    release = MicrodataRelease(FRAME, [2, 0, -1], Channel(), FRAME.assign(age="40"))
    view = release.view(generator(1))
    assert view.origin.tolist() == [-1, -1, -1]
    assert view.channel == Channel()
    assert view.analysis is None
    view.frame.loc[0, "age"] = "changed"
    assert release.frame["age"].tolist() == ["[30,39]", "52", "41"]
    assert release.without_channel().channel is None
    # Results are shared by views of one release, but not by its pickles.
    release.shared.entries.append("result")
    assert view.shared is release.without_channel().shared is release.shared
    assert pickle.loads(pickle.dumps(release)).shared.entries == []


def test_analysts_work_on_the_rebuilt_table_where_there_is_one():
    rebuilt = FRAME.assign(age="40")
    assert MicrodataRelease(FRAME, [0, 1, 2], None, rebuilt).analyst_table is rebuilt
    plain = MicrodataRelease(FRAME, [0, 1, 2])
    assert plain.analyst_table is FRAME
    assert plain.remark == ""


def test_rows_keep_their_origins_in_any_order():
    release = MicrodataRelease(FRAME.set_index(pd.Index([7, 8, 9])), [2, 0, -1])
    taken = release.take([2, 0])
    assert (taken.frame["age"].tolist(), taken.origin.tolist()) == (["41", "[30,39]"], [-1, 2])
    assert taken.frame.index.tolist() == [0, 1]
    shuffled = release.shuffled(generator(3))
    pairs = sorted(zip(shuffled.frame["age"], shuffled.origin.tolist(), strict=True))
    assert pairs == [("41", -1), ("52", 0), ("[30,39]", 2)]
    assert len(release.take(np.array([], dtype=int)).frame) == 0
    orders = {tuple(release.shuffled(generator(seed)).origin.tolist()) for seed in range(60)}
    assert len(orders) == 6


@pytest.mark.parametrize("origin", [[], [0, 1], [[0, 1, 2]], 0])
def test_origins_of_another_number_are_refused(origin):
    with pytest.raises(ValueError, match="origin must hold 3 positions, one a row"):
        MicrodataRelease(FRAME, origin)


def test_each_view_of_a_curator_is_a_session_of_its_own():
    release = StatisticsRelease(lambda rng: [rng.integers(10**9)])
    first, second = release.view(generator(1)), release.open(generator(1))
    assert first == second
    assert first is not second
    assert release.without_channel() is release


def test_reports_and_models_are_public_as_they_are():
    for release in (ReportsRelease(([1, 0],), "flip"), ModelRelease("model")):
        assert release.view(generator(1)) is release
    assert [kind.kind for kind in (MicrodataRelease, StatisticsRelease, ReportsRelease, ModelRelease)] == [
        "microdata",
        "statistics",
        "reports",
        "model",
    ]
    with pytest.raises(TypeError, match="abstract"):
        Release()


def test_a_release_does_not_print_its_origins():
    text = repr(replace(MicrodataRelease(FRAME, [0, 1, 2]), origin=np.array([2, 1, 0])))
    assert "origin" not in text
    assert "52" not in text
