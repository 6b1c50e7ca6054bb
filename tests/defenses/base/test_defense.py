"""The contract of defenses on microdata, on many tables."""

import pickle

import numpy as np
import pandas as pd
import pytest
from defense_tools import apply, people, table
from scipy import stats

from defenses import StratifiedSampling
from defenses.base import RecordsInMemory
from defenses.base.defense import released_frame
from defenses.base.pipeline import Pipeline
from defenses.perturbation.additive_noise import AdditiveNoise
from defenses.perturbation.reference_releases import Constant, Identity
from defenses.perturbation.sampling import Sampling
from defenses.perturbation.swapping import RankSwapping, Shuffle
from defenses.pram.retention_defenses import RetentionReplacement
from defenses.recoding.global_recoding import GlobalRecoding
from defenses.recoding.number_coding import TopBottomCoding
from metrics.columns.cells import read_cells

DEFENSES = [
    Identity(),
    GlobalRecoding(levels=1),
    TopBottomCoding(share=0.1),
    TopBottomCoding(thresholds={"age": (25, 60)}),
    AdditiveNoise(scale=0.3),
    AdditiveNoise(scale=0.3, distribution="laplace", columns=["age"]),
    RankSwapping(window=0.1),
    Sampling(rate=0.5),
    RetentionReplacement(retention=0.6),
    RetentionReplacement(epsilon=1.0),
    RetentionReplacement(k=1),
    Constant(),
    Shuffle(),
]
ROWWISE = [defense for defense in DEFENSES if not isinstance(defense, Sampling | Shuffle)]
TABLES = {
    "plain": people(),
    "one row": people(1),
    "empty": people(0),
    "constant": people(12, age=40, job="tech", smokes=True, disease="flu"),
    "missing": people(
        20,
        age=[np.nan, *range(20, 38), np.nan],
        job=[None, *["tech", "*"] * 9, None],
        smokes=[None, *[True, False] * 9, None],
    ),
    "all missing": people(9, age=np.nan, job=None, note=None),
}


@pytest.mark.thorough_beyond(4)
@pytest.mark.parametrize("records", TABLES.values(), ids=TABLES.keys())
@pytest.mark.parametrize("defense", DEFENSES, ids=repr)
def test_release_of_any_table(defense, records):
    before = records.frame.copy(deep=True)
    release = apply(defense, records)
    pd.testing.assert_frame_equal(records.frame, before)
    pd.testing.assert_frame_equal(release.frame, apply(defense, records).frame)
    assert list(release.frame.columns) == ["age", "job", "note", "smokes", "disease"]
    assert list(release.frame.index) == list(range(len(release.frame)))
    defense.guarantee(records)
    if not len(records):
        assert release.frame.empty
        return
    if defense in ROWWISE:
        assert release.origin.tolist() == list(range(len(records)))
        if not isinstance(defense, Constant):
            unchanged = [name for name in ("note", "disease") if records.frame[name].notna().any()]
            pd.testing.assert_frame_equal(release.frame[unchanged], released_frame(records)[unchanged])
    for name in release.frame.columns:
        if records.frame[name].notna().any():
            read_cells(release.frame[name], records.domain(name))
            missing = release.frame[name].isna().sum()
            if not isinstance(defense, RetentionReplacement | Sampling | Constant):
                assert missing == records.frame[name].isna().sum()
    domains = {name: records.domain(name) for name in release.frame if records.frame[name].notna().any()}
    shared = records.frame[list(domains)]
    own = release.origin >= 0
    for likelihood in release.channel.likelihoods(release.frame, shared, domains).values():
        assert (likelihood.at(np.flatnonzero(own), release.origin[own]) > -np.inf).all()


@pytest.mark.parametrize("defense", DEFENSES, ids=repr)
def test_parameters_come_back(defense):
    assert defense.clone() == defense
    assert pickle.loads(pickle.dumps(defense)) == defense
    assert type(defense)(**defense.get_params()).get_params() == defense.get_params()


@pytest.mark.parametrize("defense", DEFENSES, ids=repr)
def test_release_pickles(defense):
    release = apply(defense, TABLES["missing"])
    domains = {name: TABLES["missing"].domain(name) for name in release.frame}
    release.channel.likelihoods(release.frame, TABLES["missing"].frame, domains)
    assert pickle.loads(pickle.dumps(release.channel)) == release.channel


