"""PRAM defenses of every form: releases, channels, missing values, small tables."""

import pickle

import numpy as np
import pandas as pd
import pytest
from pram_tools import AGE, JOB, _plain, every_form, people

from defenses import (
    Channel,
    Microdata,
    OptimalRetention,
    OptimalRetentionFromNoisyHistogram,
)
from defenses.pram import transition_matrix
from metrics.columns.domains import CategoricalDomain, NumericDomain


@pytest.mark.thorough
@pytest.mark.parametrize("jointly", [False, True])
def test_release_has_the_records_rows_and_a_channel_that_is_its_matrix(jointly):
    records = people()
    before = records.frame.copy()
    for defense in every_form(jointly=jointly):
        release = defense.apply(records, np.random.default_rng(1))
        pd.testing.assert_frame_equal(records.frame, before)
        assert list(release.frame.columns) == ["age", "job", "y"]
        assert (release.origin == np.arange(len(records))).all()
        assert set(release.frame["age"]) <= set(AGE.cells())
        assert set(release.frame["job"]) <= {"admin.", "blue\\|collar", "services", "student"}
        again = defense.apply(records, np.random.default_rng(1))
        pd.testing.assert_frame_equal(again.frame, release.frame)
        assert Channel.from_toml(release.channel.to_toml()) == release.channel
        assert len(release.channel.parts) == (1 if jointly else 2)
        likelihoods = release.channel.likelihoods(release.frame, records.frame, dict(records.domains))
        for part in release.channel.parts:
            table = np.exp(likelihoods[part.columns].table())
            codes = [JOB.codes(records.frame[n]) if n == "job" else AGE.codes(records.frame[n]) for n in part.names]
            cells = np.ravel_multi_index(codes, part.sizes)
            released = [part.domains[i].codes(_plain(release.frame[n])) for i, n in enumerate(part.names)]
            matrix = transition_matrix(part.retention)
            np.testing.assert_allclose(table, matrix[np.ix_(np.ravel_multi_index(released, part.sizes), cells)])
        assert pickle.loads(pickle.dumps(defense)) == defense == defense.clone()


def test_nothing_is_promised_where_categories_are_read_from_the_records():
    for defense in every_form():
        if not isinstance(defense, OptimalRetention):
            bare = people()
            assert (
                "read from the records; declare it" in defense.guarantee(Microdata(bare.frame, (), ("job",))).statement
            )
    private = OptimalRetentionFromNoisyHistogram(epsilon_matrix=1.0, epsilon_release=1.0)
    assert "missing" in private.guarantee(people(missing=True)).statement
    assert private.guarantee(people(missing=True)).epsilon is None


def test_missing_values_are_a_category():
    records = people(missing=True)
    release = OptimalRetention(epsilon=1.0).apply(records, np.random.default_rng(5))
    part = next(part for part in release.channel.parts if part.columns == ("job",))
    assert part.sizes == (5,)
    assert release.frame["job"].isna().any()
    table = release.channel.likelihoods(release.frame, records.frame, dict(records.domains))["job",].table()
    assert np.isfinite(table).all()
    without = people()
    known = OptimalRetention(epsilon=1.0, columns=["job"]).apply(without, np.random.default_rng(5))
    table = known.channel.likelihoods(known.frame, records.frame, dict(records.domains))["job",].table()
    assert np.isneginf(table[:, :5]).all()
    assert np.isfinite(table[:, 5:]).all()


def test_too_many_joint_cells_are_refused():
    wide = NumericDomain(0, 10_000, True, tuple(range(1, 10_000)))
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    records = Microdata(frame, (), ("a", "b"), (), {"a": wide, "b": wide})
    with pytest.raises(ValueError, match="a, b have 1e\\+08 cells"):
        OptimalRetention(epsilon=1.0, jointly=True).apply(records, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: OptimalRetention(epsilon=1, jointly="yes"), "jointly"),
        (lambda: OptimalRetention(epsilon=1, columns=["nobody"]).apply(people(), np.random.default_rng(0)), "nobody"),
    ],
)
def test_bad_columns_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_empty_constant_and_one_row_tables():
    for defense in every_form():
        if defense.get_params().get("k") is None:
            empty = defense.apply(people().take([]), np.random.default_rng(6))
            assert len(empty.frame) == 0
            one = defense.apply(people().take([3]), np.random.default_rng(6))
            assert len(one.frame) == 1
    constant = Microdata(pd.DataFrame({"a": ["x"] * 5}), (), ("a",), (), {"a": CategoricalDomain(("x",))})
    released = OptimalRetention(epsilon=1.0).apply(constant, np.random.default_rng(7))
    assert released.frame["a"].tolist() == ["x"] * 5