@pytest.mark.parametrize(
    ("method", "parameters", "named"),
    [
        (GlobalRecoding, {"levels": -1}, "levels"),
        (GlobalRecoding, {"levels": {"age": 1.5}}, r"levels\['age'\]"),
        (TopBottomCoding, {}, "share or thresholds"),
        (TopBottomCoding, {"share": 0.1, "thresholds": {}}, "share or thresholds"),
        (TopBottomCoding, {"share": 0.5}, "share"),
        (TopBottomCoding, {"thresholds": {"age": (5, 2)}}, r"thresholds\['age'\]"),
        (TopBottomCoding, {"thresholds": {"age": (np.nan, 2)}}, r"thresholds\['age'\]"),
        (TopBottomCoding, {"thresholds": {"age": 2}}, r"thresholds\['age'\]"),
        (TopBottomCoding, {"thresholds": {"age": ("1", "2")}}, r"thresholds\['age'\]"),
        (TopBottomCoding, {"thresholds": {"age": (1, 2)}, "columns": ["age"]}, "columns"),
        (AdditiveNoise, {"scale": -1}, "scale"),
        (AdditiveNoise, {"scale": np.inf}, "scale"),
        (AdditiveNoise, {"scale": {"age": -1}}, r"scale\['age'\]"),
        (AdditiveNoise, {"scale": {"age": 1}, "columns": ["age"]}, "columns"),
        (AdditiveNoise, {"distribution": "uniform"}, "distribution"),
        (AdditiveNoise, {"columns": "age"}, "columns"),
        (RankSwapping, {"window": 0}, "window"),
        (RankSwapping, {"columns": ["age", "age"]}, "columns"),
        (Sampling, {"rate": 0}, "rate"),
        (Sampling, {"rate": 1.1}, "rate"),
        (RetentionReplacement, {}, "exactly one"),
        (RetentionReplacement, {"k": 2, "epsilon": 1}, "exactly one"),
        (RetentionReplacement, {"retention": 1.2}, "retention"),
        (RetentionReplacement, {"epsilon": 0}, "epsilon"),
        (RetentionReplacement, {"epsilon": np.nan}, "epsilon"),
        (RetentionReplacement, {"k": 0.5}, "k"),
    ],
)
def test_bad_parameters_are_refused(method, parameters, named):
    with pytest.raises(ValueError, match=named):
        method(**parameters)


@pytest.mark.parametrize(
    "defense",
    [
        TopBottomCoding(share=0.1, columns=["salary"]),
        TopBottomCoding(thresholds={"salary": (0, 1)}),
        AdditiveNoise(scale={"salary": 1}),
        RankSwapping(columns=["salary"]),
        RetentionReplacement(retention=0.5, columns=["salary"]),
        GlobalRecoding(levels={"salary": 1}),
    ],
    ids=repr,
)
def test_unknown_columns_are_named(defense):
    with pytest.raises(ValueError, match="there is no released column 'salary'"):
        apply(defense, people())


@pytest.mark.parametrize(
    "defense",
    [TopBottomCoding(share=0.1), AdditiveNoise(), RankSwapping(columns=["age"]), RetentionReplacement(retention=0.5)],
    ids=repr,
)
def test_numbers_that_an_earlier_step_generalized_are_refused(defense):
    steps = Pipeline(steps=[GlobalRecoding(levels={"age": 1}), defense])
    with pytest.raises(
        ValueError, match=r"column 'age', row 0: .* is no plain number; a step that reads numbers must come before"
    ):
        apply(steps, people())


@pytest.mark.parametrize(
    "defense", [TopBottomCoding(share=0.1, columns=["job"]), AdditiveNoise(columns=["job"])], ids=repr
)
def test_categories_are_no_numbers(defense):
    with pytest.raises(ValueError, match="column 'job', row 0"):
        apply(defense, people())


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr("defenses.base.blocks.BLOCK", 3)


def test_every_set_of_rows_is_equally_likely(small_blocks):
    # The statistic exceeds its bound with probability 1e-6.
    records, rng = table(x=np.arange(5)), np.random.default_rng(0)
    counts = np.zeros(32)
    for _ in range(600):
        counts[(1 << Sampling(rate=0.4).apply(records, rng).origin).sum()] += 1
    pairs = counts[counts > 0]
    assert pairs.size == 10
    assert stats.chisquare(pairs).pvalue > 1e-6


def test_strata_are_sampled_apart(small_blocks):
    # The statistic exceeds its bound with probability 1e-6.
    records, rng = table(town=list("accaccca")), np.random.default_rng(1)
    towns = records.frame["town"].to_numpy()
    taken = np.zeros(8)
    for _ in range(600):
        origin = StratifiedSampling(by="town", rate=1 / 3).apply(records, rng).origin
        taken[origin] += 1
        counted = [int((towns[origin] == town).sum()) for town in "ac"]
        assert counted in ([1, 1], [1, 2])
    expected = np.where(towns == "a", taken[towns == "a"].mean(), taken[towns == "c"].mean())
    assert abs(taken - expected).max() < 5 * np.sqrt(600 / 3 * 2 / 3)


def test_permutations_of_a_column_are_equally_likely(small_blocks):
    # The statistic exceeds its bound with probability 1e-6.
    records, rng = table(x=list("aabab")), np.random.default_rng(2)
    counts = np.zeros(10)
    for _ in range(600):
        released = Shuffle().apply(records, rng).frame["x"]
        assert sorted(released) == list("aaabb")
        first, second = np.flatnonzero(released == "b")
        counts[[0, 4, 7, 9][first] + second - first - 1] += 1
    assert stats.chisquare(counts).pvalue > 1e-6


def test_a_deviation_is_that_of_all_numbers(small_blocks):
    numbers = np.array([1e9 + 1, 3.0, np.nan, -2.5, np.nan, np.nan, np.nan, 1e9, 7.0, 7.0])
    assert np.isclose(RecordsInMemory(table(x=numbers)).deviation("x"), np.nanstd(numbers), rtol=1e-14)
    assert RecordsInMemory(table(x=[0.1] * 10)).deviation("x") == 0


def test_blocks_draw_apart(small_blocks):
    records = table(x=[0.0, 100.0, 50.0] * 2)
    released = AdditiveNoise(columns=["x"]).apply(records, np.random.default_rng(3)).frame["x"].to_numpy()
    assert not np.isin(released[3:] - records.frame["x"][3:], released[:3] - records.frame["x"][:3]).any()
